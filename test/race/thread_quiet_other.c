/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread puts, and another thread, which has not synchronized with it, calls quiet and sets the flag: that quiet need
 * not complete the put. Mended: the second thread learns of the put by an atomic of the language before its quiet. */
/* SAYS: in puts_data, not completed; a quiet of thread 2 does not cover what thread 1 has begun */
/* SAYS: thread 2 synchronizing with thread 1, then shmem_quiet, then a flag that PE 1 waits for */
#include <shmem.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static long data, flag;
static int put_made;
#ifdef RACY
#define TELLS  __ATOMIC_RELAXED
#define LEARNS __ATOMIC_RELAXED
#else
#define TELLS  __ATOMIC_RELEASE
#define LEARNS __ATOMIC_ACQUIRE
#endif

static void *puts_data(void *unused) {
    const long value = 3;
    shmem_long_put(&data, &value, 1, 1); /* RACE: first */
    __atomic_store_n(&put_made, 1, TELLS);
    return unused;
}

static void *sets_flag(void *unused) {
    while (!__atomic_load_n(&put_made, LEARNS)) sched_yield();
    shmem_quiet();
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
