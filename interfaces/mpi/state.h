/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of windows: handles, records and the directory of records. A window of n processes has one record for each
 * process, in that process's local heap, where the others of the window reach it by load and store or by messages.
 * `rmai_win_directory`, a symmetric array, says where the record of a window is on each PE: all processes of a window
 * agree on its place in the array. So a window needs no table of its processes. Only for those of this node a process
 * keeps where they are, because it will need it in nanoseconds; those of other nodes are looked up when they are
 * needed, and kept for a while.
 *
 * A handle (MPI_Win) is a number or an address that MPI itself never gives to a window. Whatever is no handle of ours
 * goes to MPI. */
#ifndef RMAI_MPI_STATE_H
#define RMAI_MPI_STATE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interfaces/mpi/recorded.h"
#include "rma.h"
#include "runtime/interfaces.h"

#define RMAI_WINS       16384 /* windows at a time */
#define RMAI_WIN_ROUNDS 24    /* of a barrier between nodes: for 2^24 nodes */

/* Defines a function of MPI's interface; the library exports nothing else. */
#define RMAI_MPI_API __attribute__((visibility("default")))

struct rmai_win_comm;
struct rmai_win_attribute;
struct rmai_win_outgrown;

/* A fair lock of readers and writers, with tickets: the upper half of a word counts writers, the lower half readers. A
 * writer waits until `out` is what `in` was, a reader until the writers in both are equal. Each word is one number that
 * only grows, and a lower half that wraps carries into the upper one. The carry comes first to `in`: then a reader
 * waits for the readers before it, once in 2^32 of them. It never comes too early: while a writer before it holds the
 * lock or waits, `out` is at most that writer's ticket, which is at least 2^32 below the reader's. After J.
 * Mellor-Crummey and M. Scott, "Scalable reader-writer synchronization for shared-memory multiprocessors", 1991. */
struct rmai_win_lock {
    uint64_t in, out;
    uint64_t all; /* processes that have the lock by MPI_Win_lock_all, or wait for it there; and RMAI_WIN_OPEN: a writer
                     that waits lets them in (locks.c) */
};
#define RMAI_WIN_WRITER (UINT64_C(1) << 32)
#define RMAI_WIN_READER UINT64_C(1)
#define RMAI_WIN_OPEN   (UINT64_C(1) << 63)

/* For reports: its owner waits in MPI_Win_lock_all, and has perhaps locked others; or it has locked all. */
#define RMAI_WIN_TAKES_ALL 1u
#define RMAI_WIN_HAS_ALL   2u

/* A piece of memory that is attached to a dynamic window, by its address in the owner's process. */
struct rmai_win_region {
    uint64_t from, to;
    rma_gptr_t start;
};

/* What its owner keeps for it. */
struct rmai_win_hold {
    void *held; /* for rma_unshare_ */
    uint64_t when;
};

struct rmai_win_empty {
    const void *at;
    uint64_t when;
};

/* What a process tells the others of a window. */
struct rmai_win_record {
    rma_gptr_t start;   /* of its memory; RMA_GPTR_NULL if size is 0 */
    uint64_t address;   /* of its memory, in its process; 0 of a dynamic window, whose displacements are addresses */
    uint64_t size;      /* in bytes */
    uint64_t unit;      /* of displacements, in bytes */
    rma_gptr_t regions; /* a dynamic window: its attached pieces, in the order of their addresses */
    uint64_t n_regions;
    uint64_t version;           /* of these two: odd while the owner changes them */
    uint32_t locked, locks_all; /* 1 + the rank that its owner has locked last, or 0; RMAI_WIN_..._ALL or 0 */
    _Alignas(64) struct rmai_win_lock lock;           /* of MPI_Win_lock */
    _Alignas(64) struct rmai_win_lock locked_updates; /* of types that librma lacks, and of loose elements */
    _Alignas(64) uint64_t completed;                  /* counts calls of MPI_Win_complete for this process */
    uint64_t posted;                                  /* a struct rmai_win_post for each process of other nodes that
                                                         has posted: a list */
    _Alignas(64) _Atomic uint32_t arrived;            /* the leader's: processes of this node that are in a fence, */
    _Alignas(64) struct rma_event_ over;              /* and how many fences are over, */
    int over_code;                                    /* RMA_SUCCESS, or why the last one failed between nodes */
    uint64_t round[RMAI_WIN_ROUNDS];                  /* the leader's: signals of other leaders */
    _Alignas(64) _Atomic uint32_t posts[];            /* how often each process of this node has posted for this one */
};

/* A process of the window, as this process sees it. */
struct rmai_win_peer {
    char *base;       /* its memory, by load and store, or NULL; */
    char *words;      /* the same for atomic updates (rma_apply_): NULL unless the memory is in a heap */
    uint64_t address; /* of its memory, in its process */
    uint64_t size;
    uint64_t unit;
    unsigned access; /* RMAI_WIN_..., the epoch in which this process may access it; 0: ask the window */
    int rank, pe;
    rma_gptr_t start;
    rma_gptr_t record_at;           /* where its record is, */
    struct rmai_win_record *record; /* and its address here, or NULL */
    rma_gptr_t posts_at;            /* where this process has posted for it, on another node; or RMA_GPTR_NULL */
    struct rmai_win_peer *next;     /* of the peers on other nodes */
};

enum rmai_win_rights {
    RMAI_WIN_SHARED = 1,    /* MPI_Win_lock, */
    RMAI_WIN_EXCLUSIVE = 2, /* of one of these kinds */
    RMAI_WIN_NOCHECK = 4,   /* with one of these, and without the lock */
    RMAI_WIN_STARTED = 8    /* MPI_Win_start */
};

#define RMAI_WIN_FAR 64 /* lists of peers on other nodes */

struct rmai_win {
    struct rmai_win_peer *near; /* by rmai_win_comm_slot */
    struct rmai_win_comm *comm; /* NULL: this place is free */
    unsigned open;              /* not 0: this process may access all processes (fence, lock_all) */
    unsigned lock_all;          /* MPI_Win_lock_all: 1; and without check: 2 */
    int locked;                 /* targets of MPI_Win_lock */
    int *started;               /* ranks of MPI_Win_start, */
    int n_started;              /* their number, or -1 */
    int n_exposed;              /* processes of MPI_Win_post, or -1; */
    uint64_t completed;         /* and how many calls of MPI_Win_complete this process has used before */
    uint32_t *posts_seen;       /* posts of processes of this node that a start has used */
    uint64_t fences;
    rma_gptr_t partner_records[RMAI_WIN_ROUNDS]; /* of a fence's rounds, or RMA_GPTR_NULL: ask */
    struct rmai_win_record *record;              /* this process's own */
    rma_gptr_t record_at;
    int number; /* in the directory */
    int flavor, model;
    void *base; /* this process's memory */
    MPI_Aint size;
    int unit;
    void *allocated;                 /* memory that MPI_Win_free frees, or NULL */
    void *held;                      /* memory that is attached (rma_share_), or NULL */
    struct rmai_win_region *regions; /* a dynamic window: where record->regions is, with room for `room`; */
    struct rmai_win_hold *holds;     /* what this process keeps for each; */
    size_t room;
    struct rmai_win_empty *empty; /* addresses where 0 bytes are attached */
    size_t n_empty;
    uint64_t attaches;                  /* so far: of two attachments at an address the later one is detached first */
    struct rmai_win_outgrown *outgrown; /* and the shorter arrays before, which others may still read */
    struct rmai_win_peer *far[RMAI_WIN_FAR]; /* peers on other nodes, by rank; */
    struct rmai_win_peer *last_far;          /* the one that was looked up last, or NULL: there are threads */
    int n_far;
    rma_gptr_t *far_records; /* records of all processes on other nodes, by rank; NULL before MPI_Win_lock_all */
    pthread_mutex_t mutex;   /* for `far` and the regions, see rmai_win_guard */
    struct rmai_win_attribute *attributes;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Win_errhandler_function *handle; /* the handler's function, or NULL for MPI's own */
    char name[MPI_MAX_OBJECT_NAME];
};

extern struct rmai_win *rmai_wins; /* RMAI_WINS places, or NULL */
extern rma_gptr_t *rmai_win_directory;

/* The handle of place i. MPICH numbers its windows 0xa0000000 and up; Open MPI's handles are addresses. */
#ifdef MPICH_VERSION
#define RMAI_WIN_FIRST 0x20000001u
static inline struct rmai_win *rmai_win_of(MPI_Win handle) {
    const unsigned i = (unsigned)handle - RMAI_WIN_FIRST;
    return i < RMAI_WINS && rmai_wins && rmai_wins[i].comm ? &rmai_wins[i] : NULL;
}
static inline MPI_Win rmai_win_handle(const struct rmai_win *w) {
    return (MPI_Win)(RMAI_WIN_FIRST + (unsigned)(w - rmai_wins));
}
#else
static inline struct rmai_win *rmai_win_of(MPI_Win handle) {
    const uintptr_t offset = (uintptr_t)handle - (uintptr_t)rmai_wins;
    struct rmai_win *w = (struct rmai_win *)(uintptr_t)handle;
    return rmai_wins && offset < RMAI_WINS * sizeof *w && w->comm ? w : NULL;
}
static inline MPI_Win rmai_win_handle(const struct rmai_win *w) { return (MPI_Win)(uintptr_t)w; }
#endif

/* 1 while the windows that the program makes are ours: while librma runs, but not after MPI has deleted the program's
 * attributes of MPI_COMM_SELF (interfaces/mpi/setup.c). At other times the calls go to MPI, as do those of a thread for
 * which rma_makes_window_. */
extern int rmai_win_running;

/* 1: several threads of the program may be in calls at once. rmai_win_guard and rmai_win_unguard take and release the
 * window's mutex then. */
extern int rmai_win_threads;
static inline void rmai_win_guard(struct rmai_win *w) {
    if (rmai_win_threads) pthread_mutex_lock(&w->mutex);
}
static inline void rmai_win_unguard(struct rmai_win *w) {
    if (rmai_win_threads) pthread_mutex_unlock(&w->mutex);
}

/* What this process has under way to other nodes, in bits. Short puts of the current epoch need no bit: their sources
 * are free, and they arrive before a signal to the same process, which ends the epoch without waiting for them.
 * UNFLUSHED: operations that such a signal may overtake, or whose buffers are in use. EARLIER_PUTS: such puts of
 * earlier epochs, which an operation of the first kind may overtake. The other bits count what sets these two, so that
 * a thread that has waited clears them only if no other thread has set one meanwhile. */
#define RMAI_WIN_UNFLUSHED    1u
#define RMAI_WIN_EARLIER_PUTS 2u
#define RMAI_WIN_BITS         3u
extern _Atomic unsigned rmai_win_under_way;

/* rmai_win_begins sets one of them. UNFLUSHED is set after the operation has begun: a thread that sees the bit, waits
 * and then clears it has waited for that operation (the release pairs with the acquire in complete_everywhere). */
static inline void rmai_win_begins(unsigned bit) {
    if (!rmai_win_threads) {
        const unsigned now = atomic_load_explicit(&rmai_win_under_way, memory_order_relaxed) | bit;
        atomic_store_explicit(&rmai_win_under_way, now, memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&rmai_win_under_way, RMAI_WIN_BITS + 1, memory_order_relaxed);
    atomic_fetch_or_explicit(&rmai_win_under_way, bit, memory_order_release);
}

/* rmai_win_overtakes is called before an operation of that kind on another node; then the operation begins, and
 * rmai_win_begins(RMAI_WIN_UNFLUSHED) follows. Returns an enum rma_error. */
static inline int rmai_win_overtakes(void) {
    unsigned now = atomic_load_explicit(&rmai_win_under_way, memory_order_acquire);
    int code;
    if (!(now & RMAI_WIN_EARLIER_PUTS)) return RMA_SUCCESS;
    code = rma_quiet();
    atomic_compare_exchange_strong_explicit(&rmai_win_under_way, &now, now & ~RMAI_WIN_EARLIER_PUTS,
                                            memory_order_relaxed, memory_order_relaxed);
    return code;
}

/* A communicator of this process alone that returns errors, to ask MPI whether an argument is valid. */
extern MPI_Comm rmai_win_self;

/* rmai_win_await completes a request of MPI in the public call `call`. Meanwhile it serves PEs of other nodes, and
 * watches the other PEs (rma_tests_turn_). Returns MPI's code. rmai_win_await_free is for requests of the program,
 * whose other processes may compute for as long as they like before they take part: it reports only those that are
 * stopped or do not answer. */
int rmai_win_await(const char *call, MPI_Request *request, MPI_Status *status);
int rmai_win_await_free(const char *call, MPI_Request *request, MPI_Status *status);

/* Around a call of MPI in which this thread may wait without serving anybody, so that the watchdog sees it. Each thread
 * has a note of its own, as long as there are notes; without one, or inside of another such call, it is not watched. */
#define RMAI_WIN_NOTES 64
extern struct rma_note_ rmai_win_notes[RMAI_WIN_NOTES];
int rmai_win_thread(void); /* a number of this thread */

static inline struct rma_note_ *rmai_win_note_begin(const char *call) {
    struct rma_note_ *note = &rmai_win_notes[rmai_win_threads ? rmai_win_thread() % RMAI_WIN_NOTES : 0];
    uint32_t version = __atomic_load_n(&note->version, __ATOMIC_RELAXED);
    if (version % 2) return NULL;
    /* The watchdog that reads the new call finds the version changed: pairs with the fence in read_note. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&note->call, call, __ATOMIC_RELAXED);
    if (!rmai_win_threads)
        __atomic_store_n(&note->version, version + 1, __ATOMIC_RELEASE);
    else if (!__atomic_compare_exchange_n(&note->version, &version, version + 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return NULL;
    return note;
}

static inline int rmai_win_note_end(struct rma_note_ *note, int code) {
    if (note) __atomic_store_n(&note->version, note->version + 1, __ATOMIC_RELAXED);
    return code;
}

/* In a function of MPI: returns what MPI's own function returns. */
#define RMAI_WIN_RETURN_MPI(call_of_mpi)                                                                               \
    do {                                                                                                               \
        struct rma_note_ *note_of_call = rmai_win_note_begin(__func__);                                                \
        return rmai_win_note_end(note_of_call, call_of_mpi);                                                           \
    } while (0)

#endif
