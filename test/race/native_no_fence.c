/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_p is a relaxed store, so without rma_fence the flag may come before the data. Mended by the fence. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static double data[4];
static int flag;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const double values[4] = {1, 2, 3, 4};
    if (me == 0) {
        rma_put(data, values, sizeof values, 1); /* RACE: first */
#ifndef RACY
        rma_fence();
#endif
        rma_p(&flag, 1, 1);
    } else {
        rma_wait_until(&flag, RMA_CMP_EQ, 1);
        printf("%g\n", data[3]); /* RACE: second */
    }
    rma_finalize();
    return 0;
}
