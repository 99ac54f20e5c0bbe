/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread fences in a context before another thread puts in it; the fence orders only what its thread knows of. The
 * thread that put then sets the flag without a fence of its own. Mended: it fences between. */
#include <shmem.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static long data, flag;
static int put_made, fenced;

static void *fences(void *unused) {
    while (!__atomic_load_n(&put_made, __ATOMIC_RELAXED)) sched_yield();
    shmem_fence();
    __atomic_store_n(&fenced, 1, __ATOMIC_RELEASE);
    return unused;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const long value = 3;
    pthread_t thread;
    if (shmem_my_pe() == 0) {
        if (pthread_create(&thread, NULL, fences, NULL)) shmem_global_exit(1);
        shmem_long_put(&data, &value, 1, 1); /* RACE: first */
        __atomic_store_n(&put_made, 1, __ATOMIC_RELAXED);
        while (!__atomic_load_n(&fenced, __ATOMIC_ACQUIRE)) sched_yield();
#ifndef RACY
        shmem_fence();
#endif
        shmem_long_atomic_set(&flag, 1, 1);
        pthread_join(thread, NULL);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
