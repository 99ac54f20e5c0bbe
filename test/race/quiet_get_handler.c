/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler reads and writes the other PE's memory, which shmem_ptr has made reachable, and a counter: it
 * interrupts the gets of single words, while the detector notes these for later or records what it has noted. */
/* PES: 2 */
#include <shmem.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define WORDS 4096

static long words[WORDS], from_handler[2], into[64];
static long *there;
static atomic_long count;
static volatile sig_atomic_t signals;

static void handler(int number) {
    (void)number;
    there[0] = there[1] + 1;
    atomic_fetch_add(&count, 1);
    signals++;
}

int main(void) {
    struct sigaction action;
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    long sum = 0;
    shmem_init();
    const int me = shmem_my_pe();
    there = shmem_ptr(from_handler, !me);
    shmem_barrier_all();
    if (there) {
        memset(&action, 0, sizeof action);
        action.sa_handler = handler;
        action.sa_flags = SA_RESTART;
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
        for (long i = 0; i < 20000 || signals < 5000; i++) {
            for (long k = 0; k < 64; k++) shmem_long_get_nbi(&into[k], &words[(i * 67 + k * 61) % WORDS], 1, !me);
            shmem_quiet();
            for (long k = 0; k < 64; k++) sum += into[k] + shmem_long_g(&words[(i * 71 + k * 59) % WORDS], !me);
        }
        setitimer(ITIMER_REAL, &never, NULL);
    }
    shmem_barrier_all();
    printf("PE %d: %ld\n", me, sum);
    shmem_finalize();
    return 0;
}
