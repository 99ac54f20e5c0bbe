/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts into block 1 of PE 1's result of an alltoall. Mended: it puts into a block that the alltoall leaves
 * alone. */
#include <shmem.h>
#include <stdio.h>

static int from[4] = {1, 2, 3, 4}, to[6];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int pair[2] = {-1, -2};
#ifdef RACY
    if (me == 0) shmem_int_put(to + 2, pair, 2, 1); /* RACE: first */
#else
    if (me == 0) shmem_int_put(to + 4, pair, 2, 1);
#endif
    shmem_int_alltoall(SHMEM_TEAM_WORLD, to, from, 2); /* RACE: second */
    shmem_barrier_all();
    printf("%d\n", to[2]);
    shmem_finalize();
    return 0;
}
