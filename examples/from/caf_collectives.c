/* SPDX-License-Identifier: BSD-3-Clause */
/* caf_collectives: collective subroutines. */
#include <rma.h>
#include <stdio.h>

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    double x = me + 1, largest = me, word = me == 0 ? 2.5 : 0, at_one = 1;
    int wrong = 0;

    /* Fortran: call co_sum(x) */
    rma_sum_reduce(RMA_TEAM_WORLD, &x, &x, 1);
    wrong |= (int)x != n * (n + 1) / 2;
    /* Fortran: call co_sum(at_one, result_image=1) */
    rma_sum_reduce_root(RMA_TEAM_WORLD, &at_one, &at_one, 1, 0);
    wrong |= me == 0 && (int)at_one != n;
    /* Fortran: call co_max(largest) */
    rma_max_reduce(RMA_TEAM_WORLD, &largest, &largest, 1);
    wrong |= (int)largest != n - 1;
    /* Fortran: call co_broadcast(word, 1) */
    rma_broadcast(RMA_TEAM_WORLD, &word, &word, sizeof word, 0);
    wrong |= (int)(2 * word) != 5;

    if (wrong) printf("caf_collectives: PE %d: sum %g, largest %g\n", me, x, largest);
    rma_finalize();
    return wrong;
}
