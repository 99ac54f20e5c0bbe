/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 puts into the array from which PE 0 puts. Mended: a barrier between. */
#include <shmem.h>
#include <stdio.h>

static long from[4], to[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[4] = {4, 3, 2, 1};
    if (me == 0) shmem_long_put(to, from, 4, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) shmem_long_put(from, values, 4, 0); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", to[0]);
    shmem_finalize();
    return 0;
}
