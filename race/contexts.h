/* SPDX-License-Identifier: BSD-3-Clause */
/* A context as the detector sees it: the actors of what it has under way (clock.h). */
#ifndef RACE_CONTEXTS_H
#define RACE_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "race/clock.h"

struct race_flow {                 /* puts to one PE, or signalled data, or what only quiet completes */
    uint32_t actor, count, fenced; /* fenced: up to which one a fence has ordered */
    uint32_t *told; /* in a job with threads: what all threads have told by this flow. Its last operation tells it */
    uint32_t lock;
};

struct race_context {
    const void *handle;
    int private_pending;                          /* buffers in private memory are in use */
    int n;                                        /* PEs of its team, */
    int *pes;                                     /* and their numbers in the job; NULL: the same */
    struct race_flow *puts, *signalled, *pending; /* by PE of the job; actor UINT32_MAX: none yet */
    struct race_fetch {
        struct race_cell *cell;
        race_epoch mask;
    } * fetches; /* words whose values a quiet brings */
    size_t n_fetches, fetches_room;
    uint32_t fetches_lock;
    struct race_context *next;
};

/* race_context_of: the context of a handle (NULL: the standing one), or NULL. */
struct race_context *race_context_of(const void *handle);
struct race_context *race_context_new(const void *handle, int n, const int *pes);
void race_context_end(struct race_context *x);

/* race_context_flow: one of the three, to PE pe, with an actor. */
struct race_flow *race_context_flow(struct race_context *x, enum race_kind kind, int pe);

/* race_context_fetches remembers the word of a nonblocking atomic that fetches; race_context_fetched, at the quiet,
 * makes the calling thread know what the writers of those words told. */
struct race_cell;
void race_context_fetches(struct race_context *x, struct race_cell *cell, race_epoch mask);
void race_context_fetched(struct race_context *x, int native);

/* Each context, under a lock. */
void race_contexts_each(void (*f)(struct race_context *x, void *arg), void *arg);

/* race_fences_into: what the fences of all contexts have ordered, into a clock (race_publish). */
void race_fences_into(uint32_t *clock);

#endif
