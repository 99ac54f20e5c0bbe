/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler of PE 2 runs while that PE is in a barrier which the others have left, and learns there what PE 1
 * has stored since. PE 0 has learnt nothing of it: its read is a race, although PE 2 reads the word first, half of it
 * and later than PE 1. Mended by a second barrier. */
/* PES: 3 */
#include <shmem.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long word;
static int pids[3];
static atomic_int in_handler, stored;
static atomic_int *tells; /* in_handler of PE 1 */

static void handler(int number) {
    (void)number;
    atomic_store(tells, 1);
    while (!atomic_load(&stored)) continue;
}

int main(void) {
    struct sigaction action;
    int half = 0;
    shmem_init();
    const int me = shmem_my_pe();
    atomic_int *tell = shmem_ptr(&stored, 2);
    tells = shmem_ptr(&in_handler, 1);
    if (!tells || !tell) shmem_global_exit(2);
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    pids[me] = (int)getpid();
    shmem_int_p(&pids[me], (int)getpid(), 1);
    shmem_barrier_all();
    if (me == 1) {
        usleep(200000); /* PE 2 is in the barrier */
        kill((pid_t)pids[2], SIGUSR1);
        while (!atomic_load(&in_handler)) usleep(50);
    }
    shmem_barrier_all();
    if (me == 1) {
        word = 1; /* RACE: first */
        half = (int)*(volatile long *)&word;
        atomic_store(tell, 1);
    }
    if (me == 2) half = shmem_int_g((int *)&word, 1);
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) {
        usleep(500000);                     /* after PE 2 */
        half = (int)shmem_long_g(&word, 1); /* RACE: second */
    }
    printf("PE %d: %d\n", me, half);
    shmem_finalize();
    return 0;
}
