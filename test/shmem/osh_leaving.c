/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenSHMEM program that ends without shmem_finalize: test/check-exit.sh runs each way and checks messages and exit
 * codes. The specification requires shmem_finalize after shmem_init; a program that has called start_pes is finalized
 * automatically at exit, with all PEs.
 *
 *     return N   every PE returns N from main after shmem_init
 *     twice      the same with 0, after two shmem_init and one shmem_finalize
 *     atexit     a function that was registered before shmem_init uses the library and calls shmem_finalize
 *     mixed      the last PE returns without shmem_finalize, the others call it
 *     codes N    the last PE exits with N, the others with 0
 *     barrier    the last PE exits with 0 after shmem_init, the others wait for it in a barrier,
 *     wait       or for a word that nobody writes
 *     signal     the last PE exits with 0 in a signal handler, while it waits in a barrier for the others
 *     start N    the last PE calls exit(N) after start_pes, the others wait for it
 *     thread     after start_pes the only thread of each PE ends by pthread_exit: the process exits with 0 */
#include "osh.h"

#include <pthread.h>
#include <signal.h>

static int word;
static long sum;

/* Work that is right only if all PEs are there and all puts have arrived. */
static void work(void) {
    shmem_barrier_all();
    shmem_long_atomic_add(&sum, me + 1, 0);
    shmem_barrier_all();
    CHECK(me != 0 || sum == (long)n * (n + 1) / 2, "%ld", sum);
    sum = 0;
}

static void end_late(void) {
    work();
    shmem_finalize();
}

static void leave(int signal) {
    (void)signal;
    exit(0);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    int status = argc > 2 ? atoi(argv[2]) : 0;
#define WAY(NAME) (strcmp(way, NAME) == 0)
    if (WAY("atexit")) atexit(end_late);
    if (WAY("start") || WAY("thread")) {
        start_pes(0);
        look();
    } else {
        start();
    }
    if (WAY("twice")) shmem_init();
    work();
    if (WAY("twice") || (WAY("mixed") && me != n - 1)) shmem_finalize();
    if (WAY("return") || WAY("twice") || WAY("atexit") || WAY("mixed")) return status;
    if (WAY("thread")) pthread_exit(NULL);
    if (WAY("codes") && me != n - 1) return 0;
    if (WAY("signal") && me == n - 1) {
        struct sigaction action = {.sa_handler = leave};
        sigaction(SIGALRM, &action, NULL);
        alarm(1);
        shmem_barrier_all();
    }
    if (me == n - 1) exit(status);
    if (WAY("barrier")) shmem_barrier_all();
    shmem_int_wait_until(&word, SHMEM_CMP_NE, 0);
    CHECK(0, "the wait has returned");
}
