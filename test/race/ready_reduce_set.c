/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction over an active set, whose dest is set before it. Mended by a sync of the set. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int source[2] = {1, 2}, dest[2], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long sync[SHMEM_REDUCE_SYNC_SIZE], wait[SHMEM_SYNC_SIZE];

int main(void) {
    shmem_init();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++) wait[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (shmem_my_pe() != 1) {
        dest[1] = -1; /* RACE: first */
#ifndef RACY
        shmem_sync(0, 1, 2, wait);
#endif
        shmem_int_max_to_all(dest, source, 2, 0, 1, 2, work, sync); /* RACE: second */
    }
    printf("%d\n", dest[1]);
    shmem_finalize();
    return 0;
}
