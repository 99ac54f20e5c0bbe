/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions and tasks of OpenMP as places where threads deposit what they know. The order follows the OpenMP
 * specification 5.1: 2.6 (parallel), 2.12 (tasks), 2.19 (synchronization, taskgroup, depend). */
#include "config.h"

#include "instruments/race/openmp.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "instruments/race/clock.h"
#include "instruments/race/events.h"
#include "instruments/race/job.h"
#include "instruments/race/spin.h"
#include "instruments/race/threads.h"

/* A place where threads tell others what they know: everything that was told there so far. */
struct told {
    uint32_t lock;
    uint32_t *clock;
};

/* The caller calls race_tick when it has told all. */
static void tell(struct told *o) {
    if (!race_watches()) return;
    race_spin_lock(&o->lock);
    if (!o->clock) o->clock = calloc(race_job.clocks, sizeof *o->clock);
    if (o->clock) race_tell_clock(race_me, o->clock);
    race_spin_unlock(&o->lock);
}

static void tick(void) {
    if (race_watches()) race_tick(race_me);
}

static void hear(struct told *o) {
    if (!race_watches()) return;
    race_spin_lock(&o->lock);
    if (o->clock) race_join(race_me, o->clock);
    race_spin_unlock(&o->lock);
}

/* A variable on which tasks of one parent depend: what those tasks have told that had it as in, as out or inout, or as
 * inoutset. The variable without an address stands for all memory. */
struct variable {
    const void *address;
    struct told in, out, set;
    struct variable *next;
};

struct group {
    struct told told;
    struct group *outer;
};

struct race_region {
    struct told begin, end, ordered, reduced;
    struct told
        barriers[2]; /* alternating: a fast thread may enter the next barrier before a slow one has left this one */
    uint32_t lock;
    uint32_t waiting; /* race_meet: the waiting thread's ticket, or 0 */
    struct race_task *kept;
};

struct depend {
    struct variable *variable;
    enum race_depend kind;
};

struct race_task {
    struct race_task *parent; /* the task that created it; NULL: the program, or the task is implicit */
    struct race_region *region;
    struct group *group;
    uint32_t references; /* its own, and those of its children */
    unsigned barriers;   /* barriers that an implicit task has passed */
    int in_barrier;      /* 1: has entered a barrier and not left it */
    struct told start, children;
    struct depend *depends;
    size_t n_depends;
    uint32_t variables_lock;
    struct variable *variables; /* on which its children depend */
    struct race_task *next;     /* in region->kept */
};

/* What threads knew when they fulfilled events. Every thread that waits for tasks hears it. */
static struct told fulfilled;
static int any_fulfilled;

void race_event_fulfilled(void) {
    __atomic_store_n(&any_fulfilled, 1, __ATOMIC_RELAXED);
    tell(&fulfilled);
    tick();
}

static void hear_tasks(struct told *o) {
    hear(o);
    if (__atomic_load_n(&any_fulfilled, __ATOMIC_RELAXED)) hear(&fulfilled);
}

/* ---- regions ---- */

struct race_region *race_region_begin(void) {
    struct race_region *r;
    if (!race_watches() || !(r = calloc(1, sizeof *r))) return NULL;
    race_team_begins();
    tell(&r->begin);
    tick();
    return r;
}

void race_region_end(struct race_region *r) {
    if (!r) return;
    hear(&r->end);
    hear_tasks(&r->barriers[0]);
    hear(&r->barriers[1]);
    race_team_ends();
    while (r->kept) {
        struct race_task *t = r->kept;
        r->kept = t->next;
        race_task_release(t);
    }
    free(r->begin.clock);
    free(r->end.clock);
    free(r->ordered.clock);
    free(r->reduced.clock);
    free(r->barriers[0].clock);
    free(r->barriers[1].clock);
    free(r);
}

struct race_task *race_implicit_begin(struct race_region *r) {
    struct race_task *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->references = 1;
    t->region = r;
    if (!r) return t;
    if (!race_me) race_thread_of_runtime();
    hear(&r->begin);
    return t;
}

void race_implicit_end(struct race_task *t) { race_task_release(t); }

void race_region_leave(struct race_task *t) {
    if (!t || !t->region) return;
    tell(&t->region->end);
    tick();
}

void race_barrier_enter(struct race_task *t) {
    if (!t || !t->region) return;
    tell(&t->region->barriers[t->barriers & 1]);
    tick();
    t->in_barrier = 1;
}

void race_barrier_leave(struct race_task *t) {
    if (!t || !t->region) return;
    hear_tasks(&t->region->barriers[t->barriers++ & 1]);
    t->in_barrier = 0;
}

/* In a barrier a thread adds up what the others have deposited there; elsewhere the threads reduce one after the
 * other. */
static struct told *reductions(struct race_task *t) {
    return t->in_barrier ? &t->region->barriers[t->barriers & 1] : &t->region->reduced;
}

void race_reduction_begin(struct race_task *t) {
    if (t && t->region) hear(reductions(t));
}

void race_reduction_end(struct race_task *t) {
    if (!t || !t->region) return;
    tell(reductions(t));
    tick();
}

void race_ordered_begin(struct race_task *t) {
    if (t && t->region) hear(&t->region->ordered);
}

void race_ordered_end(struct race_task *t) {
    if (!t || !t->region) return;
    tell(&t->region->ordered);
    tick();
}

/* ---- parts that any thread may take ---- */

#define MEET_MOST_US  100000
#define MEETS_MOST_US 1000000
static int64_t waited_us; /* by all threads */

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void race_meet(const struct race_task *t) {
    static uint32_t tickets;
    struct race_region *r = t ? t->region : NULL;
    uint32_t ticket, none = 0;
    int64_t begun;
    if (!r || !race_watches() || __atomic_load_n(&waited_us, __ATOMIC_RELAXED) > MEETS_MOST_US) return;
    ticket = __atomic_add_fetch(&tickets, 1, __ATOMIC_RELAXED) | 1u << 31;
    if (!__atomic_compare_exchange_n(&r->waiting, &none, ticket, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        __atomic_store_n(&r->waiting, 0, __ATOMIC_RELAXED);
        return;
    }
    begun = now_us();
    while (__atomic_load_n(&r->waiting, __ATOMIC_RELAXED) == ticket && now_us() - begun < MEET_MOST_US) sched_yield();
    __atomic_compare_exchange_n(&r->waiting, &ticket, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_fetch_add(&waited_us, now_us() - begun, __ATOMIC_RELAXED);
}

/* ---- tasks ---- */

struct race_task *race_task_new(struct race_task *parent) {
    struct race_task *t;
    if (!race_watches() || !(t = calloc(1, sizeof *t))) return NULL;
    t->references = 1;
    t->parent = parent;
    if (parent) {
        __atomic_fetch_add(&parent->references, 1, __ATOMIC_RELAXED);
        t->region = parent->region;
        t->group = parent->group;
    }
    race_task_made(t);
    return t;
}

void race_task_made(struct race_task *t) {
    if (!t) return;
    tell(&t->start);
    tick();
}

/* The parent's record of a variable. Without a record: creates one if `make` is 1; NULL if not, or if memory is
 * exhausted. */
static struct variable *variable_of(struct race_task *parent, const void *address, int make) {
    struct variable *v;
    race_spin_lock(&parent->variables_lock);
    for (v = parent->variables; v && v->address != address;) v = v->next;
    if (!v && make && (v = calloc(1, sizeof *v))) {
        v->address = address;
        v->next = parent->variables;
        parent->variables = v;
    }
    race_spin_unlock(&parent->variables_lock);
    return v;
}

void race_task_depends(struct race_task *t, const void *address, enum race_depend kind) {
    struct depend *more;
    struct variable *v;
    if (!t || !t->parent || !(v = variable_of(t->parent, kind == RACE_DEPEND_ALL ? NULL : address, 1))) return;
    more = realloc(t->depends, (t->n_depends + 1) * sizeof *more);
    if (!more) return;
    more[t->n_depends++] = (struct depend){v, kind};
    t->depends = more;
}

static void hear_variable(struct variable *v, enum race_depend kind) {
    hear_tasks(&v->out);
    if (kind != RACE_DEPEND_SET) hear(&v->set);
    if (kind != RACE_DEPEND_IN) hear(&v->in);
}

/* Makes the thread know what the earlier tasks told on which t depends. */
static void hear_depends(struct race_task *t) {
    for (size_t i = 0; i < t->n_depends; i++) {
        struct depend *d = &t->depends[i];
        if (d->kind != RACE_DEPEND_ALL) {
            struct variable *all = variable_of(t->parent, NULL, 0);
            if (all) hear_tasks(&all->out);
            hear_variable(d->variable, d->kind);
            continue;
        }
        race_spin_lock(&t->parent->variables_lock);
        for (struct variable *v = t->parent->variables; v; v = v->next) hear_variable(v, RACE_DEPEND_OUT);
        race_spin_unlock(&t->parent->variables_lock);
    }
}

void race_task_start(struct race_task *t) {
    if (!t) return;
    hear(&t->start);
    hear_depends(t);
}

void race_task_done(struct race_task *t) {
    if (!t) return;
    for (size_t i = 0; i < t->n_depends; i++) {
        struct depend *d = &t->depends[i];
        tell(d->kind == RACE_DEPEND_IN    ? &d->variable->in
             : d->kind == RACE_DEPEND_SET ? &d->variable->set
                                          : &d->variable->out);
    }
    if (t->parent) tell(&t->parent->children);
    if (t->group) tell(&t->group->told);
    /* The task is complete before the next barrier; threads may differ about which barrier that is. */
    if (t->region) {
        tell(&t->region->barriers[0]);
        tell(&t->region->barriers[1]);
    }
    tick();
}

void race_task_release(struct race_task *t) {
    while (t && __atomic_sub_fetch(&t->references, 1, __ATOMIC_ACQ_REL) == 0) {
        struct race_task *parent = t->parent;
        while (t->variables) {
            struct variable *v = t->variables;
            t->variables = v->next;
            free(v->in.clock);
            free(v->out.clock);
            free(v->set.clock);
            free(v);
        }
        free(t->start.clock);
        free(t->children.clock);
        free(t->depends);
        free(t);
        t = parent;
    }
}

void race_task_keep(struct race_task *t) {
    if (!t || !t->region) return;
    race_spin_lock(&t->region->lock);
    t->next = t->region->kept;
    t->region->kept = t;
    race_spin_unlock(&t->region->lock);
}

/* ---- waiting for tasks ---- */

void race_taskwait(struct race_task *t) {
    if (t) hear_tasks(&t->children);
}

void race_depend_wait(struct race_task *t) {
    if (t) hear_depends(t);
}

void race_group_begin(struct race_task *t) {
    struct group *g;
    if (!t || !(g = calloc(1, sizeof *g))) return;
    g->outer = t->group;
    t->group = g;
}

void race_group_wait(struct race_task *t) {
    if (t && t->group) hear_tasks(&t->group->told);
}

void race_group_end(struct race_task *t) {
    struct group *g = t ? t->group : NULL;
    if (!g) return;
    hear_tasks(&g->told);
    t->group = g->outer;
    free(g->told.clock);
    free(g);
}
