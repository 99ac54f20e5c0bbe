/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock's end completes what the default context has under way; the put is of another one. Mended by the quiet of
 * that context before the lock's end. */
/* SAYS: or each, with shmem_ctx_quiet(ctx), between shmem_set_lock and shmem_clear_lock */
#include <shmem.h>
#include <stdio.h>

static long lock, last;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long mine = me + 1;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    shmem_set_lock(&lock);
    shmem_ctx_long_put(ctx, &last, &mine, 1, 0); /* RACE: first */ /* RACE: second */
#ifndef RACY
    shmem_ctx_quiet(ctx);
#endif
    shmem_clear_lock(&lock);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    if (me == 0) printf("%ld\n", last);
    shmem_finalize();
    return 0;
}
