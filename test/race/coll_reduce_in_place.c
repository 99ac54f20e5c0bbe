/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction in place, to whose array another PE puts before it without a barrier. Mended: a barrier between. */
#include <shmem.h>
#include <stdio.h>

static long values[2] = {1, 2};

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_long_p(&values[1], 5, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, values, values, 2); /* RACE: second */
    printf("%ld\n", values[0]);
    shmem_finalize();
    return 0;
}
