/* SPDX-License-Identifier: BSD-3-Clause */
/* A put of a column of PE 1's matrix, and PE 1 reads an element of it. Mended: it reads the neighbour, which lies in
 * the column's span, but not in the column. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static double matrix[8][8];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const ptrdiff_t there[2] = {-(ptrdiff_t)sizeof matrix[0], 0}, here[2] = {sizeof(double), 0};
    const size_t count[1] = {6};
    const double column[6] = {1, 2, 3, 4, 5, 6};
    if (me == 0) rma_put_section(&matrix[7][3], column, there, here, sizeof(double), 1, count, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        printf("%g\n", matrix[2][3]); /* RACE: second */
#else
        printf("%g %g %g\n", matrix[2][2], matrix[2][4], matrix[1][3]);
#endif
    }
    rma_finalize();
    return 0;
}
