/* SPDX-License-Identifier: BSD-3-Clause */
/* A context as the detector sees it: the actors of its operations (clock.h). */
#ifndef RACE_CONTEXTS_H
#define RACE_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "race/clock.h"

struct race_flow {                 /* puts to one PE, or signalled data, or what only quiet completes */
    uint32_t actor, count, fenced; /* fenced: the last operation that a fence has ordered */
    uint32_t *told; /* in a job with threads: what all threads have told by this flow; its last operation tells it */
    uint32_t lock;
};

struct race_context {
    const void *handle;
    int private_pending;                          /* 1: operations use buffers in private memory */
    int n;                                        /* PEs of its team */
    int *pes;                                     /* their numbers in the job; NULL: the same as in the team */
    struct race_flow *puts, *signalled, *pending; /* by PE of the job; actor UINT32_MAX: no actor yet */
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
struct race_context *race_context_new(const void *handle, int n, const int *pes);
void race_context_end(struct race_context *x);

/* race_context_flow: the flow of this kind to PE pe, with an actor. */
struct race_flow *race_context_flow(struct race_context *x, enum race_kind kind, int pe);

/* race_context_fetches records the word of a nonblocking fetching atomic; race_context_fetched, at the quiet, makes the
 * calling thread know what the writers of those words told. */
struct race_cell;
void race_context_fetches(struct race_context *x, struct race_cell *cell, race_epoch mask);
void race_context_fetched(struct race_context *x, int native);

/* Calls f for each context, under a lock. */
void race_contexts_each(void (*f)(struct race_context *x, void *arg), void *arg);

/* race_fences_into adds to a clock what the fences of all contexts have ordered (race_publish). */
void race_fences_into(uint32_t *clock);

#endif
