/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads work on variables of their own in the program while main initializes the library and finalizes it. */
/* FLAGS: -pthread */
#include <pthread.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 4

static struct { _Alignas(64) volatile long n; } own[THREADS];
static atomic_int stop;

static void *spin(void *arg) {
    const long i = (long)arg;
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        for (int k = 0; k < 1000; k++) own[i].n++;
    return NULL;
}

int main(void) {
    int provided;
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, spin, (void *)i);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    shmem_barrier_all();
    shmem_finalize();
    atomic_store(&stop, 1);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
