/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process ends, the library must learn three things: its status, that nobody will finalize any more, and that it
 * ends at all.
 *
 * on_exit(3) tells the status. But functions that the program has registered before rma_init, and destructors of its
 * older objects, run after ours, and may finalize. So only the library's destructor decides: the dynamic linker runs it
 * after all of these, and before those of MPI, on which the library depends.
 *
 * The C library exits with status 0 where a process's last thread ends, and counts the threads of this library and of
 * MPI, which would keep the process alive for ever. So a destructor of a thread's value (pthread_key_create(3); not run
 * by exit) tells when the thread that has called rma_init ends. It starts a thread that checks now and then whether any
 * thread of the program is left, and calls exit(0) in the C library's place if none is. */
#include "config.h"

#include "runtime/life/exit.h"
#include "base/error.h"
#include "base/process.h"
#include "runtime/header.h"
#include "runtime/interfaces.h"
#include "runtime/watch/stall.h"
#include "runtime/world.h"

#include <dirent.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ABORT_TIME     5         /* seconds */
#define LIST_STEP      20000000  /* nanoseconds between two lists of threads, at first, */
#define LIST_STEP_MOST 500000000 /* and at most */
#define STRANGERS_MOST 64

static struct {
    pid_t process;        /* that called rma_init: not a child made by fork */
    const char *began_by; /* the call that started the first interface that the program has to end */
    int registered;       /* the function of on_exit is registered, which is done only once, */
    int has_key;          /* and the key exists; the program may have used all keys */
    pthread_key_t key;    /* its value is not null in the thread that has called rma_init */
    int alone; /* before rma_init the process had one thread: threads that started during it are not the program's */
    int strangers[STRANGERS_MOST], n_strangers; /* their ids */
    int status;                                 /* the argument of exit, if rmai_world.exiting */
    int last_thread;                            /* it was called here, since no thread of the program was left */
    _Atomic int ending;                         /* the job is being ended already */
    int registered_before_mpi;                  /* so is note_passed, before MPI_Init; */
    int passed;                                 /* what MPI_Init has registered has been called */
    int launcher;                               /* MPICH's connection to Hydra, or -1, */
    dev_t launcher_dev;                         /* and what it is: MPICH 4.0 closes it, */
    ino_t launcher_ino;                         /* and another file may get its number */
} watched;

/* ---- ending the job ---- */

/* On a host that is cut off from the network MPI_Abort would wait for the launcher's answer for ever. */
static void set_abort_deadline(void) {
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm(ABORT_TIME);
}

/* With the arguments of a function of on_exit. */
static void let_launcher_read(int status, void *unused) {
    (void)status, (void)unused;
    rmai_process_let_read();
}

/* MPI_Abort writes a line of its own and calls exit. After each piece of text that Hydra 4.0 has passed on, it searches
 * for processes that have ended, and forgets their status: if the process was the host's only one, mpiexec returns 1
 * instead of the code (3 % of aborts on a busy machine). So the process lives on until the line is read. */
void rmai_exit_job(int code) {
    int initialized = 0, finalized = 0;
    watched.ending = 1;
    rmai_process_let_read();
    set_abort_deadline();
    on_exit(let_launcher_read, NULL);
    if (MPI_Initialized(&initialized) == MPI_SUCCESS && MPI_Finalized(&finalized) == MPI_SUCCESS && initialized &&
        !finalized)
        MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

/* ---- the end of the process ---- */

static int mpi_has_ended(void) {
    int finalized = 0;
    return MPI_Finalized(&finalized) == MPI_SUCCESS && finalized;
}

/* MPICH's function of atexit runs after this one, and tells the launcher if MPI has ended (tell_launcher). */
static void note_status(int status, void *unused) {
    (void)unused;
    if (!rmai_world.exiting && mpi_has_ended()) watched.launcher = -1;
    watched.status = status & 0xff;
    rmai_world.exiting = 1;
}

/* The exit status of the process, or -1. */
static int exit_status(void) { return rmai_world.exiting && watched.process == getpid() ? watched.status : -1; }

/* The program knows MPI only (rma_mpi). */
static int begun_by_mpi(void) { return strcmp(watched.began_by, "MPI_Init") == 0; }

static int begun_by_coarrays(void) { return strcmp(watched.began_by, RMA_COARRAYS_) == 0; }

/* OpenSHMEM or coarrays. */
static int may_leave(void) { return !begun_by_mpi() && strncmp(watched.began_by, "rma_", 4) != 0; }

/* consequence: words for what the library does now. */
static void note_unfinalized_end(const char *consequence) {
    const char *prefix = may_leave() ? "shmem" : "rma";
    int inits = rmai_world.inits, finalizes = inits - rmai_references(&rmai_world);
    char how[80], missing[80];
    if (watched.last_thread)
        strcpy(how, "the last thread of the program has ended");
    else
        snprintf(how, sizeof how, "exit(%d), or a return of it from main,", watched.status);
    if (begun_by_mpi())
        strcpy(missing, "without MPI_Finalize");
    else if (begun_by_coarrays())
        strcpy(missing, "without END PROGRAM or STOP of a program with coarrays");
    else if (strcmp(watched.began_by, "start_pes") == 0)
        strcpy(missing, "in a program of start_pes");
    else if (finalizes == 0)
        snprintf(missing, sizeof missing, "without %s_finalize", prefix);
    else
        snprintf(missing, sizeof missing, "with %d call%s of %s_finalize for %d of %s_init", finalizes,
                 finalizes == 1 ? "" : "s", prefix, inits, prefix);
    rmai_note("%s: %s %s; %s", rmai_error_who(), how, missing, consequence);
}

/* A process that exits in the middle of a wait, from a signal handler or in another thread, cannot take part in a
 * meeting. */
static int is_waiting(void) {
    struct rmai_sign sign;
    rmai_sign_read(&rmai_header(&rmai_world.job, rmai_world.job.node_my_pe)->sign, &sign);
    return sign.in[0] != 0;
}

void rma_aborting_(void) { watched.ending = 1; }

int rma_exits_normally_(void) {
    static int noted;
    if (exit_status() != 0 || watched.ending || !may_leave() || !rma_reach_.running || is_waiting()) return 0;
    if (rmai_world.job.my_pe == 0 && !noted)
        note_unfinalized_end(begun_by_coarrays() ? "its image stops now" : "the library calls it now");
    noted = 1;
    return 1;
}

void rma_watch_exit_(void) { on_exit(note_status, NULL); }

/* Hydra kills a job's processes if one ends without telling it that it ends well. MPICH from 4.2 on tells it in a
 * function of atexit that MPI_Init registers, and only if MPI has been finalized by then. A function that was
 * registered before MPI_Init, and a destructor, finalize later. Then the library tells Hydra, by its protocol (PMI 1).
 */
static void note_launcher(void) {
    const char *number = getenv("PMI_FD");
    struct stat is;
    watched.launcher = -1;
    if (!number || !getenv("HYDI_CONTROL_FD") || fstat(atoi(number), &is) != 0 || !S_ISSOCK(is.st_mode)) return;
    watched.launcher = atoi(number);
    watched.launcher_dev = is.st_dev;
    watched.launcher_ino = is.st_ino;
}

/* Called after the functions that MPI_Init has registered. In a constructor that is after the destructors. */
static void note_passed(int status, void *unused) {
    (void)status, (void)unused;
    watched.passed = 1;
}

static void register_before_mpi(void) {
    int initialized = 1;
    MPI_Initialized(&initialized);
    if (initialized || watched.registered_before_mpi) return;
    on_exit(note_passed, NULL);
    watched.registered_before_mpi = 1;
}

static void tell_launcher(void) {
    static const char end[] = "cmd=finalize\n";
    struct pollfd answer = {.fd = watched.launcher, .events = POLLIN};
    struct stat is;
    char text[64];
    if (!watched.passed || watched.launcher < 0 || fstat(watched.launcher, &is) != 0 ||
        is.st_dev != watched.launcher_dev || is.st_ino != watched.launcher_ino || !mpi_has_ended())
        return;
    if (send(watched.launcher, end, sizeof end - 1, MSG_NOSIGNAL) != (ssize_t)sizeof end - 1) return;
    if (poll(&answer, 1, ABORT_TIME * 1000) == 1) (void)!read(watched.launcher, text, sizeof text);
}

/* Priority 101: this is the last destructor of the library or, if it is linked statically, of the program.
 */
__attribute__((destructor(101))) static void end_unfinalized(void) {
    int code = watched.status ? watched.status : RMA_EXIT_BASE + RMA_ERR_STATE;
    char consequence[64];
    if (exit_status() < 0 || watched.ending) return;
    if (!rma_reach_.running) {
        tell_launcher();
        return;
    }
    /* MPI lets such a program end. */
    if (begun_by_mpi() && watched.status == 0) {
        if (rmai_world.job.my_pe == 0) note_unfinalized_end("MPI forbids this");
        rmai_process_let_read(); /* it ends the job when the first process has ended */
        return;
    }
    snprintf(consequence, sizeof consequence, "aborting the job with exit code %d", code);
    note_unfinalized_end(consequence);
    set_abort_deadline(); /* another thread may have locked a stream, and fflush would wait for ever */
    fflush(NULL);
    rmai_exit_job(code);
}

/* ---- the end of the last thread ---- */

/* 1 if the thread is not the program's: it is ours, or UCX's ("async", "fuse"), or started during rma_init, or has
 * ended. A thread in doubt counts as the program's: then the process just lives on. */
static int is_stranger(int tid) {
    char name[RMAI_PROCESS_NAME];
    int state = rmai_thread_state(tid, name);
    if (state == 0 || state == 'Z' || state == 'X') return 1; /* it has ended */
    if (strcmp(name, RMAI_THREAD_NAME) == 0 || strcmp(name, "async") == 0 || rmai_thread_is_of_fuse(name)) return 1;
    for (int i = 0; i < watched.n_strangers; i++)
        if (watched.strangers[i] == tid) return 1;
    return 0;
}

/* Calls visit with the id of each thread of the process until it returns 0. Returns 1 if it never has. */
static int visit_threads(int (*visit)(int tid)) {
    DIR *all = opendir("/proc/self/task");
    struct dirent *one;
    int every = all != NULL;
    while (every && (one = readdir(all)) != NULL)
        if (one->d_name[0] != '.') every = visit(atoi(one->d_name));
    if (all) closedir(all);
    return every;
}

static int is_the_caller_or_fuse(int tid) {
    char name[RMAI_PROCESS_NAME];
    return tid == (int)syscall(SYS_gettid) || !rmai_thread_state(tid, name) || rmai_thread_is_of_fuse(name);
}

static int add_stranger(int tid) {
    if (tid != (int)syscall(SYS_gettid) && watched.n_strangers < STRANGERS_MOST)
        watched.strangers[watched.n_strangers++] = tid;
    return 1;
}

/* While the list of threads is read, a thread may start another one and end, so that the list has neither. So it takes
 * two lists in a row without a thread of the program. */
static void *await_last_thread(void *unused) {
    long step = LIST_STEP;
    int found = 0;
    (void)unused;
    while (found < 2) {
        nanosleep(&(struct timespec){.tv_nsec = step}, NULL);
        if (!rma_reach_.running || rmai_world.exiting || watched.ending) return NULL;
        found = visit_threads(is_stranger) ? found + 1 : 0;
        step = found ? LIST_STEP : step * 2 < LIST_STEP_MOST ? step * 2 : LIST_STEP_MOST;
    }
    watched.last_thread = 1;
    exit(0);
}

static void init_thread_ends(void *unused) {
    pthread_t thread;
    (void)unused;
    if (watched.process != getpid() || !rma_reach_.running) return;
    if (rmai_thread(&thread, await_last_thread, NULL) == 0) pthread_detach(thread);
}

/* ---- when the runtime starts ---- */

void rmai_exit_begin(void) {
    register_before_mpi();
    watched.n_strangers = 0;
    watched.alone = visit_threads(is_the_caller_or_fuse);
}

void rmai_exit_user(const char *call) { watched.began_by = call; }

void rmai_exit_watch(void) {
    if (!watched.registered) {
        on_exit(note_status, NULL);
        watched.has_key = pthread_key_create(&watched.key, init_thread_ends) == 0;
        watched.registered = 1;
    }
    watched.process = getpid();
    note_launcher();
    rmai_exit_user(rmai_error_name("rma_init"));
    if (watched.alone) visit_threads(add_stranger);
    if (watched.has_key) pthread_setspecific(watched.key, &watched);
}
