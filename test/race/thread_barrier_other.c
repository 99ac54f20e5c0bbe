/* SPDX-License-Identifier: BSD-3-Clause */
/* The barrier among PEs is called by the main thread; the thread that puts is not joined before it. Mended: it is. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static long box;

static void *sender(void *argument) {
    (void)argument;
    shmem_long_p(&box, 7, 1); /* RACE: first */
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t thread;
    if (me == 0 && pthread_create(&thread, NULL, sender, NULL)) shmem_global_exit(1);
#ifndef RACY
    if (me == 0) pthread_join(thread, NULL);
#endif
    shmem_barrier_all();
    if (me == 1) printf("%ld\n", box); /* RACE: second */
#ifdef RACY
    if (me == 0) pthread_join(thread, NULL);
#endif
    shmem_finalize();
    return 0;
}
