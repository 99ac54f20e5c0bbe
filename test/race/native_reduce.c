/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction orders what each PE did before it before what each does after. PE 1 stores behind it what PE 0 gets.
 * Mended: PE 1 stores before it. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long part = 1, total, value;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
#ifndef RACY
    if (me == 1) value = 7;
#endif
    rma_sum_reduce(RMA_TEAM_WORLD, &total, &part, 1);
#ifdef RACY
    if (me == 1) value = 7; /* RACE: first */
#endif
    if (me == 0) {
        long copy = 0;
        rma_get(&copy, &value, sizeof copy, 1); /* RACE: second */
        printf("%ld %ld\n", total, copy);
    }
    rma_finalize();
    return 0;
}
