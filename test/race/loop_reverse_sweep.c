/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep forward and one backward: the backward one starts before the neighbour's forward one has ended. Mended by
 * a sync between the sweeps. */
#include <shmem.h>
#include <stdio.h>

static long cells[8];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy[8] = {0};
    for (int i = 0; i < 8; i++) cells[i] = i; /* RACE: first */
#ifndef RACY
    shmem_sync_all();
#endif
    for (int i = 7; i >= 0; i--) shmem_long_get(&copy[i], &cells[i], 1, 1 - me); /* RACE: second */
    printf("%ld\n", copy[0]);
    shmem_sync_all();
    shmem_finalize();
    return 0;
}
