/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow: what one thread's operations of one kind in one context do to one PE's memory. A flow is an actor (clock.h),
 * and the counts of its operations are those of its thread. So a thread that knows another one up to a count knows
 * which operations that one had begun by then, and its quiet and its fence concern these alone: the specification
 * leaves the order between threads of a PE to the program (notes to shmem_fence and shmem_quiet, OpenSHMEM 1.6). */
#ifndef RACE_FLOW_H
#define RACE_FLOW_H

#include <stdint.h>

#include "instruments/race/clock.h"

/* A fence: those threads that know `thread` up to `at` know that it comes after the flow's operations up to `to`. */
struct race_fence {
    uint32_t thread, at, to;
};

#define RACE_FENCES 8
struct race_flow {
    uint32_t actor;
    uint32_t thread;     /* its thread's actor, or RACE_ANYBODY */
    uint32_t last;       /* the count of its last operation; 0: there was none */
    const void *context; /* struct race_context */
    int pe;
    uint32_t fenced; /* what fences have ordered that every thread knows of */
    uint32_t lock;   /* protects the fences */
    struct race_fence fences[RACE_FENCES];
    unsigned n_fences;
};

/* When the job has no more actors, several threads and contexts share a flow. Its operations are counted one by one,
 * and every quiet and fence concerns all of them: this may hide a race, but invents none. */
#define RACE_ANYBODY UINT32_MAX

/* race_flow_new: NULL if memory is exhausted. race_flow_share: from now on the flow is anybody's. race_flow_of: the
 * flow of an actor; NULL if it is a thread, or belongs to another process. */
struct race_flow *race_flow_new(uint32_t actor, const void *context, int pe);
void race_flow_share(struct race_flow *f);
const struct race_flow *race_flow_of(uint32_t actor);

/* race_flow_next begins an operation of the calling thread, and returns its epoch. The thread must call race_tick
 * before its next operation. */
race_epoch race_flow_next(struct race_flow *f);

/* race_flow_known: the last operation that the calling thread knows to have begun. race_flow_fence: a fence of the
 * calling thread orders the operations up to `to` before later ones. race_flow_fenced: up to which operation the fences
 * that the calling thread knows of have ordered them. race_flow_last: the last operation that has begun. */
uint32_t race_flow_known(const struct race_flow *f);
static inline uint32_t race_flow_last(const struct race_flow *f) { return __atomic_load_n(&f->last, __ATOMIC_RELAXED); }
void race_flow_fence(struct race_flow *f, uint32_t to);
uint32_t race_flow_fenced_in_threads(const struct race_flow *f);
static inline uint32_t race_flow_fenced(const struct race_flow *f) {
    return f->n_fences ? race_flow_fenced_in_threads(f) : __atomic_load_n(&f->fenced, __ATOMIC_RELAXED);
}

#endif
