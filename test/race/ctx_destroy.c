/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_ctx_destroy completes what is under way in its context: PE 1 may read when PE 0 has called it, and reads
 * before. Mended: PE 0 destroys the context before both meet. */
#include <shmem.h>
#include <stdio.h>

static int data;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int value = 2;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    if (me == 0) shmem_ctx_int_put_nbi(ctx, &data, &value, 1, 1); /* RACE: first */
#ifndef RACY
    shmem_ctx_destroy(ctx);
#endif
    shmem_sync_all();
    if (me == 1) printf("%d\n", data); /* RACE: second */
#ifdef RACY
    shmem_ctx_destroy(ctx);
#endif
    shmem_finalize();
    return 0;
}
