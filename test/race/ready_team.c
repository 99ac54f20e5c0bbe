/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction over every second PE, whose result is read before the next one. Mended by a sync of the team. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static double part = 1, total;

int main(void) {
    shmem_init();
    shmem_team_t team;
    double sum = 0;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &team);
    for (int round = 0; round < 3 && team != SHMEM_TEAM_INVALID; round++) {
        shmem_double_max_reduce(team, &total, &part, 1); /* RACE: second */
        sum += total;                                    /* RACE: first */
#ifndef RACY
        shmem_team_sync(team);
#endif
    }
    printf("%g\n", sum);
    shmem_finalize();
    return 0;
}
