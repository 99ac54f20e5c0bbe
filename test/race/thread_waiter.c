/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread waits for the flag, and another one reads the data. Mended: the thread that has waited reads them. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static int data, flag;

static void *waiter(void *argument) {
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
#ifndef RACY
    *(int *)argument = data;
#else
    (void)argument;
#endif
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    int seen = 0;
    pthread_t thread;
    if (me == 0) {
        shmem_int_p(&data, 3, 1); /* RACE: first */
        shmem_fence();
        shmem_int_p(&flag, 1, 1);
    } else {
        if (pthread_create(&thread, NULL, waiter, &seen)) shmem_global_exit(1);
#ifdef RACY
        seen = data; /* RACE: second */
#endif
        pthread_join(thread, NULL);
        printf("%d\n", seen);
    }
    shmem_finalize();
    return 0;
}
