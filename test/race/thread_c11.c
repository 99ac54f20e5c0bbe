/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of C11 count, one of them without the mutex. Mended: with it. */
#include <shmem.h>
#include <stdio.h>
#include <threads.h>

static long count;
static mtx_t mutex;

static int counter(void *argument) {
    (void)argument;
#ifndef RACY
    mtx_lock(&mutex);
#endif
    *(volatile long *)&count += 2; /* RACE: first */
#ifndef RACY
    mtx_unlock(&mutex);
#endif
    return 0;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    thrd_t thread;
    if (mtx_init(&mutex, mtx_plain) != thrd_success) return 1;
    if (thrd_create(&thread, counter, NULL) != thrd_success) return 1;
    mtx_lock(&mutex);
    *(volatile long *)&count += 1; /* RACE: second */
    mtx_unlock(&mutex);
    thrd_join(thread, NULL);
    printf("%d %d\n", shmem_my_pe(), count > 0);
    mtx_destroy(&mutex);
    shmem_finalize();
    return 0;
}
