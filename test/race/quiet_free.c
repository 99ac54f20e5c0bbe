/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that end after the quiet of their operations, or that nothing uses, and frames that end while operations use
 * buffers of frames further out: memory is freed and used again in every such way without a report. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long data[64];

static void __attribute__((noinline)) begin(const long *values, int at, int pe) {
    long other[4] = {1, 2, 3, 4};
    shmem_long_put_nbi(&data[at], values, 16, pe);
    shmem_long_put(&data[at + 16], other, 4, pe);
}

static void __attribute__((noinline)) twice(int pe) {
    long values[16] = {0};
    begin(values, 0, pe);
    begin(values, 32, pe);
    shmem_quiet();
}

static long zeros[16];

static void *allocate(void *unused) {
    for (int i = 0; i < 200; i++) {
        char *text = malloc(100);
        if (!text) break;
        memset(text, 'a', 100);
        text = realloc(text, 300);
        free(text);
    }
    return unused;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int other = 1 - shmem_my_pe();
    pthread_t threads[2];
    for (int i = 0; i < 3; i++) {
        long *source = malloc(16 * sizeof *source), *unused = malloc(16 * sizeof *unused);
        long *block = shmem_malloc(16 * sizeof *block);
        if (!source || !unused || !block) shmem_global_exit(1);
        memset(source, 0, 16 * sizeof *source);
        memset(unused, 0, 16 * sizeof *unused);
        shmem_long_put_nbi(block, source, 16, other);
        twice(other);
        shmem_long_put_nbi(block, source, 16, other);
        free(unused);
        shmem_quiet();
        free(source);
        shmem_long_put(block, zeros, 16, other);
        shmem_free(block);
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, allocate, NULL)) shmem_global_exit(1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    twice(other);
    shmem_barrier_all();
    printf("%ld\n", data[3]);
    shmem_finalize();
    return 0;
}
