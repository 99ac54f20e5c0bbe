/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_lock: lock and unlock: two words of PE 0 that belong together are changed by one PE at a time. */
#include <rma.h>
#include <stdio.h>

static rma_lock_t lock; /* zero is free */
static long pair[2];

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    long mine[2];

    rma_sync_all(); /* all begin at once */
    for (int i = 0; i < 1000; i++) {
        /* MPI: MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win) */
        rma_set_lock(&lock);
        rma_get(mine, pair, sizeof mine, 0);
        mine[0] += 1;
        mine[1] -= 1;
        rma_put(pair, mine, sizeof mine, 0);
        /* MPI: MPI_Win_unlock(0, win) */
        rma_clear_lock(&lock);
    }
    rma_barrier_all();

    const int wrong = me == 0 && (pair[0] != 1000 * n || pair[1] != -1000 * n);
    if (wrong) printf("mpi_lock: %ld and %ld, not %d and %d\n", pair[0], pair[1], 1000 * n, -1000 * n);
    rma_finalize();
    return wrong;
}
