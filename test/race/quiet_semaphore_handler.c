/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler may call sem_post, also while its thread is in malloc: the detector's hook of sem_post must not use
 * what malloc protects. */
/* PES: 2 */
#include <semaphore.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define N 2000
static sem_t semaphores[N]; /* one for each signal: the first sem_post of each makes the detector's object */
static volatile sig_atomic_t posted;

static void handler(int number) {
    (void)number;
    if (posted < N) sem_post(&semaphores[posted++]);
}

int main(void) {
    struct sigaction action;
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    void *blocks[64] = {0};
    int taken = 0;
    shmem_init();
    for (int i = 0; i < N; i++) sem_init(&semaphores[i], 0, 0);
    shmem_barrier_all();
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; posted < N; i++) {
        free(blocks[i % 64]);
        blocks[i % 64] = malloc(2000 + 977 * (i % 13));
        if (!blocks[i % 64]) return 1;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < N; i++) taken += sem_trywait(&semaphores[i]) == 0;
    for (int i = 0; i < 64; i++) free(blocks[i]);
    shmem_barrier_all();
    printf("PE %d: %d\n", shmem_my_pe(), taken);
    shmem_finalize();
    return taken == N ? 0 : 1;
}
