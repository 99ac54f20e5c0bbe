/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_accumulate: accumulate and get-accumulate: all PEs add to arrays of PE 0 at once. */
#include <rma.h>
#include <stdio.h>

static double sums[4];
static long largest[4];

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    const double x[4] = {1, 2, 3, 4};
    const long y[4] = {me, -me, 10 + me, 0};
    long before[4];
    int wrong = 0;

    /* MPI: MPI_Accumulate(x, 4, MPI_DOUBLE, 0, 0, 4, MPI_DOUBLE, MPI_SUM, win) */
    rma_accumulate(sums, x, 4, RMA_DOUBLE, RMA_OP_SUM, NULL, 0);
    /* MPI: MPI_Get_accumulate(y, 4, MPI_LONG, before, 4, MPI_LONG, 0, 0, 4, MPI_LONG, MPI_MAX, win) */
    rma_get_accumulate(largest, y, before, 4, RMA_LONG, RMA_OP_MAX, NULL, 0);
    /* MPI: MPI_Win_flush(0, win) */
    rma_quiet();
    rma_barrier_all();

    for (int i = 0; i < 4 && me == 0; i++) wrong |= sums[i] < n * x[i] || sums[i] > n * x[i];
    if (me == 0) wrong |= largest[0] != n - 1 || largest[1] != 0 || largest[2] != 9 + n;
    wrong |= before[2] >= 10 + n;
    if (wrong) printf("mpi_accumulate: PE %d: sum %g, largest %ld\n", me, sums[0], largest[2]);
    rma_finalize();
    return wrong;
}
