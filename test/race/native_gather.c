/* SPDX-License-Identifier: BSD-3-Clause */
/* A put of PE 0 to PE 1 and then a gather: PE 1 learns of what PE 0 did before only if it is the root. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long there, all[64];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long value = me;
    if (me == 0) {
        rma_put(&there, &value, sizeof value, 1); /* RACE: first */
        rma_quiet();
    }
#ifdef RACY
    rma_gather(RMA_TEAM_WORLD, all, &value, sizeof value, 0);
#else
    rma_gather(RMA_TEAM_WORLD, all, &value, sizeof value, 1);
#endif
    if (me == 1) printf("%ld\n", there); /* RACE: second */
    rma_barrier_all();
    rma_finalize();
    return 0;
}
