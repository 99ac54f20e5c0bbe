/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watchman.h"
#include "base/error.h"
#include "base/process.h"
#include "runtime/world.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define POLLS_BUSY 100     /* looks for the next message after one has come: it often comes within microseconds */
#define STEP_BUSY  2000    /* nanoseconds between looks while messages come; the kernel adds some 20 us */
#define STEP_IDLE  250000  /* and when there have been none for a while, */
#define STEP_CALM  1500000 /* or for long: a wake-up costs the computation up to 17 us, on virtual machines */
#define SLICE      100000  /* nanoseconds: the least there is */
#define CALM_AFTER 400     /* looks in vain: 0.1 s */
#define PATIENCE   100     /* looks in vain before the steps grow */

/* Returns the number of messages heard. */
static int serve(struct rmai_world *w) {
    int heard = rmai_far_progress(w, 1);
    for (int polls = heard ? POLLS_BUSY : 0; polls > 0; polls--) {
        int more = rmai_far_progress(w, 1);
        if (more) polls = POLLS_BUSY;
        heard += more;
    }
    return heard;
}

/* sched_setattr(2): Debian 12's C library has no such call. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* The kernel adds 50 us to every sleep of a thread unless it is told that the thread minds. And where PEs share
 * processors, a thread that asks for short time slices is let in earlier (Linux 6.12; older ones take no notice): it
 * runs as often, but sooner. */
static void be_punctual(void) {
    struct attributes a = {.size = sizeof a};
    prctl(PR_SET_TIMERSLACK, 1000UL);
    if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0 || a.policy != SCHED_OTHER) return;
    a.runtime = SLICE;
    syscall(SYS_sched_setattr, 0, &a, 0);
}

static void *run(void *context) {
    struct rmai_world *w = context;
    uint32_t turns = 0, now;
    unsigned in_vain = 0;
    long step = STEP_CALM;
    be_punctual();
    while (!atomic_load_explicit(&w->watchman.ending, memory_order_relaxed)) {
        nanosleep(&(struct timespec){.tv_nsec = step}, NULL);
        now = atomic_load_explicit(&w->far.turns, memory_order_relaxed);
        if (now != turns) {
            /* The program drives; look again soon, it may be going to compute. */
            turns = now;
            continue;
        }
        if (serve(w) > 0) {
            step = STEP_BUSY;
            in_vain = 0;
        } else if (++in_vain > PATIENCE && step < STEP_IDLE) {
            step = step * 3 / 2 < STEP_IDLE ? step * 3 / 2 : STEP_IDLE;
        } else if (in_vain > PATIENCE + CALM_AFTER) {
            step = STEP_CALM;
        }
        turns = atomic_load_explicit(&w->far.turns, memory_order_relaxed);
    }
    return NULL;
}

int rmai_watchman_start(struct rmai_world *w, const char *call) {
    int failed;
    if (w->watchman.running) return RMA_SUCCESS;
    if (!w->mpi_multiple)
        return rmai_error(RMA_ERR_STATE,
                          "%s: no thread can serve other nodes: MPI was not initialized with MPI_THREAD_MULTIPLE",
                          call);
    atomic_store_explicit(&w->watchman.ending, 0, memory_order_relaxed);
    failed = rmai_thread(&w->watchman.thread, run, w);
    if (failed) return rmai_error(RMA_ERR_SYSTEM, "%s: no thread to serve other nodes: %s", call, strerror(failed));
    w->watchman.running = 1;
    return RMA_SUCCESS;
}

void rmai_watchman_end(struct rmai_world *w) {
    if (!w->watchman.running) return;
    atomic_store_explicit(&w->watchman.ending, 1, memory_order_relaxed);
    pthread_join(w->watchman.thread, NULL);
    w->watchman.running = 0;
}

int rma_progress(void) {
    int code = rmai_running("rma_progress");
    if (code == RMA_SUCCESS) rmai_far_progress(&rmai_world, 0);
    return rmai_raise(code);
}

int rma_progress_thread(int on) {
    struct rmai_world *w = &rmai_world;
    int code = rmai_running("rma_progress_thread");
    if (code != RMA_SUCCESS || !w->far.active) return rmai_raise(code);
    if (on) return rmai_raise(rmai_watchman_start(w, "rma_progress_thread"));
    rmai_watchman_end(w);
    return RMA_SUCCESS;
}

/* ---- the usher ---- */

#define USHER_STEP  20000000 /* nanoseconds: longer by far than the others take to go on when they are helped */
#define USHER_AFTER 15       /* steps that the barrier takes only if somebody is stuck */
#define USHER_POLLS 20       /* at a time: enough to answer what has come */
#define PARK_STEP   20000    /* nanoseconds */
#define PARK_MOST   50000    /* steps until it is given up */

enum { NOT_PARKED, PARKED_READING, PARKED_ELSEWHERE };

/* The thread that is in MPI_Finalize, and the launcher's connection. One at a time: MPI is finalized once. */
static struct {
    long tid;
    int pmi, epolls, signal;
    _Atomic int parked, go;
    MPI_Request request;
} usher;

/* 1 if that thread sleeps in read(2) on the launcher's connection. */
static int reads_launcher(void) {
    char path[64];
    long number = -1;
    unsigned long fd = 0;
    FILE *f;
    snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", usher.tid);
    if (!(f = fopen(path, "r"))) return 0;
    if (fscanf(f, "%ld %lx", &number, &fd) != 2) number = -1;
    fclose(f);
    return number == SYS_read && fd == (unsigned long)usher.pmi;
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

static void nap(long nanoseconds) { nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL); }

/* 1 if the signal has come while the thread was in that read, which is to be begun anew after it. Elsewhere than on x86
 * what reads_launcher has said a moment before must do. */
static int was_reading(const ucontext_t *context) {
#ifdef __x86_64__
    const greg_t *r = context->uc_mcontext.gregs;
    const unsigned char *next = (const unsigned char *)(uintptr_t)r[REG_RIP];
    return r[REG_RAX] == SYS_read && r[REG_RDI] == usher.pmi && next[0] == 0x0f && next[1] == 0x05; /* syscall */
#else
    (void)context;
    return 1;
#endif
}

static void park(int signal, siginfo_t *info, void *context) {
    int kept = errno;
    (void)signal, (void)info;
    atomic_store_explicit(&usher.parked, was_reading(context) ? PARKED_READING : PARKED_ELSEWHERE,
                          memory_order_release);
    while (!atomic_load_explicit(&usher.go, memory_order_acquire)) nap(PARK_STEP);
    atomic_store_explicit(&usher.parked, NOT_PARKED, memory_order_release);
    errno = kept;
}

static int parked(void) { return atomic_load_explicit(&usher.parked, memory_order_acquire); }

/* While the other thread is held in its read, MPI is this thread's alone, whatever its thread level. It is the right
 * read if UCX is still there: there is one more, when it is gone. */
static void help(void) {
    atomic_store_explicit(&usher.go, 0, memory_order_relaxed);
    if (syscall(SYS_tgkill, getpid(), usher.tid, usher.signal) != 0) return;
    for (int i = 0; i < PARK_MOST && parked() == NOT_PARKED; i++) nap(PARK_STEP);
    if (parked() == PARKED_READING && count_epolls() == usher.epolls)
        for (int i = 0; i < USHER_POLLS; i++) rmai_net_poll(&usher.request);
    atomic_store_explicit(&usher.go, 1, memory_order_release);
    while (parked() != NOT_PARKED) nap(PARK_STEP);
}

/* Only where somebody is stuck, and then by turns with long rests: once all are through the barrier, the other thread
 * takes MPI down, and this one must not be in it. */
static void *usher_run(void *context) {
    int finalized = 0, waiting = 0;
    (void)context;
    for (;;) {
        nap(USHER_STEP);
        MPI_Finalized(&finalized);
        if (finalized) return NULL;
        waiting = reads_launcher() ? waiting + 1 : 0;
        if (waiting > USHER_AFTER) help();
    }
}

/* A signal that the program does nothing with, or 0. */
static int free_signal(void) {
    struct sigaction present;
    for (int s = SIGRTMAX; s >= SIGRTMIN; s--)
        if (sigaction(s, NULL, &present) == 0 && !(present.sa_flags & SA_SIGINFO) && present.sa_handler == SIG_DFL)
            return s;
    return 0;
}

void rmai_usher_start(const struct rmai_world *w) {
    const char *pmi = getenv("PMI_FD");
    struct sigaction action = {.sa_sigaction = park, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t only;
    pthread_t thread;
    if (!pmi || w->n_nodes < 2 || (usher.signal = free_signal()) == 0) return;
    usher.tid = syscall(SYS_gettid);
    usher.pmi = atoi(pmi);
    usher.epolls = count_epolls();
    if (rmai_net_prepare_poll(&usher.request) != MPI_SUCCESS) return;
    sigfillset(&action.sa_mask);
    sigaction(usher.signal, &action, NULL);
    sigemptyset(&only);
    sigaddset(&only, usher.signal);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    if (rmai_thread(&thread, usher_run, NULL) == 0) pthread_detach(thread);
}
