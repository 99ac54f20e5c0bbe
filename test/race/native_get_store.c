/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 gets what PE 1 stores. Mended by a barrier. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static double state[2];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    double copy[2] = {0, 0};
    if (me == 1) state[0] = 1.5; /* RACE: first */
#ifndef RACY
    rma_barrier_all();
#endif
    if (me == 0) {
        rma_get(copy, state, sizeof copy, 1); /* RACE: second */
        printf("%g\n", copy[0]);
    }
    rma_finalize();
    return 0;
}
