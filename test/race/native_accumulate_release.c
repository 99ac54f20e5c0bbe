/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts data, and counts PE 1's flag up by an accumulate, which is no release. Mended by a quiet between. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long data[16], flag;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long here[16] = {7}, one = 1;
    if (me == 0) {
        rma_put(data, here, sizeof here, 1); /* RACE: first */
#ifndef RACY
        rma_quiet();
#endif
        rma_accumulate(&flag, &one, 1, RMA_LONG, RMA_OP_SUM, NULL, 1);
        rma_quiet();
    } else {
        rma_wait_until(&flag, RMA_CMP_EQ, 1L);
        printf("%ld\n", data[0]); /* RACE: second */
    }
    rma_finalize();
    return 0;
}
