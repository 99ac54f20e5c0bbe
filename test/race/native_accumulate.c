/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 reads a sum by a load while PE 0 adds to it. Mended: it reads by an atomic. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static double sums[4];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const double ones[4] = {1, 1, 1, 1}, half = 0.5;
    if (me == 0) rma_accumulate(sums, ones, 4, RMA_DOUBLE, RMA_OP_SUM, &half, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        printf("%g\n", sums[2]); /* RACE: second */
#else
        printf("%g\n", rma_atomic_fetch(&sums[2], 1));
#endif
    }
    rma_finalize();
    return 0;
}
