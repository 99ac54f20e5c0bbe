/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread puts and fences, and another thread, which has not synchronized with it, sets the flag: nothing orders the
 * flag after the fence. Mended: the second thread learns of the put by an atomic of the language, and fences itself. */
#include <shmem.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static long data, flag;
static int put_made;

static void *puts_data(void *unused) {
    const long value = 3;
    shmem_long_put(&data, &value, 1, 1); /* RACE: first */
#ifdef RACY
    shmem_fence();
    __atomic_store_n(&put_made, 1, __ATOMIC_RELAXED);
#else
    __atomic_store_n(&put_made, 1, __ATOMIC_RELEASE);
#endif
    return unused;
}

static void *sets_flag(void *unused) {
#ifdef RACY
    while (!__atomic_load_n(&put_made, __ATOMIC_RELAXED)) sched_yield();
#else
    while (!__atomic_load_n(&put_made, __ATOMIC_ACQUIRE)) sched_yield();
    shmem_fence();
#endif
    shmem_long_atomic_set(&flag, 1, 1);
    return unused;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    pthread_t threads[2];
    if (shmem_my_pe() == 0) {
        if (pthread_create(&threads[0], NULL, puts_data, NULL)) shmem_global_exit(1);
        if (pthread_create(&threads[1], NULL, sets_flag, NULL)) shmem_global_exit(1);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%ld\n", data); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
