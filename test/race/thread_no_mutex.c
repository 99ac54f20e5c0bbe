/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of each PE count in one word with no mutex. Mended by a mutex. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static int count;
#ifndef RACY
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *work(void *argument) {
    (void)argument;
    for (int i = 0; i < 10; i++) {
#ifndef RACY
        pthread_mutex_lock(&mutex);
#endif
        ++*(volatile int *)&count; /* RACE: first */ /* RACE: second */
#ifndef RACY
        pthread_mutex_unlock(&mutex);
#endif
    }
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, NULL)) shmem_global_exit(1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%d %d\n", me, count);
    shmem_finalize();
    return 0;
}
