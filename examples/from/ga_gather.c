/* SPDX-License-Identifier: BSD-3-Clause */
/* ga_gather: single elements at many places: gather, scatter and scatter with accumulation. */
#include <rma.h>
#include <stdio.h>

static double a[100]; /* 100 elements of the array are on each PE */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n;
    const ptrdiff_t index[4] = {3, 97, 14, 50}; /* GA: int *subs[4], with the owner's first element added */
    const double x[4] = {1, 2, 3, 4}, alpha = 0.5;
    double y[4];
    int wrong = 0;

    /* GA: NGA_Scatter(g, x, subs, 4) */
    rma_put_indexed(a, x, index, sizeof x[0], 4, right);
    rma_barrier_all();
    /* GA: NGA_Scatter_acc(g, x, subs, 4, &alpha) */
    rma_accumulate_indexed(a, x, index, 4, RMA_DOUBLE, RMA_OP_SUM, &alpha, right);
    rma_barrier_all();
    /* GA: NGA_Gather(g, y, subs, 4) */
    rma_get_indexed(y, a, index, sizeof y[0], 4, right);

    for (int i = 0; i < 4; i++) wrong |= (int)(2 * y[i]) != 3 * (i + 1) || (int)(2 * a[index[i]]) != 3 * (i + 1);
    if (wrong) printf("ga_gather: PE %d gets %g\n", me, y[0]);
    rma_finalize();
    return wrong;
}
