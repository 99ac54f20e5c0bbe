/* SPDX-License-Identifier: BSD-3-Clause */
/* The life cycle: the program's MPI_Init starts librma, its MPI_Finalize ends it; and memory of MPI_Alloc_mem. If the
 * program uses other interfaces of librma, windows begin with the first one that starts (runtime/interfaces.h,
 * rma_follow_).
 */
#include "config.h"

#include "interfaces/mpi/collectives.h"
#include "interfaces/mpi/hints.h"
#include "interfaces/mpi/kept_types.h"
#include "interfaces/mpi/state.h"
#include "interfaces/mpi/trial.h"
#include "interfaces/mpi/window.h"
#include "runtime/interfaces.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *text) {
    fprintf(stderr, "rma_mpi: %s\n", text);
    fflush(stderr);
    _exit(RMA_EXIT_BASE + RMA_ERR_LAUNCH);
}

/* ---- is it the right MPI, and has each process this library? ---- */

/* Ends the job if the program uses another MPI than the one for which this library was built. */
static void check_mpi(void) {
#ifdef MPICH_VERSION
    static const char *const built_for = "MPICH";
#else
    static const char *const built_for = "Open MPI";
#endif
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", text[512];
    int len;
    if (PMPI_Get_library_version(version, &len) == MPI_SUCCESS && strstr(version, built_for)) return;
    version[strcspn(version, "\n,")] = 0;
    snprintf(text, sizeof text,
             "the program uses '%.100s', but this librma was built for %s: use a build of the program for %s, or build "
             "librma with the program's MPI",
             version, built_for, built_for);
    die(text);
}

static void refuse_job(const char *text) __attribute__((noreturn));
static void refuse_job(const char *text) {
    fprintf(stderr, "rma_mpi: %s\n", text);
    rma_exit_(RMA_EXIT_BASE + RMA_ERR_LAUNCH);
}

/* Ends the job if a process of this host runs without this library: it would make its windows by MPI, and the job would
 * hang. MPI_Init has returned, so each process has executed its program by now. */
static void check_host(void) {
    char text[256];
    int pid = 0, rank = rma_without_("/librma_mpi.so", &pid);
    if (rank < 0) return;
    snprintf(text, sizeof text, "process %d of the job (pid %d) was started without rma_mpi: start all of them with it",
             rank, pid);
    refuse_job(text);
}

/* The same for processes of other hosts: each process sends a message to the next one; a process without this library
 * sends none. All processes are at the end of MPI_Init, so the messages arrive soon. */
#define SUSPICION 5.0  /* seconds until a silent process is named, */
#define CERTAINTY 30.0 /* and until the job ends */
static void check_hosts(void) {
    enum { TAG = 32767 };
    int me, n, from, done = 0, named = 0, code;
    MPI_Request request[2];
    MPI_Status status[2];
    double begin = PMPI_Wtime();
    char text[256];
    if (PMPI_Comm_rank(MPI_COMM_WORLD, &me) != MPI_SUCCESS || PMPI_Comm_size(MPI_COMM_WORLD, &n) != MPI_SUCCESS) return;
    from = (me + n - 1) % n;
    code = PMPI_Irecv(NULL, 0, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request[0]);
    if (code == MPI_SUCCESS) code = PMPI_Isend(NULL, 0, MPI_BYTE, (me + 1) % n, TAG, MPI_COMM_WORLD, &request[1]);
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Testall(2, request, &done, status);
        sched_yield();
        if (done || PMPI_Wtime() < begin + (named ? CERTAINTY : SUSPICION)) continue;
        snprintf(text, sizeof text,
                 "process %d of the job has not answered for %.0f s: was it started without rma_mpi?", from,
                 named ? CERTAINTY : SUSPICION);
        if (named++) refuse_job(text);
        fprintf(stderr, "rma_mpi: %s\n", text);
    }
}

/* ---- the life cycle ---- */

static int level = MPI_THREAD_SINGLE; /* the program's */
static int has_windows;               /* rmai_wins_open has been called */
static int holds;                     /* the program has called MPI_Init, and librma runs for its windows */
static int watched;                   /* MPI will call end_after_program */

/* Other libraries of the process may define MPI's calls too: that of OpenSHMEM, which lets a program begin and end
 * MPI and OpenSHMEM in any order, and tools. The dynamic linker has put them after this library. */
static void *next_mpi_function(const char *call) {
    void *next = dlsym(RTLD_NEXT, call);
    if (!next) die("the program has no MPI");
    return next;
}

static int next_init(int *argc, char ***argv, int required, int *provided) {
    int (*init)(int *, char ***, int, int *);
    *(void **)&init = next_mpi_function("MPI_Init_thread");
    return init(argc, argv, required, provided);
}

static int next_finalize(void) {
    int (*finalize)(void);
    *(void **)&finalize = next_mpi_function("MPI_Finalize");
    return finalize();
}

/* The levels of MPI in the order of enum rma_thread_level. */
static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

static int level_of_librma(int of_mpi) {
    int l = RMA_THREAD_MULTIPLE;
    while (l > RMA_THREAD_SINGLE && levels[l] > of_mpi) l--;
    return l;
}

static void end_windows(void) {
    if (rmai_win_running) rmai_kept_types_free();
    rmai_collectives_close();
    rmai_win_running = 0;
    if (has_windows) rmai_wins_close();
    has_windows = 0;
}

static void must(int code) {
    if (code == RMA_SUCCESS) return;
    fprintf(stderr, "rma_mpi: %s\n", rma_last_error());
    rma_exit_(RMA_EXIT_BASE + code);
}

/* librma has started, because of MPI_Init or of another interface of the program. */
static void begin_windows(void) {
    level = levels[rma_level_()];
    rmai_win_threads = level == MPI_THREAD_MULTIPLE;
    must(rmai_wins_open());
    must(rmai_collectives_open());
    has_windows = 1;
    if (rma_windows_info_() && rma_my_pe() == 0 && rmai_mpi_shifts())
        fprintf(stderr,
                "rma_mpi: without rma_mpi, this MPI returns wrong data from windows whose memory does not begin "
                "at a multiple of 16 bytes, as in MPI_Win_allocate of a size that is no multiple of 16\n");
    rmai_win_running = 1;
}

static void make_collectives_again(void) {
    if (has_windows) must(rmai_collectives_open());
}

__attribute__((constructor)) static void follow_runtime(void) {
    static const struct rma_follower_ follower = {begin_windows, end_windows, make_collectives_again};
    rma_follow_(&follower);
}

static const char *level_name(int of_mpi) {
    static const char *const names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                        "MPI_THREAD_MULTIPLE"};
    return names[level_of_librma(of_mpi)];
}

/* The program's windows end, if they have begun because of its MPI_Init. */
static void end_hold(void) {
    if (!holds) return;
    holds = 0;
    end_windows();
    rma_call_as_("MPI_Finalize");
    rma_finalize();
    rma_call_as_(NULL);
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the last one first (MPI-3.1, section 8.7.1). In the
 * functions of the program's attributes all of MPI works, so the windows end in that of an older attribute, which
 * MPI_Init has set. */
static int end_after_program(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    end_hold();
    return MPI_SUCCESS;
}

/* Returns 0 if MPI cannot. */
static int watch_end(void) {
    int keyval, code;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_after_program, &keyval, NULL) != MPI_SUCCESS) return 0;
    code = PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    PMPI_Comm_free_keyval(&keyval);
    return code == MPI_SUCCESS;
}

/* The program has called MPI_Init, so it has windows until it calls MPI_Finalize. If another interface has started
 * librma, its level counts: librma cannot let more threads in. */
static void hold_runtime(int required) {
    const int running = has_windows;
    int code;
    rma_call_as_("MPI_Init");
    code = rma_init_thread(level_of_librma(required), NULL);
    rma_call_as_(NULL);
    if (code != RMA_SUCCESS) rma_exit_(RMA_EXIT_BASE + code);
    holds = 1;
    watched = watch_end();
    if (running && required > level && rma_my_pe() == 0)
        fprintf(stderr,
                "rma_mpi: MPI_Init_thread asks for %s, but the program has started OpenSHMEM or rma.h before, for "
                "%s, which is the level of both: ask the first one for more\n",
                level_name(required), level_name(level));
}

RMAI_MPI_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int given, code, began = 0;
    if (PMPI_Initialized(&began) != MPI_SUCCESS) return MPI_ERR_OTHER;
    if (!began) check_mpi();
    code = next_init(argc, argv, required > MPI_THREAD_MULTIPLE ? required : MPI_THREAD_MULTIPLE, &given);
    if (code != MPI_SUCCESS) return code;
    if (!began) {
        check_host();
        check_hosts();
    }
    if (!rma_starting_()) {
        hold_runtime(required < given || began ? required : given);
        given = level;
    }
    if (provided) *provided = given;
    return MPI_SUCCESS;
}

/* MPI itself has a higher level, since librma serves other nodes in a thread of its own. The program is told the level
 * that it has asked for: below MPI_THREAD_MULTIPLE librma takes no locks. rma_init, which runs before, sees MPI's. */
RMAI_MPI_API int MPI_Query_thread(int *provided) {
    const int code = PMPI_Query_thread(provided);
    if (code == MPI_SUCCESS && rmai_win_running) *provided = level;
    return code;
}

RMAI_MPI_API int MPI_Init(int *argc, char ***argv) { return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, NULL); }

/* Other interfaces of the program may still need librma. OpenSHMEM then puts MPI's own end off, and with it the
 * functions of the program's attributes and the end of the windows. */
RMAI_MPI_API int MPI_Finalize(void) {
    if (!watched) end_hold();
    rma_mpi_ending_();
    return next_finalize();
}

RMAI_MPI_API int MPI_Abort(MPI_Comm comm, int code) {
    if (!rmai_win_running) return PMPI_Abort(comm, code);
    rma_aborting_();
    PMPI_Abort(MPI_COMM_WORLD, code); /* not comm: see abort_job */
    exit(code);                       /* MPICH from 4.2 on leaves that to its launcher, and returns */
}

/* ---- memory ---- */

RMAI_MPI_API int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr) {
    if (!rmai_win_running || size < 0 || !baseptr) return PMPI_Alloc_mem(size, info, baseptr);
    struct rma_hints hints = RMA_HINTS_NONE;
    hints.alignment = rmai_win_alignment(info);
    /* If the heap has no room, MPI may have some. */
    return rma_alloc_mem_hints(size ? (size_t)size : 1, &hints, baseptr) == RMA_SUCCESS
               ? MPI_SUCCESS
               : PMPI_Alloc_mem(size, info, baseptr);
}

RMAI_MPI_API int MPI_Free_mem(void *base) {
    if (!rma_is_own_block_(base)) return PMPI_Free_mem(base);
    if (rma_free_mem(base) == RMA_SUCCESS) return MPI_SUCCESS;
    fprintf(stderr, "rma_mpi: MPI_Free_mem: %s\n", rma_last_error());
    return MPI_ERR_BASE;
}
