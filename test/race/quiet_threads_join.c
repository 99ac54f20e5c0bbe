/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads make and join threads at the same time, so that the number of one that has been joined is at once another's.
 * Each works on its maker's stack. */
/* FLAGS: -pthread */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>

#define MAKERS 4
#define ROUNDS 500

static void *add(void *arg) {
    long *numbers = arg;
    for (int i = 0; i < 4; i++) numbers[i]++;
    return NULL;
}

static void *make(void *arg) {
    long numbers[4] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, add, numbers) || pthread_join(thread, NULL)) return NULL;
        numbers[0]++;
    }
    *(long *)arg = numbers[0];
    return NULL;
}

int main(void) {
    int provided;
    long sums[MAKERS] = {0};
    pthread_t makers[MAKERS];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < MAKERS; i++) pthread_create(&makers[i], NULL, make, &sums[i]);
    for (int i = 0; i < MAKERS; i++) pthread_join(makers[i], NULL);
    shmem_barrier_all();
    printf("%ld\n", sums[0]);
    shmem_finalize();
    return 0;
}
