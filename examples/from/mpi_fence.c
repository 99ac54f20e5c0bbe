/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_fence: epochs between fences: in each round every PE puts a value to both neighbours. */
#include <rma.h>
#include <stdio.h>

static long from_left, from_right; /* symmetric: one on each PE */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    int wrong = 0;

    for (long round = 1; round <= 10; round++) {
        const long x = 1000 * round + me;
        /* MPI: MPI_Put(&x, 1, MPI_LONG, right, 0, 1, MPI_LONG, win) */
        rma_put(&from_left, &x, sizeof x, right);
        rma_put(&from_right, &x, sizeof x, left);
        /* MPI: MPI_Win_fence(0, win) */
        rma_barrier_all();
        wrong |= from_left != 1000 * round + left || from_right != 1000 * round + right;
        /* MPI: MPI_Win_fence(MPI_MODE_NOPUT, win) */
        rma_sync_all();
    }
    if (wrong) printf("mpi_fence: PE %d was given %ld and %ld\n", me, from_left, from_right);
    rma_finalize();
    return wrong;
}
