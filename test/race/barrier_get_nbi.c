/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 writes behind a sync what PE 0's nonblocking get still reads: the sync completes no get. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static long data[4] = {1, 2, 3, 4};

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy[4] = {0};
    if (me == 0) shmem_long_get_nbi(copy, data, 4, 1); /* RACE: first */
#ifdef RACY
    shmem_team_sync(SHMEM_TEAM_WORLD);
#else
    shmem_barrier_all();
#endif
    if (me == 1) data[0] = 9; /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", copy[0] + data[0]);
    shmem_finalize();
    return 0;
}
