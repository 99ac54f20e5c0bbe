/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP as gcc compiles it: the functions of libgomp that begin and end parallel regions, and order threads in them.
 * libgomp makes its threads once and lets them wait for the next region; each keeps its clock. */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "race/clock.h"
#include "race/events.h"
#include "race/job.h"
#include "race/threads.h"

#define EXPORT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* A parallel region. The addresses of its members are the objects by which its threads tell and hear. */
struct region {
    void (*function)(void *);
    void *data;
    char begin, end, barriers[2], single;
    int on;
};
static __thread struct region *region_now;
static __thread unsigned barriers_passed;

static void in_region(void *arg) {
    struct region *r = arg, *outer = region_now;
    unsigned passed = barriers_passed;
    if (!r->on) {
        r->function(r->data);
        return;
    }
    if (!race_me && race_job.on) {
        /* A new thread of libgomp's. It knows nothing until it hears of the region's begin. */
        struct race_thread *t = race_thread_new(RACE_NOBODY);
        if (t) race_thread_adopt(t);
    }
    region_now = r;
    barriers_passed = 0;
    race_hear(&r->begin);
    r->function(r->data);
    race_tell(&r->end);
    region_now = outer;
    barriers_passed = passed;
}

static void *find(const char *name) { return dlsym(RTLD_NEXT, name); }
#define CALL(RESULT, NAME, PARAMETERS, ...)                                                                            \
    static RESULT(*real) PARAMETERS;                                                                                   \
    if (!real) *(void **)(void *)&real = find(NAME);                                                                   \
    real(__VA_ARGS__)

static void begin(struct region *r) {
    r->on = race_watches();
    if (!r->on) return;
    race_team_begins();
    race_tell(&r->begin);
}

static void end(struct region *r) {
    if (!r->on) return;
    race_hear(&r->end);
    race_team_ends();
}

/* On the heap, so that two regions with the same stack frame have objects of their own while either is remembered. */
static struct region *new_region(void (*f)(void *), void *data) {
    struct region *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->function = f;
    r->data = data;
    begin(r);
    return r;
}

static void end_region(struct region *r) {
    end(r);
    race_object_gone(&r->begin), race_object_gone(&r->end), race_object_gone(&r->single);
    race_object_gone(&r->barriers[0]), race_object_gone(&r->barriers[1]);
    free(r);
}

EXPORT void GOMP_parallel(void (*f)(void *), void *data, unsigned n, unsigned flags) {
    struct region *r = new_region(f, data);
    CALL(void, "GOMP_parallel", (void (*)(void *), void *, unsigned, unsigned), in_region, r, n, flags);
    end_region(r);
}

EXPORT unsigned GOMP_parallel_reductions(void (*f)(void *), void *data, unsigned n, unsigned flags) {
    struct region *r = new_region(f, data);
    static unsigned (*real)(void (*)(void *), void *, unsigned, unsigned);
    unsigned threads;
    if (!real) *(void **)(void *)&real = find("GOMP_parallel_reductions");
    threads = real(in_region, r, n, flags);
    end_region(r);
    return threads;
}

EXPORT void GOMP_parallel_sections(void (*f)(void *), void *data, unsigned n, unsigned count, unsigned flags) {
    struct region *r = new_region(f, data);
    CALL(void, "GOMP_parallel_sections", (void (*)(void *), void *, unsigned, unsigned, unsigned), in_region, r, n,
         count, flags);
    end_region(r);
}

#define LOOP(NAME)                                                                                                     \
    EXPORT void NAME(void (*f)(void *), void *data, unsigned n, long first, long last, long step, long chunk,          \
                     unsigned flags) {                                                                                 \
        struct region *r = new_region(f, data);                                                                        \
        CALL(void, #NAME, (void (*)(void *), void *, unsigned, long, long, long, long, unsigned), in_region, r, n,     \
             first, last, step, chunk, flags);                                                                         \
        end_region(r);                                                                                                 \
    }
#define LOOP_UNCHUNKED(NAME)                                                                                           \
    EXPORT void NAME(void (*f)(void *), void *data, unsigned n, long first, long last, long step, unsigned flags) {    \
        struct region *r = new_region(f, data);                                                                        \
        CALL(void, #NAME, (void (*)(void *), void *, unsigned, long, long, long, unsigned), in_region, r, n, first,    \
             last, step, flags);                                                                                       \
        end_region(r);                                                                                                 \
    }
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
LOOP_UNCHUNKED(GOMP_parallel_loop_runtime)
LOOP_UNCHUNKED(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_UNCHUNKED(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* Barriers of a region, explicit or at the end of a loop. Two objects in turn, as in threads.c. */
#define BARRIER(NAME)                                                                                                  \
    EXPORT void NAME(void) {                                                                                           \
        const char *object = region_now ? &region_now->barriers[barriers_passed++ & 1] : NULL;                         \
        if (object) race_tell(object);                                                                                 \
        CALL(void, #NAME, (void), );                                                                                   \
        if (object) race_hear(object);                                                                                 \
    }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)

/* Critical sections, and atomics that are made of a lock. */
static char unnamed, atomics;
EXPORT void GOMP_critical_start(void) {
    CALL(void, "GOMP_critical_start", (void), );
    race_hear(&unnamed);
}
EXPORT void GOMP_critical_end(void) {
    race_tell(&unnamed);
    CALL(void, "GOMP_critical_end", (void), );
}
EXPORT void GOMP_critical_name_start(void **name) {
    CALL(void, "GOMP_critical_name_start", (void **), name);
    race_hear(name);
}
EXPORT void GOMP_critical_name_end(void **name) {
    race_tell(name);
    CALL(void, "GOMP_critical_name_end", (void **), name);
}
EXPORT void GOMP_atomic_start(void) {
    CALL(void, "GOMP_atomic_start", (void), );
    race_hear(&atomics);
}
EXPORT void GOMP_atomic_end(void) {
    race_tell(&atomics);
    CALL(void, "GOMP_atomic_end", (void), );
}

/* Ordered parts of loops come one after the other. */
EXPORT void GOMP_ordered_start(void) {
    CALL(void, "GOMP_ordered_start", (void), );
    if (region_now) race_hear(&region_now->single);
}
EXPORT void GOMP_ordered_end(void) {
    if (region_now) race_tell(&region_now->single);
    CALL(void, "GOMP_ordered_end", (void), );
}

/* Locks of OpenMP. */
#define LOCK(NAME, TELL)                                                                                               \
    EXPORT void NAME(void *lock) {                                                                                     \
        if (TELL) race_tell(lock);                                                                                     \
        CALL(void, #NAME, (void *), lock);                                                                             \
        if (!(TELL)) race_hear(lock);                                                                                  \
    }
LOCK(omp_set_lock, 0)
LOCK(omp_unset_lock, 1)
LOCK(omp_set_nest_lock, 0)
LOCK(omp_unset_nest_lock, 1)

#define TRY_LOCK(NAME)                                                                                                 \
    EXPORT int NAME(void *lock) {                                                                                      \
        static int (*real)(void *);                                                                                    \
        int taken;                                                                                                     \
        if (!real) *(void **)(void *)&real = find(#NAME);                                                              \
        taken = real(lock);                                                                                            \
        if (taken) race_hear(lock);                                                                                    \
        return taken;                                                                                                  \
    }
TRY_LOCK(omp_test_lock)
TRY_LOCK(omp_test_nest_lock)
