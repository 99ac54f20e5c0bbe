/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking put of two blocks, in a context: the program changes a byte of the second one before the context's
 * quiet. Mended: it changes a byte between the blocks. */
/* NATIVE */
#include <rma.h>

static char there[64];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const struct rma_block from[2] = {{3, 5}, {20, 7}};
    char near[64] = {0};
    rma_ctx *ctx;
    rma_ctx_create(0, &ctx);
    if (me == 0) {
        rma_ctx_put_blocks_nbi(ctx, there, near, NULL, 0, from, 2, 1); /* RACE: first */
#ifdef RACY
        near[26] = 1; /* RACE: second */
#else
        near[19] = near[27] = 1;
#endif
        rma_ctx_quiet(ctx);
    }
    rma_ctx_destroy(ctx);
    rma_finalize();
    return 0;
}
