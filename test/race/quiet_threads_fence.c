/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that synchronize share fences and quiets: one puts, the next fences, the third sets the flag; then one puts,
 * and the main thread completes that after the join. A thread's nonblocking get is completed by another thread's quiet,
 * and its buffer belongs to the thread that the other one tells. */
#include <shmem.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static long data[3], flags[2], copy;
static sem_t steps[4];

static void *puts_data(void *unused) {
    const long values[2] = {3, 4};
    shmem_long_put(&data[0], &values[0], 1, 1);
    sem_post(&steps[0]);
    sem_wait(&steps[2]);
    shmem_long_put_nbi(&data[1], &values[1], 1, 1);
    shmem_long_get_nbi(&copy, &data[2], 1, 1);
    sem_post(&steps[3]);
    shmem_quiet();
    return unused;
}

static void *fences(void *unused) {
    sem_wait(&steps[0]);
    shmem_fence();
    sem_post(&steps[1]);
    sem_post(&steps[2]);
    sem_wait(&steps[3]);
    shmem_quiet();
    return unused;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    pthread_t threads[2];
    if (shmem_my_pe() == 0) {
        for (int i = 0; i < 4; i++) sem_init(&steps[i], 0, 0);
        if (pthread_create(&threads[0], NULL, puts_data, NULL)) shmem_global_exit(1);
        if (pthread_create(&threads[1], NULL, fences, NULL)) shmem_global_exit(1);
        sem_wait(&steps[1]);
        shmem_long_atomic_set(&flags[0], 1, 1);
        pthread_join(threads[1], NULL);
        copy++;
        shmem_long_put_signal(&data[2], &copy, 1, (uint64_t *)(void *)&flags[1], 1, SHMEM_SIGNAL_SET, 1);
        pthread_join(threads[0], NULL);
        shmem_quiet();
    } else {
        shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, 1);
        printf("%ld\n", data[0]);
        shmem_long_wait_until(&flags[1], SHMEM_CMP_EQ, 1);
        printf("%ld %ld\n", data[1], data[2]);
    }
    shmem_finalize();
    return 0;
}
