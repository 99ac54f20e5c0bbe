/* SPDX-License-Identifier: BSD-3-Clause */
/* A barrier completes the default context alone: a put of another context may still be under way behind it. Mended
 * by quiet of that context before the barrier. */
#include <shmem.h>
#include <stdio.h>

static double data[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const double values[2] = {1, 2};
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    if (me == 0) shmem_ctx_double_put(ctx, data, values, 2, 1); /* RACE: first */
#ifndef RACY
    shmem_ctx_quiet(ctx);
#endif
    shmem_barrier_all();
    if (me == 1) printf("%g\n", data[1]); /* RACE: second */
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
