/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of PE 1 writes while PE 0 gets: PE 1's main thread joins it only behind the barrier. Mended: before it. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static int field[8];

static void *work(void *argument) {
    (void)argument;
    for (int i = 0; i < 8; i++) field[i] = i; /* RACE: first */
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    int copy[8] = {0};
    pthread_t thread;
    if (me == 1 && pthread_create(&thread, NULL, work, NULL)) shmem_global_exit(1);
#ifndef RACY
    if (me == 1) pthread_join(thread, NULL);
#endif
    shmem_barrier_all();
    if (me == 0) shmem_int_get(copy, field, 8, 1); /* RACE: second */
#ifdef RACY
    if (me == 1) pthread_join(thread, NULL);
#endif
    printf("%d\n", copy[7]);
    shmem_finalize();
    return 0;
}
