/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/flow.h"

#include <stdlib.h>

#include "instruments/race/job.h"
#include "instruments/race/spin.h"

static struct race_flow **flows; /* by actor */

struct race_flow *race_flow_new(uint32_t actor, const void *context, int pe) {
    struct race_flow *f = calloc(1, sizeof *f), **none = NULL, **table;
    if (!f) return NULL;
    if (!__atomic_load_n(&flows, __ATOMIC_ACQUIRE)) {
        if (!(table = calloc(race_job.clocks, sizeof(struct race_flow *)))) {
            free(f);
            return NULL;
        }
        if (!__atomic_compare_exchange_n(&flows, &none, table, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) free(table);
    }
    f->actor = actor;
    f->thread = race_actor_thread(actor);
    f->context = context;
    f->pe = pe;
    __atomic_store_n(&flows[actor], f, __ATOMIC_RELEASE);
    return f;
}

void race_flow_share(struct race_flow *f) { __atomic_store_n(&f->thread, RACE_ANYBODY, __ATOMIC_RELAXED); }

const struct race_flow *race_flow_of(uint32_t actor) {
    struct race_flow *const *table = __atomic_load_n(&flows, __ATOMIC_ACQUIRE);
    return table ? __atomic_load_n(&table[actor], __ATOMIC_ACQUIRE) : NULL;
}

static uint32_t thread_of(const struct race_flow *f) { return __atomic_load_n(&f->thread, __ATOMIC_RELAXED); }

race_epoch race_flow_next(struct race_flow *f) {
    if (thread_of(f) == RACE_ANYBODY) return RACE_EPOCH(f->actor, __atomic_add_fetch(&f->last, 1, __ATOMIC_RELAXED));
    const uint32_t count = race_me->count; /* once: a signal handler may increase it */
    __atomic_store_n(&f->last, count, __ATOMIC_RELAXED);
    return RACE_EPOCH(f->actor, count);
}

uint32_t race_flow_known(const struct race_flow *f) {
    uint32_t last = __atomic_load_n(&f->last, __ATOMIC_RELAXED), thread = thread_of(f);
    if (thread == RACE_ANYBODY || thread == race_me->actor || race_me->clock[thread] > last) return last;
    return race_me->clock[thread];
}

/* Replaces the oldest fence when there is no room: it then counts as known to every thread. */
void race_flow_fence(struct race_flow *f, uint32_t to) {
    struct race_fence *e;
    race_spin_lock(&f->lock);
    if (!race_has_threads() || thread_of(f) == RACE_ANYBODY) {
        if (f->fenced < to) f->fenced = to;
    } else {
        e = &f->fences[f->n_fences % RACE_FENCES];
        if (e->to > f->fenced) f->fenced = e->to;
        *e = (struct race_fence){.thread = race_me->actor, .at = race_me->count, .to = to};
        f->n_fences++;
    }
    race_spin_unlock(&f->lock);
}

uint32_t race_flow_fenced_in_threads(const struct race_flow *f) {
    uint32_t to = __atomic_load_n(&f->fenced, __ATOMIC_RELAXED), *lock = &((struct race_flow *)(uintptr_t)f)->lock;
    race_spin_lock(lock);
    for (size_t i = 0; i < RACE_FENCES; i++)
        if (f->fences[i].to > to && race_me->clock[f->fences[i].thread] >= f->fences[i].at) to = f->fences[i].to;
    race_spin_unlock(lock);
    return to;
}
