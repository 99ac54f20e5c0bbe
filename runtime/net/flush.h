/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushes of MPI's window that last. MPI_Win_flush returns when the target has answered, and until then MPICH lets no
 * other thread of the process into MPI: a flush of a PE that stands still would be silent for ever, and nothing could
 * be asked of anybody. So whoever flushes says so in a few words of memory, and a thread that never enters MPI looks at
 * these, and says after RMA_STALL seconds which call waits for which PE. RMA_TIMEOUT seconds later it ends the process,
 * and so the job (runtime/net/blocking). */
#ifndef RMAI_FLUSH_H
#define RMAI_FLUSH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"

struct rmai_world;

/* Of a pending set, which has one flush at a time: whoever flushes holds its lock. */
struct rmai_flush {
    _Atomic unsigned version; /* odd while a flush lasts */
    const char *_Atomic call; /* the public call */
    _Atomic int pe;           /* -1: all PEs are flushed */
};

static inline void rmai_flush_begins(struct rmai_flush *f, const char *call, int pe) {
    unsigned version = atomic_load_explicit(&f->version, memory_order_relaxed);
    /* Release fence: who reads the new call or PE finds the version changed. Release store: who finds the odd version
     * reads them. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&f->call, rmai_error_name(call), memory_order_relaxed);
    atomic_store_explicit(&f->pe, pe, memory_order_relaxed);
    atomic_store_explicit(&f->version, version + 1, memory_order_release);
}

static inline void rmai_flush_ends(struct rmai_flush *f) {
    unsigned version = atomic_load_explicit(&f->version, memory_order_relaxed);
    atomic_store_explicit(&f->version, version + 1, memory_order_relaxed);
}

/* What another thread has read of a flush. */
struct rmai_flush_seen {
    uintptr_t handle; /* of the context whose set it is, or 0: none is under way */
    unsigned version;
    const char *call;
    int pe;
};

/* rmai_flush_read: 1 if f is under way; then the fields of *seen but `handle` are of one and the same flush. */
int rmai_flush_read(const struct rmai_flush *f, struct rmai_flush_seen *seen);

struct rmai_flush_watch {
    int running; /* the thread exists */
    _Atomic uint32_t ending;
    pthread_t thread;
};

/* rmai_flush_watch_start begins to watch, where MPI's window may be used. Without a thread for it nothing is watched:
 * that is no error. rmai_flush_watch_end ends it, if it runs. */
void rmai_flush_watch_start(struct rmai_world *w);
void rmai_flush_watch_end(struct rmai_world *w);

#endif
