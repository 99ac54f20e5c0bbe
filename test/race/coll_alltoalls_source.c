/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 has left an alltoalls and puts to the source of PE 1, which may still be read for PE 2. Mended: a sync between.
 */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long from[6] = {1, 0, 2, 0, 3}, to[3];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, from, 1, 2, 1); /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 0) shmem_long_p(&from[4], 5, 1); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", to[1]);
    shmem_finalize();
    return 0;
}
