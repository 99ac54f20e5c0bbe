/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts to PE 2 and signals PE 1, which gets from PE 2: a signal releases all puts before it, whatever PE they
 * go to, but only those of its own context. Mended: put and signal are of one context. */
/* NATIVE */
/* PES: 3 */
#include <rma.h>
#include <stdint.h>
#include <stdio.h>

static long data;
static uint64_t arrived;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long value = 6;
    rma_ctx *ctx;
    if (rma_ctx_create(0, &ctx)) rma_abort(1);
    if (me == 0) {
        rma_ctx_put(ctx, &data, &value, sizeof value, 2); /* RACE: first */
#ifdef RACY
        rma_signal_set(&arrived, 1, 1);
#else
        rma_ctx_signal_set(ctx, &arrived, 1, 1);
#endif
    } else if (me == 1) {
        long copy = 0;
        rma_signal_wait_until(&arrived, RMA_CMP_EQ, 1);
        rma_get(&copy, &data, sizeof copy, 2); /* RACE: second */
        printf("%ld\n", copy);
    }
    rma_ctx_destroy(ctx);
    rma_finalize();
    return 0;
}
