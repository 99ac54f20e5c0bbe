/* SPDX-License-Identifier: BSD-3-Clause */
/* A block of the symmetric heap is freed while a put to it is under way in a context, which the barrier in shmem_free
 * does not complete. Mended: the context's quiet comes first. */
/* SAYS: of which 4 bytes from offset 396 on are under way */
/* SAYS: shmem_ctx_quiet(ctx) by PE 0 before shmem_free */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int value = 4;
    shmem_ctx_t ctx;
    int *block = shmem_malloc(100 * sizeof *block);
    if (!block || shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    if (me == 0) shmem_ctx_int_put(ctx, &block[99], &value, 1, 1); /* RACE: first */
#ifndef RACY
    shmem_ctx_quiet(ctx);
#endif
    shmem_free(block); /* RACE: second */
    shmem_ctx_destroy(ctx);
    printf("%d\n", me);
    shmem_finalize();
    return 0;
}
