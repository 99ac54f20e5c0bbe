/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions round after round: each PE changes its source when the call has returned, and reads its own result. A
 * sync keeps the rounds apart. */
/* PES: 3 */
#include <shmem.h>

static long part[2], total[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long wrong = 0;
    const int n = shmem_n_pes();
    for (int round = 0; round < 5; round++) {
        part[0] = me + round;
        part[1] = 1;
        shmem_sync_all();
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, total, part, 2);
        part[0] = part[1] = -1;
        wrong += total[0] != n * (n - 1) / 2 + n * round || total[1] != n;
        shmem_sync_all();
    }
    shmem_finalize();
    return wrong != 0;
}
