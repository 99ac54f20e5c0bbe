/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers call: the beginning and the end of each call of the library. */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/call_lists/call_site.h"
#include "instruments/trace/format.h"
#include "instruments/trace/ticks.h"

#define TRACE_SITES_MOST 8192
#define TRACE_RING       16384 /* events of a thread that are not yet written */

/* A thread of the program. The owner adds to the ring at head, the writer (instruments/trace/part.c) takes at tail.
 * Only the owner changes the counts; the writer may read them meanwhile. */
struct trace_thread {
    int inside; /* in a call of the library, whose own calls are not recorded */
    int number;
    uint64_t head, tail;
    struct trace_event *ring;
    struct trace_event now; /* the event under way: later calls may join it. count 0: none */
    uint64_t dropped, merged;
    uint32_t run_site; /* the last call's, and its target; how many calls in a row */
    int32_t run_pe;
    uint64_t run, same;  /* same: calls of this site in a row, to whomever */
    struct trace_poll {  /* the calls of a loop that may be a poll */
        uint64_t n, end; /* how many, and when the last one ended */
        uint32_t sites[2];
        int has_word; /* a call reads a word: its site, and the word */
        uint32_t site;
        int32_t pe;
        uint64_t addr;
    } poll;
    struct trace_sums *sums[TRACE_SITES_MOST];
    struct { /* the last sites, by the lower bits of their pc */
        uintptr_t pc;
        const char *name;
        uint32_t site;
    } last[256];
    int idle; /* its thread has ended: the next new thread takes this struct */
    struct trace_thread *next;
};

/* A thread's counts of a site. cells[i]: those of PEs from i * TRACE_GROUP. */
struct trace_sums {
    struct trace_use use;
    uint64_t written; /* use.count in the last chunk */
    struct trace_group {
        uint64_t written; /* calls that the last chunk had */
        struct trace_cells cells;
    } * groups[];
};

extern int trace_on; /* 1 between trace_open and trace_close, if something is recorded */
extern __thread struct trace_thread *trace_me;
extern struct trace_thread *trace_threads;

struct trace_thread *trace_thread_new(void);

/* trace_enter: the calling thread, if the call is to be recorded, else NULL: recording is off, or the library itself
 * calls. */
static inline struct trace_thread *trace_enter(void) {
    struct trace_thread *t = trace_me;
    if (!__atomic_load_n(&trace_on, __ATOMIC_RELAXED)) return NULL;
    if (!t && !(t = trace_thread_new())) return NULL;
    if (t->inside) return NULL;
    t->inside = 1;
    return t;
}

/* trace_leave records a call that began at `start`. pe is a number in the job. */
struct trace_done {
    enum trace_kind kind;
    int pe;
    const char *name; /* a literal */
    uintptr_t pc;
    uint64_t bytes, addr;
    uint32_t more;
};
void trace_leave(struct trace_thread *t, uint64_t start, const struct trace_done *done);

/* trace_heap records how much of the heaps is in use, trace_arrived a TRACE_ARRIVED
 * since `start`. */
void trace_heap(uint64_t bytes);
void trace_arrived(int pe, uint64_t start);

/* trace_record_flush gives an event under way to the writer. trace_site: what is known of site number i; NULL: no such
 * site. */
void trace_record_flush(struct trace_thread *t);
const struct trace_site *trace_site_of(uint32_t i);

/* Executes CALL between the two. The other arguments are evaluated only if the call is recorded. */
#define TRACE_CALL(KIND, NAME, PE, BYTES, ADDR, MORE, CALL)                                                            \
    do {                                                                                                               \
        struct trace_thread *thread_ = trace_enter();                                                                  \
        uint64_t start_ = thread_ ? trace_ticks() : 0;                                                                 \
        CALL;                                                                                                          \
        if (thread_)                                                                                                   \
            trace_leave(thread_, start_,                                                                               \
                        &(struct trace_done){.kind = (KIND),                                                           \
                                             .pe = (PE),                                                               \
                                             .name = (NAME),                                                           \
                                             .pc = CALLS_HERE,                                                         \
                                             .bytes = (uint64_t)(BYTES),                                               \
                                             .addr = (ADDR),                                                           \
                                             .more = (MORE)});                                                         \
    } while (0)

#endif
