/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_halo: datatypes: the border columns of a grid, and a box of it, go to the next PE. */
#include <rma.h>
#include <stdio.h>

enum { ROWS = 8, COLUMNS = 10 };
static double u[ROWS][COLUMNS], box[ROWS][COLUMNS];

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    int wrong = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 1; j < COLUMNS - 1; j++) u[i][j] = 100 * me + 10 * i + j;

    /* MPI: MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column), MPI_Type_commit(&column) */
    /* MPI: MPI_Put(&u[0][COLUMNS - 2], 1, column, right, 0, 1, column, win) */
    rma_iput(&u[0][0], &u[0][COLUMNS - 2], COLUMNS, COLUMNS, sizeof u[0][0], ROWS, right);
    /* MPI: MPI_Type_create_subarray(2, sizes, count, start, MPI_ORDER_C, MPI_DOUBLE, &part) */
    const size_t count[2] = {3, 4};
    const ptrdiff_t stride[2] = {sizeof u[0], sizeof u[0][0]};
    /* MPI: MPI_Put(u, 1, part, right, 0, 1, part, win) */
    rma_put_section(&box[2][1], &u[2][1], stride, stride, sizeof u[0][0], 2, count, right);
    /* MPI: MPI_Win_fence(0, win) */
    rma_barrier_all();

    for (int i = 0; i < ROWS; i++) {
        const double want = 100 * left + 10 * i + COLUMNS - 2;
        wrong |= u[i][0] < want || u[i][0] > want;
        for (int j = 0; j < COLUMNS; j++) {
            const int inside = i >= 2 && i < 5 && j >= 1 && j < 5;
            const double of_box = inside ? 100 * left + 10 * i + j : 0;
            wrong |= box[i][j] < of_box || box[i][j] > of_box;
        }
    }
    if (wrong) printf("mpi_halo: PE %d was given %g and %g\n", me, u[ROWS - 1][0], box[2][1]);
    rma_finalize();
    return wrong;
}
