/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_ctx_pe_quiet completes what the context has asked of the PEs that it names. PE 0 names the wrong one.
 * Mended: PE 1. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long data;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long value = 3;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    if (me == 0) {
        shmem_ctx_long_put(ctx, &data, &value, 1, 1); /* RACE: first */
#ifdef RACY
        const int named[1] = {2};
#else
        const int named[1] = {1};
#endif
        shmem_ctx_pe_quiet(ctx, named, 1);
    }
    shmem_sync_all();
    if (me == 1) printf("%ld\n", data); /* RACE: second */
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
