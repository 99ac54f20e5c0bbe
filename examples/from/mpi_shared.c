/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_shared: shared windows: load and store in the memory of a PE of the same node. */
#include <rma.h>
#include <stdio.h>

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;

    /* MPI: MPI_Win_allocate_shared(sizeof *box, sizeof *box, MPI_INFO_NULL, node, &box, &win) */
    long *box = rma_calloc(1, sizeof *box);
    if (!box) rma_abort(1);
    /* MPI: MPI_Win_shared_query(win, right, &size, &unit, &there) */
    long *there = rma_ptr(box, right);
    if (there)
        *there = 100 + me;
    else
        rma_p(box, 100L + me, right); /* right is on another node */
    /* MPI: MPI_Win_sync(win), MPI_Barrier(node), MPI_Win_sync(win) */
    rma_barrier_all();

    const int wrong = *box != 100 + left;
    if (wrong) printf("mpi_shared: PE %d was given %ld\n", me, *box);
    rma_free(box);
    rma_finalize();
    return wrong;
}
