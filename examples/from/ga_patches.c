/* SPDX-License-Identifier: BSD-3-Clause */
/* ga_patches: patches of a distributed array: put, get and accumulate, across the borders of the PEs' parts. */
#include <rma.h>
#include <stdio.h>

enum { ROWS = 5, COLUMNS = 6 }; /* GA: int dims[2] = {n * ROWS, COLUMNS} */

/* The part of the patch of rows lo to hi that pe has: its first row there, and how many rows. */
static size_t rows_of(int pe, int lo, int hi, int *row) {
    *row = lo > pe * ROWS ? lo : pe * ROWS;
    const int end = hi < (pe + 1) * ROWS - 1 ? hi : (pe + 1) * ROWS - 1;
    return end < *row ? 0 : (size_t)(end - *row + 1);
}

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int n = rma_n_pes(), lo[2] = {2, 1}, hi[2] = {n * ROWS - 3, 3};
    const ptrdiff_t in_array[2] = {COLUMNS * sizeof(double), sizeof(double)};
    const ptrdiff_t in_patch[2] = {3 * sizeof(double), sizeof(double)};
    const double alpha = 2;
    int row, wrong = 0;

    /* GA: NGA_Create(C_DBL, 2, dims, "a", NULL), GA_Zero(g) */
    double(*a)[COLUMNS] = rma_calloc(ROWS, sizeof *a);
    double(*patch)[3] = rma_calloc((size_t)(n * ROWS), sizeof *patch); /* any memory would do */
    if (!a || !patch) rma_abort(1);
    for (int i = 0; i < n * ROWS; i++)
        for (int j = 0; j < 3; j++) patch[i][j] = i + j;

    for (int pe = 0; pe < n && rma_my_pe() == 0; pe++) {
        size_t count[2] = {rows_of(pe, lo[0], hi[0], &row), 3};
        if (count[0] == 0) continue;
        double *there = &a[row - pe * ROWS][lo[1]], *here = patch[row - lo[0]];
        /* GA: NGA_Put(g, lo, hi, patch, ld) */
        rma_put_section(there, here, in_array, in_patch, sizeof(double), 2, count, pe);
    }
    /* GA: GA_Sync() */
    rma_barrier_all();
    for (int pe = 0; pe < n; pe++) {
        size_t count[2] = {rows_of(pe, lo[0], hi[0], &row), 3};
        if (count[0] == 0) continue;
        double *there = &a[row - pe * ROWS][lo[1]], *here = patch[row - lo[0]];
        /* GA: NGA_Acc(g, lo, hi, patch, ld, &alpha) */
        rma_accumulate_section(there, here, in_array, in_patch, 2, count, RMA_DOUBLE, RMA_OP_SUM, &alpha, pe);
    }
    rma_barrier_all();
    for (int pe = 0; pe < n; pe++) {
        size_t count[2] = {rows_of(pe, lo[0], hi[0], &row), 3};
        if (count[0] == 0) continue;
        double *there = &a[row - pe * ROWS][lo[1]], *here = patch[row - lo[0]];
        /* GA: NGA_Get(g, lo, hi, patch, ld) */
        rma_get_section(here, there, in_patch, in_array, sizeof(double), 2, count, pe);
    }
    for (int i = 0; i <= hi[0] - lo[0]; i++)
        for (int j = 0; j < 3; j++) wrong |= (int)patch[i][j] != (i + j) * (1 + 2 * n);
    if (wrong) printf("ga_patches: PE %d gets %g\n", rma_my_pe(), patch[0][1]);
    rma_free(patch);
    /* GA: GA_Destroy(g) */
    rma_free(a);
    rma_finalize();
    return wrong;
}
