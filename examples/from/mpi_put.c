/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_put: put, get and flush: each PE writes into the window of the next one, and reads it back. */
#include <rma.h>
#include <stdio.h>

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    const long x = 100 + me;
    long y = 0, z = 0;

    /* MPI: MPI_Win_allocate(n * sizeof *a, sizeof *a, MPI_INFO_NULL, MPI_COMM_WORLD, &a, &win) */
    long *a = rma_calloc((size_t)n, sizeof *a);
    if (!a) rma_abort(1);
    /* MPI: MPI_Put(&x, 1, MPI_LONG, right, me, 1, MPI_LONG, win) */
    rma_put(&a[me], &x, sizeof x, right);
    /* MPI: MPI_Win_flush(right, win) */
    rma_quiet();
    /* MPI: MPI_Get(&y, 1, MPI_LONG, right, me, 1, MPI_LONG, win), MPI_Win_flush(right, win) */
    rma_get(&y, &a[me], sizeof y, right);
    /* MPI: MPI_Rget(&z, 1, MPI_LONG, right, me, 1, MPI_LONG, win, &request) */
    rma_get_nbi(&z, &a[me], sizeof z, right);
    /* MPI: MPI_Wait(&request, MPI_STATUS_IGNORE) */
    rma_quiet();
    rma_barrier_all();

    const int wrong = y != x || z != x || a[left] != 100 + left;
    if (wrong) printf("mpi_put: PE %d has read %ld and %ld, and was given %ld\n", me, y, z, a[left]);
    /* MPI: MPI_Win_free(&win) */
    rma_free(a);
    rma_finalize();
    return wrong;
}
