/* SPDX-License-Identifier: BSD-3-Clause */
/* A context as the detector sees it: the actors of its operations (clock.h). */
#ifndef RACE_CONTEXTS_H
#define RACE_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/race/clock.h"
#include "instruments/race/flow.h"
#include "instruments/race/job.h"

/* One thread's operations in a context. Entries stay: a later thread with the same actor uses them again. */
struct race_share {
    uint32_t thread; /* its actor */
    struct race_share *next;
    struct race_flow *flows[]; /* by kind and PE of the job (race_share_flow); NULL: no operation yet */
};

struct race_context {
    const void *handle;
    int private_pending; /* 1: operations use buffers in private memory */
    int n;               /* PEs of its team */
    int *pes;            /* their numbers in the job; NULL: the same as in the team */
    race_epoch domain;   /* of its atomics: RACE_SHARED_TEAM or 0 */
    struct race_share *shares;
    struct race_fetch {
        struct race_cell *cell;
        race_epoch mask;
    } * fetches; /* words whose values the next quiet delivers */
    size_t n_fetches, fetches_room;
    uint32_t fetches_lock;
    struct race_context *next;
};

/* race_context_of: the context of a handle (NULL: the default context), or NULL. */
struct race_context *race_context_of(const void *handle);
struct race_context *race_context_new(const void *handle, int n, const int *pes, race_epoch domain);
void race_context_end(struct race_context *x);

/* race_context_share: the calling thread's entry, or NULL. race_share_flow: an entry's flow of this kind to PE pe, or
 * NULL. race_context_flow: the calling thread's, which is created if there is none; NULL if memory is exhausted. */
static inline struct race_share *race_context_share(const struct race_context *x) {
    struct race_share *s = __atomic_load_n(&x->shares, __ATOMIC_ACQUIRE);
    while (s && s->thread != race_me->actor) s = s->next;
    return s;
}
static inline size_t race_flow_index(enum race_kind kind, int pe) {
    return (size_t)(kind - RACE_PUTS) * (size_t)race_job.n_pes + (size_t)pe;
}
static inline struct race_flow *race_share_flow(const struct race_share *s, enum race_kind kind, int pe) {
    return __atomic_load_n(&s->flows[race_flow_index(kind, pe)], __ATOMIC_ACQUIRE);
}
struct race_flow *race_context_flow(struct race_context *x, enum race_kind kind, int pe);

/* race_context_fetches records the word of a nonblocking fetching atomic; race_context_fetched, at the quiet, makes the
 * calling thread know what the writers of those words told. */
struct race_cell;
void race_context_fetches(struct race_context *x, struct race_cell *cell, race_epoch mask);
void race_context_fetched(struct race_context *x, int native);

/* Calls f for each context, under a lock. */
void race_contexts_each(void (*f)(struct race_context *x, void *arg), void *arg);

/* What race_publish adds: nothing; what fences of all contexts have ordered (docs/memory-model.md: a native fence
 * concerns all PEs); or (race_context_fences) what fences of a context have ordered towards PE pe in flows of other
 * threads. Those of the calling thread's flows are in struct race_operation. */
extern const struct race_fenced race_no_fences, race_all_fences;
struct race_fenced race_context_fences(const struct race_context *x, int pe);

#endif
