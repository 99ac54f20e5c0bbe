/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_barrier_all completes RMA_CTX_DEFAULT alone, and the put is of another context. Mended by that context's
 * quiet. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long data;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long value = 1;
    rma_ctx *ctx;
    if (rma_ctx_create(RMA_CTX_PRIVATE, &ctx)) rma_abort(1);
    if (me == 0) rma_ctx_put_nbi(ctx, &data, &value, sizeof value, 1); /* RACE: first */
#ifndef RACY
    rma_ctx_quiet(ctx);
#endif
    rma_barrier_all();
    if (me == 1) printf("%ld\n", data); /* RACE: second */
    rma_ctx_destroy(ctx);
    rma_finalize();
    return 0;
}
