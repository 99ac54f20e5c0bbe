/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler runs the loops that it interrupts, on other memory, and tells something by an atomic. The other PE
 * writes what the handler has not accessed, ordered by barriers. */
#include <shmem.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>

#define N 3000

static long whole[N], other[N / 4], theirs[N / 2];
static atomic_long ticks;

static long fill(long *a, long n, long with) {
    long sum = 0;
    for (long i = 0; i < n; i++) a[i] = with + i;
    for (long i = 0; i < n; i++) sum += a[i];
    return sum;
}

static void tick(int number) {
    (void)number;
    fill(other, N / 4, 1);
    atomic_fetch_add(&ticks, 1);
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    struct sigaction action;
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    long sum = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 10; i++) sum += fill(whole, N - 8 * i, round);
        shmem_long_put(theirs, whole, N / 2, (me + 1) % n);
        shmem_barrier_all();
        sum += fill(theirs, N / 2, round);
        shmem_barrier_all();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    shmem_barrier_all();
    shmem_finalize();
    return sum == 0;
}
