/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread puts in a context of its own, and the main thread calls shmem_quiet, which does not complete that.
 * Mended: the thread calls the quiet of its context. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static long data[2];

static void *sender(void *argument) {
    const long values[2] = {1, 2};
    shmem_ctx_t ctx = *(shmem_ctx_t *)argument;
    shmem_ctx_long_put(ctx, data, values, 2, 1); /* RACE: first */
#ifndef RACY
    shmem_ctx_quiet(ctx);
#endif
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t thread;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx)) shmem_global_exit(1);
    if (me == 0) {
        if (pthread_create(&thread, NULL, sender, &ctx)) shmem_global_exit(1);
        pthread_join(thread, NULL);
    }
    shmem_barrier_all();
    if (me == 1) printf("%ld\n", data[1]); /* RACE: second */
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
