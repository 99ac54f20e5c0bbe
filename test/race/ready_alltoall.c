/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE clears the array for what the others give, and calls alltoall at once. Mended by a sync. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long to[6], from[6];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int i = 0; i < 6; i++) from[i] = me;
    for (int i = 0; i < 6; i++) to[i] = -1; /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, 2); /* RACE: second */
    printf("%ld\n", to[5]);
    shmem_finalize();
    return 0;
}
