/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads that are detached come and go, more than can be followed at once. The last one writes, and the main
 * thread waits for it by a flag that orders nothing. Mended by a semaphore. */
#include <shmem.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>

static long value;
static int written;
static sem_t ended;

static void *visitor(void *argument) {
    if (argument) {
        value = 3; /* RACE: first */
        __atomic_store_n(&written, 1, __ATOMIC_RELAXED);
    }
    sem_post(&ended);
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sem_init(&ended, 0, 0);
    for (int i = 0; i < 700; i++) {
        pthread_t thread;
        int last = i == 699;
        if (pthread_create(&thread, i % 2 ? &attr : NULL, visitor, last ? &last : NULL)) shmem_global_exit(1);
        if (i % 2 == 0) pthread_detach(thread);
#ifdef RACY
        if (last) break;
#endif
        while (sem_wait(&ended)) continue;
    }
    while (!__atomic_load_n(&written, __ATOMIC_RELAXED)) sched_yield();
    printf("%d %ld\n", shmem_my_pe(), value); /* RACE: second */
    pthread_attr_destroy(&attr);
    shmem_finalize();
    return 0;
}
