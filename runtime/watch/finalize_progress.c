/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watch/finalize_progress.h"
#include "base/process.h"

#include <mpi.h>

#if !defined MPICH_NUMVERSION || MPICH_NUMVERSION < 40000000

void rmai_finalize_progress_start(int n_nodes) { (void)n_nodes; }

#else

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define HELPER_STEP  20000000 /* nanoseconds: far longer than the others need to continue once they are helped */
#define HELPER_AFTER 15       /* steps: the barrier takes that long only if a process is stuck */
#define HELPER_POLLS 20       /* at a time: enough to answer messages that have arrived */
#define PARK_STEP    20000    /* nanoseconds */
#define PARK_MOST    50000    /* steps until the thread gives up */

enum { NOT_PARKED, PARKED_READING, PARKED_ELSEWHERE };

/* The thread that is in MPI_Finalize, and the launcher's connection. One at a time: MPI is finalized once. */
static struct {
    long tid;
    int pmi, epolls, signal;
    _Atomic int parked, go;
    MPI_Request request;
} helper;

/* 1 if that thread sleeps in read(2) on the launcher's connection. */
static int reads_launcher(void) {
    char path[64];
    long number = -1;
    unsigned long fd = 0;
    FILE *f;
    snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", helper.tid);
    if (!(f = fopen(path, "r"))) return 0;
    if (fscanf(f, "%ld %lx", &number, &fd) != 2) number = -1;
    fclose(f);
    return number == SYS_read && fd == (unsigned long)helper.pmi;
}

/* The process's epoll(7) descriptors: UCX has one for each of its TCP interfaces, until MPI takes it down. */
static int count_epolls(void) {
    DIR *all = opendir("/proc/self/fd");
    struct dirent *one;
    int n = 0;
    while (all && (one = readdir(all)) != NULL) {
        char path[64], target[64];
        ssize_t len;
        snprintf(path, sizeof path, "/proc/self/fd/%.20s", one->d_name);
        len = readlink(path, target, sizeof target - 1);
        n += len > 0 && strncmp(target, "anon_inode:[eventpoll]", (size_t)len) == 0;
    }
    if (all) closedir(all);
    return n;
}

static void nap_helper(long nanoseconds) { nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL); }

/* 1 if the signal has arrived while the thread was in that read, which must be restarted after it. On processors other
 * than x86 this relies on the answer that reads_launcher gave a moment before. */
static int was_reading(const ucontext_t *context) {
#ifdef __x86_64__
    const greg_t *r = context->uc_mcontext.gregs;
    const unsigned char *next = (const unsigned char *)(uintptr_t)r[REG_RIP];
    return r[REG_RAX] == SYS_read && r[REG_RDI] == helper.pmi && next[0] == 0x0f && next[1] == 0x05; /* syscall */
#else
    (void)context;
    return 1;
#endif
}

static void park_in_signal(int signal, siginfo_t *info, void *context) {
    int kept = errno;
    (void)signal, (void)info;
    atomic_store_explicit(&helper.parked, was_reading(context) ? PARKED_READING : PARKED_ELSEWHERE,
                          memory_order_release);
    while (!atomic_load_explicit(&helper.go, memory_order_acquire)) nap_helper(PARK_STEP);
    atomic_store_explicit(&helper.parked, NOT_PARKED, memory_order_release);
    errno = kept;
}

static int parked_state(void) { return atomic_load_explicit(&helper.parked, memory_order_acquire); }

/* While the other thread is held in its read, this thread alone uses MPI, whatever the thread level is. It is the right
 * read if UCX still exists: there is another one after UCX is gone. */
static void help_stuck_thread(void) {
    atomic_store_explicit(&helper.go, 0, memory_order_relaxed);
    if (syscall(SYS_tgkill, getpid(), helper.tid, helper.signal) != 0) return;
    int done;
    for (int i = 0; i < PARK_MOST && parked_state() == NOT_PARKED; i++) nap_helper(PARK_STEP);
    if (parked_state() == PARKED_READING && count_epolls() == helper.epolls)
        for (int i = 0; i < HELPER_POLLS && MPI_Test(&helper.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS; i++) {
        }
    atomic_store_explicit(&helper.go, 1, memory_order_release);
    while (parked_state() != NOT_PARKED) nap_helper(PARK_STEP);
}

/* Helps only if a process is stuck, and then with long rests between: once all are through the barrier, the other
 * thread shuts MPI down, and this one must not be in it. */
static void *help_when_stuck(void *context) {
    int finalized = 0, waiting = 0;
    (void)context;
    for (;;) {
        nap_helper(HELPER_STEP);
        if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return NULL;
        waiting = reads_launcher() ? waiting + 1 : 0;
        if (waiting > HELPER_AFTER) help_stuck_thread();
    }
}

/* A signal that the program does not use, or 0. */
static int free_signal(void) {
    struct sigaction present;
    for (int s = SIGRTMAX; s >= SIGRTMIN; s--)
        if (sigaction(s, NULL, &present) == 0 && !(present.sa_flags & SA_SIGINFO) && present.sa_handler == SIG_DFL)
            return s;
    return 0;
}

/* A request of our own that is never done: MPI_Test of it drives progress, and needs no communicator, which within
 * MPI_Finalize is gone. */
static int query_poll_request(void *state, MPI_Status *status) {
    const int mpi_code = MPI_Status_set_elements(status, MPI_BYTE, 0);
    (void)state;
    return mpi_code == MPI_SUCCESS ? MPI_Status_set_cancelled(status, 0) : mpi_code;
}

static int free_poll_request(void *state) {
    (void)state;
    return MPI_SUCCESS;
}

static int cancel_poll_request(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

void rmai_finalize_progress_start(int n_nodes) {
    const char *pmi = getenv("PMI_FD");
    struct sigaction action = {.sa_sigaction = park_in_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t only;
    pthread_t thread;
    if (!pmi || n_nodes < 2 || (helper.signal = free_signal()) == 0) return;
    helper.tid = syscall(SYS_gettid);
    helper.pmi = atoi(pmi);
    helper.epolls = count_epolls();
    if (MPI_Grequest_start(query_poll_request, free_poll_request, cancel_poll_request, NULL, &helper.request) !=
        MPI_SUCCESS)
        return;
    sigfillset(&action.sa_mask);
    sigaction(helper.signal, &action, NULL);
    sigemptyset(&only);
    sigaddset(&only, helper.signal);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    if (rmai_thread(&thread, help_when_stuck, NULL) == 0) pthread_detach(thread);
}

#endif
