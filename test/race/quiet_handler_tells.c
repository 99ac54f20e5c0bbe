/* SPDX-License-Identifier: BSD-3-Clause */
/* Two PEs hand a word back and forth by atomics of the library and of the language, while signal handlers tell and hear
 * something by an atomic of their own: they interrupt the detector while it counts operations, notes what they tell, or
 * joins clocks. */
/* PES: 2 */
#include <shmem.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static long word, turn, got[2];
static atomic_long count, flag;
static volatile sig_atomic_t signals;

static void handler(int number) {
    (void)number;
    atomic_fetch_add(&count, 1);
    signals++;
}

int main(void) {
    struct sigaction action;
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    long sum = 0;
    shmem_init();
    const int me = shmem_my_pe();
    atomic_long *their_flag = shmem_ptr(&flag, !me);
    long *their_word = shmem_ptr(&word, !me);
    shmem_barrier_all();
    if (their_flag && their_word) {
        memset(&action, 0, sizeof action);
        action.sa_handler = handler;
        action.sa_flags = SA_RESTART;
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
        for (long i = 1; i <= 60000; i++) {
            if (me == i % 2) {
                word = i;
                if (i % 4 < 2)
                    atomic_fetch_add(their_flag, 1);
                else
                    sum += shmem_long_atomic_fetch_inc(&turn, !me);
            } else {
                if (i % 4 < 2)
                    while (atomic_load(&flag) < i / 4 + (i % 4 == 1)) continue;
                else
                    shmem_long_wait_until(&turn, SHMEM_CMP_GE, i / 4 + 1);
                shmem_long_get_nbi(got, &word, 1, !me);
                shmem_quiet();
                sum += got[0] + *their_word;
            }
        }
        setitimer(ITIMER_REAL, &never, NULL);
    }
    shmem_barrier_all();
    printf("PE %d: %ld, %d\n", me, sum, (int)signals > 0);
    shmem_finalize();
    return 0;
}
