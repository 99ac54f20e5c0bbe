/* SPDX-License-Identifier: BSD-3-Clause */
/* hello: every PE prints where it is, and PE 0 collects one number from each.
 *
 *     rmacc hello.c -o hello && mpiexec -n 4 ./hello */
#include <rma.h>
#include <stdio.h>

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    int me = rma_my_pe(), n = rma_n_pes();
    printf("hello from PE %d of %d, number %d of %d on node %d of %d\n", me, n, rma_node_my_pe(), rma_node_n_pes(),
           rma_my_node(), rma_n_nodes());

    long *squares = rma_calloc((size_t)n, sizeof *squares);
    if (!squares) rma_abort(1);
    rma_p(&squares[me], (long)me * me, 0);
    rma_barrier_all();

    if (me == 0) {
        long sum = 0;
        for (int pe = 0; pe < n; pe++) sum += squares[pe];
        printf("PE 0 was given squares that sum to %ld\n", sum);
    }
    rma_free(squares);
    rma_finalize();
    return 0;
}
