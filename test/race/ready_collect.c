/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE reads what was collected, and calls again. Mended by a sync. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int part = 1, all[3];

int main(void) {
    shmem_init();
    double sum = 0;
    shmem_barrier_all();
    for (int round = 0; round < 2; round++) {
        shmem_int_collect(SHMEM_TEAM_WORLD, all, &part, 1); /* RACE: second */
        sum += all[2];                                      /* RACE: first */
#ifndef RACY
        shmem_sync_all();
#endif
    }
    printf("%g\n", sum);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
