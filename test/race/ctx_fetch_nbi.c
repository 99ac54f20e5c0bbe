/* SPDX-License-Identifier: BSD-3-Clause */
/* The old value that an atomic of a context fetches is read before the quiet of the context. Mended by it. */
#include <shmem.h>
#include <stdio.h>

static int counter;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int ticket = 0;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    shmem_ctx_int_atomic_fetch_inc_nbi(ctx, &ticket, &counter, 0); /* RACE: first */
#ifdef RACY
    shmem_ctx_fence(ctx);
#else
    shmem_ctx_quiet(ctx);
#endif
    printf("%d: %d\n", me, ticket); /* RACE: second */
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
