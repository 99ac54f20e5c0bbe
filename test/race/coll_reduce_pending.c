/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction completes no put: PE 1 reads what PE 0 has put before it. Mended by a barrier in the reduction's
 * place. */
#include <shmem.h>
#include <stdio.h>

static long data, one = 1, n;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long value = 4;
    if (me == 0) shmem_long_put(&data, &value, 1, 1); /* RACE: first */
#ifdef RACY
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &n, &one, 1);
#else
    shmem_barrier_all();
#endif
    if (me == 1) printf("%ld %ld %ld\n", data, n, one); /* RACE: second */
    shmem_finalize();
    return 0;
}
