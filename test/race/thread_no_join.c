/* SPDX-License-Identifier: BSD-3-Clause */
/* The program reads the result of a thread before it has joined the thread. Mended: it joins first. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static long result;

static void *work(void *argument) {
    (void)argument;
    result = 42; /* RACE: first */
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL)) shmem_global_exit(1);
#ifdef RACY
    const long seen = result; /* RACE: second */
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    const long seen = result;
#endif
    printf("%d %ld\n", me, seen);
    shmem_finalize();
    return 0;
}
