/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_attach: attached memory: memory that the program already has becomes accessible. */
#include <rma.h>
#include <stdio.h>
#include <stdlib.h>

static rma_gptr_t where[64]; /* where[pe]: the region of that PE */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    const size_t size = 1000 * sizeof(long);
    const long x = 100 + me;
    rma_gptr_t region;
    long *mine = malloc(size);

    /* MPI: MPI_Win_attach(win, mine, size), MPI_Get_address(mine, &region) */
    if (!mine || n > 64 || rma_attach(mine, size, &region) != RMA_SUCCESS) rma_abort(1);
    /* MPI: MPI_Allgather(&region, 1, MPI_AINT, where, 1, MPI_AINT, MPI_COMM_WORLD) */
    rma_fcollect(RMA_TEAM_WORLD, where, &region, sizeof region);
    /* MPI: MPI_Put(&x, 1, MPI_LONG, right, where[right] + 999 * sizeof x, 1, MPI_LONG, win) */
    rma_gptr_put(where[right] + 999 * sizeof x, &x, sizeof x);
    rma_barrier_all();

    const int wrong = mine[999] != 100 + left;
    if (wrong) printf("mpi_attach: PE %d was given %ld\n", me, mine[999]);
    /* MPI: MPI_Win_detach(win, mine) */
    rma_detach(mine);
    free(mine);
    rma_finalize();
    return wrong;
}
