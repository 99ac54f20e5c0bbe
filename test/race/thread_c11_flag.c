/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread hands its data over by a relaxed C11 store. Mended by a release store, which the other's acquire load
 * reads. */
#include <shmem.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int flag;
static long data;
#ifdef RACY
#define STORE memory_order_relaxed
#else
#define STORE memory_order_release
#endif

static void *producer(void *argument) {
    (void)argument;
    data = 9; /* RACE: first */
    atomic_store_explicit(&flag, 1, STORE);
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t thread;
    if (pthread_create(&thread, NULL, producer, NULL)) shmem_global_exit(1);
    while (!atomic_load_explicit(&flag, memory_order_acquire)) usleep(50);
    const long seen = data; /* RACE: second */
    pthread_join(thread, NULL);
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
