/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_quiet completes the default context alone, and the get is of another one. Mended by shmem_ctx_quiet. */
#include <shmem.h>
#include <stdio.h>

static int table[8];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int copy[8] = {0};
    shmem_ctx_t ctx;
    if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx)) shmem_global_exit(1);
    shmem_ctx_int_get_nbi(ctx, copy, table, 8, 1 - me); /* RACE: first */
#ifdef RACY
    shmem_quiet();
#else
    shmem_ctx_quiet(ctx);
#endif
    printf("%d\n", copy[7]); /* RACE: second */
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
