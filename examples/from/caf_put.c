/* SPDX-License-Identifier: BSD-3-Clause */
/* caf_put: coarrays: elements, columns and rows of another image. */
#include <rma.h>
#include <stdio.h>

enum { ROWS = 4, COLUMNS = 3 }; /* in C rows are contiguous, in Fortran columns */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    /* Fortran: this_image(), num_images() */
    const int me = rma_my_pe(), n = rma_n_pes();
    const int right = (me + 1) % n, left = (me + n - 1) % n;
    const double row[COLUMNS] = {1, 2, 3}, column[ROWS] = {10, 20, 30, 40};
    double x = 0;

    /* Fortran: allocate (a(3, 4)[*]) */
    double(*a)[COLUMNS] = rma_calloc(ROWS, sizeof *a);
    if (!a) rma_abort(1);
    /* Fortran: a(:, 2)[right] = row */
    rma_put(a[1], row, sizeof row, right);
    /* Fortran: sync memory */
    rma_quiet();
    /* Fortran: a(3, :)[right] = column */
    rma_iput(&a[0][2], column, COLUMNS, 1, sizeof column[0], ROWS, right);
    /* Fortran: x = a(3, 4)[right] */
    rma_quiet();
    x = rma_g(&a[3][2], right);
    /* Fortran: a(1, 1)[right] = me */
    rma_p(&a[0][0], (double)me, right);
    /* Fortran: sync all */
    rma_barrier_all();

    const int wrong =
        (int)x != 40 || (int)a[0][0] != left || (int)a[1][1] != 2 || (int)a[1][2] != 20 || (int)a[2][2] != 30;
    if (wrong) printf("caf_put: PE %d was given %g, and reads %g\n", me, a[1][2], x);
    /* Fortran: deallocate (a) */
    rma_free(a);
    rma_finalize();
    return wrong;
}
