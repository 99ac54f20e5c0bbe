/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread ends when its flag says so, and the main thread reads what it wrote after that. Mended: by a join that does
 * not block. */
#define _GNU_SOURCE
#include <shmem.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static long value;
static int written;

static void *writer(void *argument) {
    value = 3; /* RACE: first */
    __atomic_store_n(&written, 1, __ATOMIC_RELAXED);
    return argument;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    pthread_t thread;
    if (pthread_create(&thread, NULL, writer, NULL)) return 1;
#ifdef RACY
    while (!__atomic_load_n(&written, __ATOMIC_RELAXED)) sched_yield();
#else
    while (pthread_tryjoin_np(thread, NULL)) sched_yield();
#endif
    printf("%d %ld\n", shmem_my_pe(), value); /* RACE: second */
#ifdef RACY
    pthread_join(thread, NULL);
#endif
    shmem_finalize();
    return 0;
}
