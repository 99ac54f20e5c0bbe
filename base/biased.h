/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock between two threads: the owner takes it all the time, the guest tries it now and then. The owner pays a load
 * and two stores and no locked instruction. Its side needs a memory barrier; the guest lets the kernel execute that
 * barrier on all processors (membarrier(2)), which costs a microsecond for each try. The owner may enter the lock
 * recursively. Another thread may become the owner, if the two threads are ordered with each other. */
#ifndef RMAI_BIASED_H
#define RMAI_BIASED_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/attributes.h"

/* All zero: free. */
struct rmai_biased {
    _Atomic uint32_t inside; /* how many times the owner has entered; only the owner writes it */
    _Atomic uint32_t guest;  /* 1: the guest is in, or is checking whether the owner is */
    _Atomic uint32_t wanted; /* 1: the owner waits for the guest to leave */
};

/* rmai_biased_works: 1 if the kernel supports the barrier. If not, use another lock. */
int rmai_biased_works(void);

/* The owner: enter waits for the guest to leave; try_enter returns 0 if the guest or the owner itself is in. */
void rmai_biased_await_(struct rmai_biased *b);
static inline uint32_t rmai_biased_inside(const struct rmai_biased *b) {
    return atomic_load_explicit(&b->inside, memory_order_relaxed);
}
static inline void rmai_biased_enter(struct rmai_biased *b) {
    const uint32_t inside = rmai_biased_inside(b);
    atomic_store_explicit(&b->inside, inside + 1, memory_order_relaxed);
    /* The compiler must not move the load before the store; the processor may: see rmai_biased_visit. The acquire pairs
     * with the guest's release when it leaves. */
    atomic_signal_fence(memory_order_seq_cst);
    if (inside == 0 && RMAI_UNLIKELY(atomic_load_explicit(&b->guest, memory_order_acquire))) rmai_biased_await_(b);
}
static inline void rmai_biased_leave(struct rmai_biased *b) {
    /* Release: the guest that reads 0 sees what the owner has done. */
    atomic_store_explicit(&b->inside, rmai_biased_inside(b) - 1, memory_order_release);
}
/* To leave what try_enter has entered: without reading `inside`, so that the next entry need not wait for this one. */
static inline void rmai_biased_leave_tried(struct rmai_biased *b) {
    atomic_store_explicit(&b->inside, 0, memory_order_release);
}
static inline int rmai_biased_try_enter(struct rmai_biased *b) {
    if (rmai_biased_inside(b)) return 0;
    atomic_store_explicit(&b->inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (RMAI_LIKELY(!atomic_load_explicit(&b->guest, memory_order_acquire))) return 1;
    atomic_store_explicit(&b->inside, 0, memory_order_release);
    return 0;
}

/* The guest: visit returns 0 if the owner is in. */
int rmai_biased_visit(struct rmai_biased *b);
void rmai_biased_end_visit(struct rmai_biased *b);

#endif
