/* SPDX-License-Identifier: BSD-3-Clause */
/* With SHMEM_THREAD_MULTIPLE threads of a PE put, update and wait at the same time, with or without their own contexts,
 * and are in collectives of different active sets, even if these have the same PEs.
 *
 * Broken by state that calls of different threads share, by an active set of all PEs that is left to the engine while
 * another thread is in one, and by an error's name that one thread sets and another one prints. */
#include "osh.h"

#include <pthread.h>

#define THREADS 3
#define ROUNDS  40

static long psync[THREADS][SHMEM_SYNC_SIZE], total, gathered[THREADS][16], given[THREADS];

static void *work(void *number) {
    const int t = *(int *)number;
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    long mine;
    CHECK(shmem_ctx_create(t ? SHMEM_CTX_SERIALIZED : 0, &ctx) == 0, "no context");
    for (int i = 0; i < ROUNDS; i++) {
        shmem_ctx_long_atomic_add(ctx, &total, t + 1, 0);
        mine = 1000L * i + 10 * me + t;
        shmem_ctx_long_p(ctx, &given[t], mine, next());
        shmem_ctx_quiet(ctx);
        shmem_fcollect64(gathered[t], &given[t], 1, 0, 0, n, psync[t]);
        for (int pe = 0; pe < n; pe++) {
            const long want = 1000L * i + 10 * ((pe + n - 1) % n) + t;
            CHECK(gathered[t][pe] == want, "thread %d, round %d: %ld from PE %d, not %ld", t, i, gathered[t][pe], pe,
                  want);
        }
        shmem_barrier(0, 0, n, psync[t]);
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

int main(void) {
    pthread_t thread[THREADS];
    int number[THREADS], provided = -1;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "no init");
    look();
    CHECK(n <= 16, "%d PEs are more than there is room for", n);
    if (provided < SHMEM_THREAD_MULTIPLE) {
        if (me == 0) printf("skipped: needs an MPI with MPI_THREAD_MULTIPLE\n");
        shmem_finalize();
        return 77;
    }
    DOING("threads");
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++) {
        number[t] = t;
        CHECK(pthread_create(&thread[t], NULL, work, &number[t]) == 0, "no thread");
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    shmem_barrier_all();
    CHECK(shmem_long_g(&total, 0) == (long)n * ROUNDS * THREADS * (THREADS + 1) / 2, "%ld in all",
          shmem_long_g(&total, 0));
    return end();
}
