/* SPDX-License-Identifier: BSD-3-Clause */
/* Two puts of one PE to the same word, in two contexts, with a fence of one of them. Mended by the quiet of the
 * first. */
#include <shmem.h>
#include <stdio.h>

static long word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long one = 1, two = 2;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    if (me == 0) {
        shmem_ctx_long_put(ctx, &word, &one, 1, 1); /* RACE: first */
#ifdef RACY
        shmem_ctx_fence(ctx);
#else
        shmem_ctx_quiet(ctx);
#endif
        shmem_long_put(&word, &two, 1, 1); /* RACE: second */
    }
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    printf("%ld\n", word);
    shmem_finalize();
    return 0;
}
