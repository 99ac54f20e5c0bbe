/* SPDX-License-Identifier: BSD-3-Clause */
/* The same with an active set, whose work arrays take turns and are kept apart by nothing else. Mended by a sync. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long param[2], copy[2], sync[3][SHMEM_BCAST_SYNC_SIZE];
static long wait[SHMEM_SYNC_SIZE];

int main(void) {
    shmem_init();
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) sync[0][i] = sync[1][i] = sync[2][i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++) wait[i] = SHMEM_SYNC_VALUE;
    double sum = 0;
    shmem_barrier_all();
    for (int round = 0; round < 3; round++) {
        shmem_broadcast64(copy, param, 2, 0, 0, 0, shmem_n_pes(), sync[round]); /* RACE: second */
        if (shmem_my_pe() != 0) sum += (double)copy[1];                         /* RACE: first */
#ifndef RACY
        shmem_sync(0, 0, shmem_n_pes(), wait);
#endif
    }
    printf("%g\n", sum);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
