/* SPDX-License-Identifier: BSD-3-Clause */
/* The PEs before one give it something by a scan, when it may still read the last result. Mended by a sync. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static double part = 1, before;

int main(void) {
    shmem_init();
    double sum = 0;
    shmem_barrier_all();
    for (int round = 0; round < 3; round++) {
        shmem_double_sum_exscan(SHMEM_TEAM_WORLD, &before, &part, 1); /* RACE: second */
        sum += before;                                                /* RACE: first */
#ifndef RACY
        shmem_sync_all();
#endif
    }
    printf("%g\n", sum);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
