/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of each PE put with contexts of their own, and each calls the quiet of its context before it ends. The
 * main thread joins them before the barrier. */
#include <shmem.h>
#include <pthread.h>

static long rows[2][8];

struct task {
    shmem_ctx_t ctx;
    int row, pe;
};

static void *work(void *argument) {
    const struct task *task = argument;
    long values[8];
    for (int i = 0; i < 8; i++) values[i] = 10 * task->row + i;
    shmem_ctx_long_put_nbi(task->ctx, rows[task->row], values, 8, task->pe);
    shmem_ctx_quiet(task->ctx);
    values[0] = -1;
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    long wrong = 0;
    pthread_t threads[2];
    struct task tasks[2];
    for (int i = 0; i < 2; i++) {
        tasks[i] = (struct task){SHMEM_CTX_INVALID, i, 1 - me};
        if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &tasks[i].ctx)) shmem_global_exit(1);
        if (pthread_create(&threads[i], NULL, work, &tasks[i])) shmem_global_exit(1);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    shmem_barrier_all();
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 8; k++) wrong += rows[i][k] != 10 * i + k;
        shmem_ctx_destroy(tasks[i].ctx);
    }
    shmem_finalize();
    return wrong != 0;
}
