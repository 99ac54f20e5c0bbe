/* SPDX-License-Identifier: BSD-3-Clause */
/* A note of the flush of MPI's window that is under way, which the watchdog reads (runtime/watch/watchdog). A pending
 * set has one at a time: the thread that flushes holds the set's lock. */
#ifndef RMAI_FLUSH_H
#define RMAI_FLUSH_H

#include <stdatomic.h>

#include "base/error.h"

struct rmai_flush {
    _Atomic unsigned version; /* odd while a flush lasts */
    const char *_Atomic call; /* the public call */
    _Atomic int pe;           /* -1: all PEs are flushed */
};

static inline void rmai_flush_begins(struct rmai_flush *f, const char *call, int pe) {
    unsigned version = atomic_load_explicit(&f->version, memory_order_relaxed);
    /* Release fence: a thread that reads the new call or PE finds the version changed. Release store: a thread that
     * finds the odd version reads them. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&f->call, rmai_error_name(call), memory_order_relaxed);
    atomic_store_explicit(&f->pe, pe, memory_order_relaxed);
    atomic_store_explicit(&f->version, version + 1, memory_order_release);
}

static inline void rmai_flush_ends(struct rmai_flush *f) {
    unsigned version = atomic_load_explicit(&f->version, memory_order_relaxed);
    atomic_store_explicit(&f->version, version + 1, memory_order_relaxed);
}

/* A flush as another thread has seen it. */
struct rmai_flush_seen {
    unsigned set; /* the id of the flush's pending set, or 0: none is under way */
    unsigned version;
    const char *call;
    int pe;
};

/* rmai_flush_read: 1 if f is under way; then all fields of *seen except `set` belong to one and the same flush. */
static inline int rmai_flush_read(const struct rmai_flush *f, struct rmai_flush_seen *seen) {
    seen->version = atomic_load_explicit(&f->version, memory_order_acquire);
    seen->call = atomic_load_explicit(&f->call, memory_order_relaxed);
    seen->pe = atomic_load_explicit(&f->pe, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* pairs with the release fence in rmai_flush_begins */
    return seen->version % 2 == 1 && atomic_load_explicit(&f->version, memory_order_relaxed) == seen->version;
}

#endif
