/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread overwrites the source of the main thread's put while that is under way. Mended: the main thread calls
 * quiet before it lets the thread go on. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static long inbox, outbox;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *argument) {
    (void)argument;
    pthread_mutex_lock(&gate);
    outbox = 2; /* RACE: second */
    pthread_mutex_unlock(&gate);
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t thread;
    outbox = 1;
    pthread_mutex_lock(&gate);
    if (pthread_create(&thread, NULL, writer, NULL)) shmem_global_exit(1);
    shmem_long_put_nbi(&inbox, &outbox, 1, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
    shmem_barrier_all();
    printf("%ld\n", inbox);
    shmem_finalize();
    return 0;
}
