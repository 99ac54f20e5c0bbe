/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads meet in a pthread barrier; one writes behind it what the other reads behind it. Mended: it writes
 * before. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t meeting;
static double value;

static void *writer(void *argument) {
    (void)argument;
#ifdef RACY
    pthread_barrier_wait(&meeting);
    value = 1.5; /* RACE: first */
#else
    value = 1.5;
    pthread_barrier_wait(&meeting);
#endif
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    pthread_t thread;
    pthread_barrier_init(&meeting, NULL, 2);
    if (pthread_create(&thread, NULL, writer, NULL)) shmem_global_exit(1);
    pthread_barrier_wait(&meeting);
    const double seen = value; /* RACE: second */
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&meeting);
    printf("%d %g\n", me, seen);
    shmem_finalize();
    return 0;
}
