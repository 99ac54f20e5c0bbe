/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "race/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "race/clock.h"
#include "race/job.h"
#include "race/shadow.h"
#include "race/spin.h"

static struct race_context standing, *others, *unused;
static uint32_t contexts_lock;

static struct race_flow **flows_of(struct race_context *x, enum race_kind kind) {
    return kind == RACE_PUTS ? &x->puts : kind == RACE_SIGNALLED ? &x->signalled : &x->pending;
}

/* The default context's actors follow from the PE's number: so a job that creates no contexts needs no further numbers.
 */
static int fill(struct race_context *x, int is_standing) {
    uint32_t n = (uint32_t)race_job.n_pes;
    for (enum race_kind kind = RACE_PUTS; kind <= RACE_PENDING; kind++) {
        struct race_flow *f = calloc(n, sizeof *f);
        if (!f) return -1;
        for (int pe = 0; pe < race_job.n_pes; pe++)
            f[pe].actor = is_standing ? race_actor_standing(kind, race_job.my_pe, pe) : UINT32_MAX;
        *flows_of(x, kind) = f;
    }
    return 0;
}

struct race_context *race_context_of(const void *handle) {
    struct race_context *x;
    if (!handle) {
        if (!standing.puts && fill(&standing, 1)) return NULL;
        return &standing;
    }
    race_spin_lock(&contexts_lock);
    for (x = others; x && x->handle != handle;) x = x->next;
    race_spin_unlock(&contexts_lock);
    return x;
}

struct race_context *race_context_new(const void *handle, int n, const int *pes) {
    struct race_context *x;
    race_context_of(NULL);
    race_spin_lock(&contexts_lock);
    x = unused; /* its actors keep their counts */
    if (x) unused = x->next;
    race_spin_unlock(&contexts_lock);
    if (!x) {
        x = calloc(1, sizeof *x);
        if (!x || fill(x, 0)) {
            free(x);
            return NULL;
        }
    }
    x->handle = handle;
    x->n = n;
    x->pes = NULL;
    if (pes && (x->pes = malloc((size_t)n * sizeof *pes))) memcpy(x->pes, pes, (size_t)n * sizeof *pes);
    race_spin_lock(&contexts_lock);
    x->next = others;
    others = x;
    race_spin_unlock(&contexts_lock);
    return x;
}

void race_context_end(struct race_context *x) {
    race_spin_lock(&contexts_lock);
    for (struct race_context **p = &others; *p; p = &(*p)->next)
        if (*p == x) {
            *p = x->next;
            break;
        }
    free(x->pes);
    x->pes = NULL;
    x->next = unused;
    unused = x;
    race_spin_unlock(&contexts_lock);
}

struct race_flow *race_context_flow(struct race_context *x, enum race_kind kind, int pe) {
    struct race_flow *f = &(*flows_of(x, kind))[pe];
    if (__atomic_load_n(&f->actor, __ATOMIC_ACQUIRE) == UINT32_MAX) {
        uint32_t other = race_actor_standing(kind, race_job.my_pe, pe), none = UINT32_MAX;
        uint32_t actor = race_actor_new(kind, other);
        if (actor == other) f->count = 1u << 30; /* the actor is shared: start above the default context's counts */
        /* If two threads both come first, one of them gives up its number. */
        __atomic_compare_exchange_n(&f->actor, &none, actor, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    return f;
}

void race_context_fetches(struct race_context *x, struct race_cell *cell, race_epoch mask) {
    race_spin_lock(&x->fetches_lock);
    if (x->n_fetches == x->fetches_room) {
        size_t room = x->fetches_room ? 2 * x->fetches_room : 16;
        struct race_fetch *more = realloc(x->fetches, room * sizeof *more);
        if (more) {
            x->fetches = more;
            x->fetches_room = room;
        }
    }
    if (x->n_fetches < x->fetches_room) x->fetches[x->n_fetches++] = (struct race_fetch){cell, mask};
    race_spin_unlock(&x->fetches_lock);
}

void race_context_fetched(struct race_context *x, int native) {
    race_spin_lock(&x->fetches_lock);
    for (size_t i = 0; i < x->n_fetches; i++) race_acquire(x->fetches[i].cell, x->fetches[i].mask, native);
    x->n_fetches = 0;
    race_spin_unlock(&x->fetches_lock);
}

void race_contexts_each(void (*f)(struct race_context *, void *), void *arg) {
    struct race_context *x = race_context_of(NULL);
    if (x) f(x, arg);
    race_spin_lock(&contexts_lock);
    for (x = others; x; x = x->next) f(x, arg);
    race_spin_unlock(&contexts_lock);
}

static void fences_of(struct race_context *x, void *arg) {
    uint32_t *clock = arg;
    for (int pe = 0; pe < race_job.n_pes; pe++)
        for (int k = 0; k < 2; k++) {
            const struct race_flow *f = k ? &x->signalled[pe] : &x->puts[pe];
            if (f->actor != UINT32_MAX && clock[f->actor] < f->fenced) clock[f->actor] = f->fenced;
        }
}

void race_fences_into(uint32_t *clock) { race_contexts_each(fences_of, clock); }
