/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_clear_lock completes the puts of RMA_CTX_DEFAULT; what the holder has put in another context may come later.
 * Mended by the quiet of that context. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static rma_lock_t lock = RMA_LOCK_INIT;
static long last;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long mine = me;
    rma_ctx *ctx;
    if (rma_ctx_create(0, &ctx)) rma_abort(1);
    rma_set_lock(&lock);
    rma_ctx_put(ctx, &last, &mine, sizeof mine, 0); /* RACE: first */ /* RACE: second */
#ifndef RACY
    rma_ctx_quiet(ctx);
#endif
    rma_clear_lock(&lock);
    rma_ctx_destroy(ctx);
    rma_barrier_all();
    if (me == 0) printf("%ld\n", last);
    rma_finalize();
    return 0;
}
