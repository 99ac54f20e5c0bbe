/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 reads what PE 0 has put after a reduction to PE 0, which PE 1 does not wait in. Mended: the reduction is to
 * PE 1. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long there;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long value = me;
    long sum = 0;
    if (me == 0) {
        rma_put(&there, &value, sizeof value, 1); /* RACE: first */
        rma_quiet();
    }
#ifdef RACY
    rma_sum_reduce_root(RMA_TEAM_WORLD, &sum, &value, 1, 0);
#else
    rma_sum_reduce_root(RMA_TEAM_WORLD, &sum, &value, 1, 1);
#endif
    if (me == 1) printf("%ld\n", there + sum); /* RACE: second */
    rma_barrier_all();
    rma_finalize();
    return 0;
}
