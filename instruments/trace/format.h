/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of one PE, as it stands in its part file: what librma_trace writes and rma_trace reads.
 *
 * A part file is a sequence of chunks, each with a head. It is only appended to, so that what a job has written until
 * it was killed can be read: a chunk that is cut short ends the file. Counts are cumulative: a later chunk replaces an
 * earlier one of the same thread and site. Times are ticks (instruments/trace/ticks.h); TRACE_CLOCK chunks tell what
 * they mean. */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC   0x32454352u /* of this version */
#define TRACE_LENGTHS 40          /* histogram of lengths: [0] 0 bytes, [i] below 2^i bytes */
#define TRACE_TIMES   40          /* histogram of ticks, likewise */
#define TRACE_GROUP   64          /* PEs whose cells are written together */
#define TRACE_NAME    48

/* What a call does. The class of a kind (trace_class) decides to which part of a PE's time it belongs. */
enum trace_kind {
    TRACE_PUT,
    TRACE_PUT_NBI,
    TRACE_GET,
    TRACE_GET_NBI,
    TRACE_FETCH,      /* an atomic that only reads */
    TRACE_ATOMIC,     /* any other one; also an accumulate */
    TRACE_PUT_SIGNAL, /* a put and an atomic */
    TRACE_PUT_SIGNAL_NBI,
    TRACE_SIGNAL, /* the atomic alone */
    TRACE_QUIET,
    TRACE_FENCE,
    TRACE_WAIT,
    TRACE_TEST,
    TRACE_LOCK,
    TRACE_UNLOCK,
    TRACE_COLLECTIVE, /* nobody leaves before all have entered */
    TRACE_FROM_ROOT,  /* nobody leaves before the root has entered */
    TRACE_TO_ROOT,    /* the root does not leave before all have entered */
    TRACE_MEMORY,     /* allocation by one PE */
    TRACE_KINDS,
    TRACE_HEAP = TRACE_KINDS, /* no call: bytes of the heaps in use from now on */
    TRACE_ARRIVED             /* no call: the PE has arrived where PE `pe` (-1: every PE) may wait for it */
};
enum trace_class { TRACE_MOVING, TRACE_WAITING, TRACE_MEETING, TRACE_OTHER, TRACE_CLASSES };

static inline enum trace_class trace_class(unsigned kind) {
    if (kind <= TRACE_FENCE) return TRACE_MOVING;
    if (kind <= TRACE_UNLOCK) return TRACE_WAITING;
    return kind <= TRACE_TO_ROOT ? TRACE_MEETING : TRACE_OTHER;
}

enum trace_chunk_kind {
    TRACE_HEAD = 1, /* struct trace_head, once */
    TRACE_MODULES,  /* lines "BASE END BIAS FILE", hexadecimal; a later chunk replaces an earlier one */
    TRACE_CLOCK,    /* struct trace_clock */
    TRACE_SITES,    /* struct trace_site, new ones */
    TRACE_EVENTS,   /* struct trace_event, of thread `which`, in the order in which they ended */
    TRACE_USE,      /* struct trace_use of thread `which` */
    TRACE_CELLS,    /* struct trace_cells of thread `which` */
    TRACE_END       /* struct trace_end: the PE has finalized, or its process has ended */
};

struct trace_chunk {
    uint32_t magic;
    uint16_t kind, which;
    uint64_t len; /* of what follows, a multiple of 8 */
};

struct trace_head {
    uint64_t job; /* the same in all parts of a job, different in other jobs */
    int32_t pe, n_pes;
    int32_t node;            /* the lowest PE of its node */
    int32_t stats;           /* RMA_STATS=yes: the library's own counters are complete */
    int32_t inlined, pad;    /* 1: the program has inlined calls, which are not seen */
    uint64_t ticks;          /* the beginning */
    uint64_t heap, heap_len; /* the PE's symmetric part; an address in it is told as its offset */
    uint64_t limit;          /* bytes of events that the part may have */
    char host[64], program[1024];
};

/* PE 0's monotonic clock was `ns` + `ahead` nanoseconds when this PE's had `ns`, and its ticks were `ticks`. error:
 * half the time of the fastest exchange, 0 on PE 0's node; -1: not compared with PE 0's clock. */
struct trace_clock {
    uint64_t ticks;
    int64_t ns, ahead, error;
};

struct trace_site {
    uint64_t pc; /* the return address */
    uint32_t site, kind;
    char name[TRACE_NAME];
};

/* A call, or `count` short calls of a site that follow each other closely. pe: the target, or the root; -1: none, -2:
 * several. addr: for calls on remote memory its place: an offset in the symmetric heap, or an address above
 * TRACE_ABSOLUTE; for collectives the members of the team, as a hash. more: the context; for collectives which of this
 * team it is. */
#define TRACE_ABSOLUTE    ((uint64_t)1 << 63)
#define TRACE_NOWHERE     UINT64_MAX          /* unknown, or several places */
#define TRACE_ARRIVALS    (UINT64_MAX - 8)    /* the place of waits for PEs that arrive (TRACE_ARRIVED) */
#define TRACE_EVENT_PLACE ((uint64_t)3 << 62) /* places of events of coarrays */
#define TRACE_WINDOW_PLACE                                                                                             \
    ((uint64_t)1 << 62) /* places in MPI's windows: a hash of the window and the displacement                          \
                         */
struct trace_event {
    uint64_t start, span; /* ticks from the first call's beginning to the last one's end */
    uint64_t busy;        /* ticks in the calls */
    uint64_t bytes, addr;
    uint32_t site; /* TRACE_NO_SITE: no call */
    int32_t pe;
    uint32_t count, more;
    uint32_t kind, pad;
};
#define TRACE_NO_SITE UINT32_MAX

/* Calls that a loop repeats until another PE has changed a word: they read it, or complete what has read it. If more
 * than TRACE_POLLS of them follow each other, of at most two sites and for one word, then the further ones are a wait,
 * an event of the kind TRACE_WAIT. Its addr is TRACE_ANYWHERE if they complete only: the word is one of the PE's own
 * memory. */
static inline int trace_reads(unsigned kind, uint64_t bytes) {
    return kind == TRACE_QUIET || kind == TRACE_FETCH || ((kind == TRACE_GET || kind == TRACE_GET_NBI) && bytes <= 16);
}
#define TRACE_POLLS    32
#define TRACE_ANYWHERE (UINT64_MAX - 16)

/* Whether the records of several PEs are compared by such events: they are the last to be dropped. */
static inline int trace_is_compared(unsigned kind) {
    return (kind >= TRACE_PUT_SIGNAL && kind <= TRACE_SIGNAL) || kind == TRACE_WAIT || kind == TRACE_LOCK ||
           kind == TRACE_ARRIVED || trace_class(kind) == TRACE_MEETING;
}

/* What a thread has done at a site: exact. */
struct trace_use {
    uint32_t site, pad;
    uint64_t count, bytes, ticks, ticks_most;
    uint64_t run_calls,
        run_ticks;     /* in runs of more than TRACE_RUN calls of the site to the same PE, nothing between */
    uint64_t run_most; /* the longest run */
    uint64_t poll_ticks, poll_busy; /* in polls: with the time between the calls; in the calls */
    uint64_t lengths[TRACE_LENGTHS], times[TRACE_TIMES];
};
#define TRACE_RUN 16

struct trace_cell {
    uint64_t count, bytes, ticks;
};
struct trace_cells { /* of the targets from first to first + TRACE_GROUP - 1 */
    uint32_t site, first;
    struct trace_cell cell[TRACE_GROUP];
};

struct trace_end {
    uint64_t ticks;
    uint64_t recorded, dropped; /* events, not calls */
    uint64_t delayed;           /* nanoseconds for which the process's first thread waited for a processor */
    uint64_t stats[5];          /* the library's: puts, bytes, gets, bytes, atomics */
    int32_t finalized, pad;
};

#endif
