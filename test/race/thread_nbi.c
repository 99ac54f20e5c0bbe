/* SPDX-License-Identifier: BSD-3-Clause */
/* The main thread begins a get; another thread reads the destination before the quiet. Mended: the thread starts
 * after the quiet. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static int remote[4], landing[4];

static void *reader(void *argument) {
    *(int *)argument = landing[3]; /* RACE: second */
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t thread;
    int seen = 0;
    shmem_int_get_nbi(landing, remote, 4, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    if (pthread_create(&thread, NULL, reader, &seen)) shmem_global_exit(1);
    pthread_join(thread, NULL);
    shmem_quiet();
    printf("%d\n", seen);
    shmem_finalize();
    return 0;
}
