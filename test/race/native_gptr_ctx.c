/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking put by global pointer in a context of its own, the buffer of which is filled again after a quiet of the
 * default context only. Mended: the quiet is that of the context. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static long there, here = 3;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    rma_ctx *ctx;
    if (rma_ctx_create(0, &ctx)) rma_abort(1);
    if (me == 0) {
        rma_ctx_gptr_put_nbi(ctx, rma_gptr(&there, 1), &here, sizeof here); /* RACE: first */
#ifdef RACY
        rma_quiet();
#else
        rma_ctx_quiet(ctx);
#endif
        here = 4; /* RACE: second */
    }
    rma_ctx_destroy(ctx);
    rma_barrier_all();
    printf("%ld\n", there);
    rma_finalize();
    return 0;
}
