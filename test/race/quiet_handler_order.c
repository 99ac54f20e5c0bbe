/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler stores a number, and orders it before a semaphore and before a word with release. It interrupts its
 * thread everywhere, also while that holds a lock of the detector: nothing of this may be lost, since another thread
 * reads the number after it has learnt of it. */
#include <shmem.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define N 1000
static long numbers[2 * N], counts[4];
static int done;
static sem_t semaphore;
static volatile sig_atomic_t posted;

static void handler(int number) {
    (void)number;
    if (posted >= N) return;
    numbers[posted] = posted;
    sem_post(&semaphore);
    numbers[N + posted] = posted;
    __atomic_store_n(&done, posted + 1, __ATOMIC_RELEASE);
    posted++;
}

static void *reads(void *sum) {
    for (int i = 0; i < N; i++) {
        while (sem_wait(&semaphore)) continue;
        *(long *)sum += numbers[i];
        while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) <= i) sched_yield();
        *(long *)sum += numbers[N + i];
    }
    return NULL;
}

static void *sends_signals(void *to) {
    while (__atomic_load_n(&done, __ATOMIC_RELAXED) < N) {
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        usleep(20);
    }
    return NULL;
}

int main(void) {
    struct sigaction action;
    pthread_t self = pthread_self(), threads[2];
    long sum = 0;
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    sem_init(&semaphore, 0, 0);
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    if (pthread_create(&threads[0], NULL, reads, &sum)) shmem_global_exit(1);
    if (pthread_create(&threads[1], NULL, sends_signals, &self)) shmem_global_exit(1);
    for (unsigned i = 0; posted < N; i++) {
        shmem_long_atomic_inc(&counts[i & 3], me);
        shmem_long_atomic_fetch_add(&counts[i & 3], 1, me);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("PE %d: %ld\n", me, sum);
    shmem_finalize();
    return sum == (long)N * (N - 1) ? 0 : 1;
}
