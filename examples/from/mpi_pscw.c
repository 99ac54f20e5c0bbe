/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_pscw: post, start, complete and wait: a pipeline in which a PE waits for its neighbours alone. */
#include <rma.h>
#include <stdio.h>

static uint64_t may_put, filled; /* counters that the neighbours raise */
static long box;

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    int wrong = 0;

    for (uint64_t round = 1; round <= 10; round++) {
        const long x = 1000 * (long)round + me;
        /* MPI: MPI_Win_post(left_group, 0, win) */
        rma_signal_add(&may_put, 1, left);
        /* MPI: MPI_Win_start(right_group, 0, win) */
        rma_signal_wait_until(&may_put, RMA_CMP_GE, round);
        /* MPI: MPI_Put(&x, 1, MPI_LONG, right, 0, 1, MPI_LONG, win), MPI_Win_complete(win) */
        rma_put_signal(&box, &x, sizeof x, &filled, 1, RMA_SIGNAL_ADD, right);
        /* MPI: MPI_Win_wait(win) */
        rma_signal_wait_until(&filled, RMA_CMP_GE, round);
        wrong |= box != 1000 * (long)round + left;
    }
    if (wrong) printf("mpi_pscw: PE %d was given %ld\n", me, box);
    rma_finalize();
    return wrong;
}
