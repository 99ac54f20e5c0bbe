/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 waits for the flag of a thread whose quiet does not cover the put of another one, which calls quiet later. That
 * the later quiet has been called before PE 1 reads is not told by any order: only the text depends on it. Mended: the
 * thread that sets the flag learns of the put first. */
/* SAYS: completed, but not waited for; a quiet of thread 2 does not cover what thread 1 has begun */
/* SAYS: thread 2 synchronizing with thread 1, then shmem_quiet, then a flag that PE 1 waits for */
/* SAYS NOT: but PE 1 did not wait for it */
#include <shmem.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static long data, flag;
static int put_made, flag_set, late;
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
    while (!__atomic_load_n(&flag_set, __ATOMIC_RELAXED)) sched_yield();
    shmem_quiet();
    pshmem_int_p(&late, 1, 1); /* not seen by the detector */
    pshmem_quiet();
    return unused;
}

static void *sets_flag(void *unused) {
    while (!__atomic_load_n(&put_made, LEARNS)) sched_yield();
    shmem_quiet();
    shmem_long_atomic_set(&flag, 1, 1);
    __atomic_store_n(&flag_set, 1, __ATOMIC_RELAXED);
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
        while (!*(volatile int *)&late) pshmem_quiet();
        printf("%ld\n", data); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
