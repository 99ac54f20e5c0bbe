/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_contexts: contexts: operations that are completed apart from others. */
#include <rma.h>
#include <stdio.h>

static long first[100], second;

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    rma_ctx *ctx;
    long x[100], y = 0;
    for (int i = 0; i < 100; i++) x[i] = 100 * me + i;

    /* SHMEM: shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) */
    if (rma_ctx_create(RMA_CTX_PRIVATE, &ctx) != RMA_SUCCESS) rma_abort(1);
    /* SHMEM: shmem_ctx_long_put_nbi(ctx, first, x, 100, right) */
    rma_ctx_put_nbi(ctx, first, x, sizeof x, right);
    rma_p(&second, me, right);
    /* SHMEM: shmem_quiet() */
    rma_quiet(); /* completes `second`; the long put may go on */
    y = rma_g(&second, right);
    /* SHMEM: shmem_ctx_quiet(ctx) */
    rma_ctx_quiet(ctx);
    rma_sync_all();

    int wrong = y != me || second != left;
    for (int i = 0; i < 100; i++) wrong |= first[i] != 100 * left + i;
    if (wrong) printf("shmem_contexts: PE %d was given %ld and %ld\n", me, first[99], second);
    /* SHMEM: shmem_ctx_destroy(ctx) */
    rma_ctx_destroy(ctx);
    rma_finalize();
    return wrong;
}
