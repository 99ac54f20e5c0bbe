/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of fcollect is changed before the next call. Mended by a barrier. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int part[2] = {1, 2}, all[6];

int main(void) {
    shmem_init();
    double sum = 0;
    shmem_barrier_all();
    for (int round = 0; round < 2; round++) {
        shmem_int_fcollect(SHMEM_TEAM_WORLD, all, part, 2); /* RACE: second */
        all[3] += 5;                                        /* RACE: first */
#ifndef RACY
        shmem_barrier_all();
#endif
    }
    printf("%g\n", sum);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
