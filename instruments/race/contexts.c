/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/clock.h"
#include "instruments/race/job.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

static struct race_context standing, *others, *unused;
static uint32_t contexts_lock;

struct race_context *race_context_of(const void *handle) {
    struct race_context *x;
    if (!handle) return &standing;
    race_spin_lock(&contexts_lock);
    for (x = others; x && x->handle != handle;) x = x->next;
    race_spin_unlock(&contexts_lock);
    return x;
}

struct race_context *race_context_new(const void *handle, int n, const int *pes, race_epoch domain) {
    struct race_context *x;
    race_spin_lock(&contexts_lock);
    x = unused; /* with its flows */
    if (x) unused = x->next;
    race_spin_unlock(&contexts_lock);
    if (!x && !(x = calloc(1, sizeof *x))) return NULL;
    x->handle = handle;
    x->n = n;
    x->domain = domain;
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

static struct race_share *new_share(struct race_context *x) {
    struct race_share *s = calloc(1, sizeof *s + 3 * (size_t)race_job.n_pes * sizeof(struct race_flow *));
    if (!s) return NULL;
    s->thread = race_me->actor;
    s->next = __atomic_load_n(&x->shares, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&x->shares, &s->next, s, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) continue;
    return s;
}

/* A new flow. Those of the first thread in the default context have numbers of their own, so there are always enough:
 * when the others are used up, more than one thread uses such a flow. */
static struct race_flow *new_flow(struct race_context *x, enum race_kind kind, int pe) {
    static uint32_t lock;
    const uint32_t number = race_actor_standing(kind, race_job.my_pe, pe);
    const int first = x == &standing && race_me->actor == (uint32_t)race_job.my_pe;
    const uint32_t actor = first ? number : race_actor_new(kind, race_me->actor, x != &standing);
    struct race_flow *f;
    if (actor != UINT32_MAX && !first) return race_flow_new(actor, x, pe);
    race_spin_lock(&lock);
    f = (struct race_flow *)(uintptr_t)race_flow_of(number);
    if (!f) f = race_flow_new(number, &standing, pe);
    if (f && actor == UINT32_MAX) race_flow_share(f);
    race_spin_unlock(&lock);
    return f;
}

struct race_flow *race_context_flow(struct race_context *x, enum race_kind kind, int pe) {
    struct race_share *s = race_context_share(x);
    struct race_flow *f = s ? race_share_flow(s, kind, pe) : NULL;
    if (f || (!s && !(s = new_share(x))) || !(f = new_flow(x, kind, pe))) return f;
    __atomic_store_n(&s->flows[race_flow_index(kind, pe)], f, __ATOMIC_RELEASE);
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
    struct race_context *x;
    f(&standing, arg);
    race_spin_lock(&contexts_lock);
    for (x = others; x; x = x->next) f(x, arg);
    race_spin_unlock(&contexts_lock);
}

/* Adds to the clock what fences have ordered in the context's flows towards PE pe. */
static void add_fences(uint32_t *clock, const struct race_context *x, int pe) {
    for (const struct race_share *s = __atomic_load_n(&x->shares, __ATOMIC_ACQUIRE); s; s = s->next)
        for (enum race_kind kind = RACE_PUTS; kind <= RACE_SIGNALLED; kind++) {
            const struct race_flow *f = race_share_flow(s, kind, pe);
            uint32_t to = f ? race_flow_fenced(f) : 0;
            if (to && clock[f->actor] < to) clock[f->actor] = to;
        }
}

static void add_all_fences(struct race_context *x, void *clock) {
    for (int pe = 0; pe < race_job.n_pes; pe++) add_fences(clock, x, pe);
}

static void fences_into(uint32_t *clock, const void *context, int pe) {
    if (context)
        add_fences(clock, context, pe);
    else
        race_contexts_each(add_all_fences, clock);
}

const struct race_fenced race_no_fences, race_all_fences = {.into = fences_into};

struct race_fenced race_context_fences(const struct race_context *x, int pe) {
    for (const struct race_share *s = __atomic_load_n(&x->shares, __ATOMIC_ACQUIRE); s; s = s->next)
        for (enum race_kind kind = RACE_PUTS; kind <= RACE_SIGNALLED && s->thread != race_me->actor; kind++) {
            const struct race_flow *f = race_share_flow(s, kind, pe);
            if (f && race_flow_fenced(f) > race_me->clock[f->actor])
                return (struct race_fenced){.into = fences_into, .context = x, .pe = pe};
        }
    return race_no_fences;
}
