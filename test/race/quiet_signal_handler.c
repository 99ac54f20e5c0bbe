/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler reads the words that its thread reads, and those that other PEs read, too: it interrupts the
 * detector while that looks at the same words. */
/* PES: 2 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static long words[2], count;
static volatile long seen;
static volatile sig_atomic_t signals;

static void handler(int number) {
    (void)number;
    seen = words[0] + words[1] + __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    signals++;
}

int main(void) {
    struct sigaction action;
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    long sum = 0;
    shmem_init();
    const int me = shmem_my_pe();
    words[0] = words[1] = me + 1;
    shmem_barrier_all();
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < 100000 || signals < 100; i++) {
        sum += words[i & 1] + shmem_long_g(&words[i & 1], !me);
        __atomic_fetch_add(&count, 1, __ATOMIC_RELEASE);
        if (i % 64 == 0) shmem_long_atomic_inc(&count, !me);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    shmem_barrier_all();
    printf("PE %d: %ld\n", me, sum);
    shmem_finalize();
    return 0;
}
