/* SPDX-License-Identifier: BSD-3-Clause */
/* A scan orders the PEs before behind: PE 0's stores come before what PE 1 does after it, and not the other way. PE
 * 0 gets from PE 1. Mended: PE 1 gets from PE 0. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int part = 1, upto, value;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
#ifdef RACY
    const int writer = 1;
#else
    const int writer = 0;
#endif
    if (me == writer) value = 3; /* RACE: first */
    rma_sum_inscan(RMA_TEAM_WORLD, &upto, &part, 1);
    if (me != writer) {
        int copy = 0;
        rma_get(&copy, &value, sizeof copy, writer); /* RACE: second */
        printf("%d %d\n", upto, copy);
    }
    rma_finalize();
    return 0;
}
