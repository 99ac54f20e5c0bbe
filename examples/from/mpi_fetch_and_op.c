/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_fetch_and_op: fetch-and-op: a counter on PE 0 gives each number once. */
#include <rma.h>
#include <stdio.h>

static long next, latest;

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    long sum = 0, all = 0;

    for (int i = 0; i < 100; i++) {
        /* MPI: MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win), MPI_Win_flush(0, win) */
        long ticket = rma_atomic_fetch_add(&next, 1, 0);
        sum += ticket;
    }
    /* MPI: MPI_Fetch_and_op(&sum, &before, MPI_LONG, 0, 1, MPI_REPLACE, win), MPI_Win_flush(0, win) */
    long before = rma_atomic_swap(&latest, sum, 0);
    /* MPI: MPI_Fetch_and_op(NULL, &seen, MPI_LONG, 0, 0, MPI_NO_OP, win), MPI_Win_flush(0, win) */
    long seen = rma_atomic_fetch(&next, 0);
    rma_sum_reduce(RMA_TEAM_WORLD, &all, &sum, 1);

    const long count = 100 * n;
    const int wrong = all != count * (count - 1) / 2 || seen < 100 || seen > count || before == sum;
    if (wrong) printf("mpi_fetch_and_op: PE %d: the tickets sum to %ld, the counter was %ld\n", me, all, seen);
    rma_finalize();
    return wrong;
}
