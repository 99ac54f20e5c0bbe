/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of a broadcast does not wait for the others: it calls the next one while they may still read the first one's
 * result. Mended by a sync. */
/* SAYS: PE 0 writes 8 bytes of PE */
/* SAYS: which PE 0 did not know of when it called */
/* SAYS: before any PE calls shmem_double_broadcast, dest must be ready on all */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static double param[4], copy[4];

int main(void) {
    shmem_init();
    double sum = 0;
    shmem_barrier_all();
    for (int round = 0; round < 3; round++) {
        shmem_double_broadcast(SHMEM_TEAM_WORLD, copy, param, 4, 0); /* RACE: second */
        sum += copy[round];                                          /* RACE: first */
#ifndef RACY
        shmem_sync_all();
#endif
    }
    printf("%g\n", sum);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
