/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread says by a condition variable that the data are there, and stores them then. Mended: the other way round. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, data;

static void *producer(void *argument) {
    (void)argument;
#ifndef RACY
    data = 5;
#endif
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
#ifdef RACY
    data = 5; /* RACE: first */
#endif
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t thread;
    if (pthread_create(&thread, NULL, producer, NULL)) shmem_global_exit(1);
    pthread_mutex_lock(&mutex);
    while (!ready) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    const int seen = data; /* RACE: second */
    pthread_join(thread, NULL);
    printf("%d %d\n", me, seen);
    shmem_finalize();
    return 0;
}
