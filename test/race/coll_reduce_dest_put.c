/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a reduction is put on, and the next reduction writes the same result before quiet. Mended by quiet. */
#include <shmem.h>
#include <stdio.h>

static double part = 1, total, archive[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (int round = 0; round < 2; round++) {
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &total, &part, 1); /* RACE: second */
        shmem_double_put_nbi(&archive[round], &total, 1, 1 - me);    /* RACE: first */
#ifdef RACY
        shmem_sync_all();
#else
        shmem_barrier_all();
#endif
    }
    shmem_barrier_all();
    printf("%g\n", archive[1]);
    shmem_finalize();
    return 0;
}
