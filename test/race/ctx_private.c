/* SPDX-License-Identifier: BSD-3-Clause */
/* A private context: the program overwrites the source of a put before the context's quiet. Mended: after it. */
#include <shmem.h>
#include <stdio.h>

static int inbox[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int outbox[4] = {1, 2, 3, 4};
    shmem_ctx_t ctx;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx)) shmem_global_exit(1);
    shmem_ctx_int_put_nbi(ctx, inbox, outbox, 4, 1 - me); /* RACE: first */
#ifdef RACY
    for (int i = 0; i < 4; i++) outbox[i] = -1; /* RACE: second */
    shmem_ctx_quiet(ctx);
#else
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < 4; i++) outbox[i] = -1;
#endif
    shmem_barrier_all();
    printf("%d\n", inbox[0] + outbox[0]);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
