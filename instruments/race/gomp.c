/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP as gcc compiles it: wrappers of the functions of libgomp that begin and end parallel regions and tasks, and
 * order threads in them. Their arguments are those that the compiler passes; libgomp has no other interface. libgomp
 * creates its threads once and lets them wait for the next region; each thread keeps its clock. LLVM's runtime has
 * functions of the same names, for files that gcc has compiled; then ompt.c tells the same a second time, which does no
 * harm. */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/race/openmp.h"
#include "instruments/race/options.h"
#include "instruments/race/shadow.h"
#include "instruments/race/threads.h"

#define EXPORT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The task that this thread runs; NULL outside parallel regions. */
static __thread struct race_task *now;

/* The linker leaves libgomp out (--as-needed, Debian's default) where this library, which comes first, defines all
 * names that the program uses. */
static void *find(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    static void *gomp;
    if (found) return found;
    if (!gomp) gomp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
    found = gomp ? dlsym(gomp, name) : NULL;
    if (!found) {
        race_say("OpenMP's function %s is not there: %s", name, dlerror());
        abort();
    }
    return found;
}
#define REAL(RESULT, NAME, PARAMETERS)                                                                                 \
    static RESULT(*real) PARAMETERS;                                                                                   \
    if (!real) *(void **)(void *)&real = find(NAME)
#define CALL(RESULT, NAME, PARAMETERS, ...)                                                                            \
    REAL(RESULT, NAME, PARAMETERS);                                                                                    \
    real(__VA_ARGS__)

/* ---- regions ---- */

/* Allocated by the thread that meets the region. */
struct region {
    void (*function)(void *);
    void *data;
    struct race_region *region;
};

static void in_region(void *arg) {
    struct region r = *(struct region *)arg;
    struct race_task *outer = now;
    if (!r.region) {
        r.function(r.data);
        return;
    }
    now = race_implicit_begin(r.region);
    r.function(r.data);
    race_region_leave(now);
    race_implicit_end(now);
    now = outer;
}

static struct region *new_region(void (*f)(void *), void *data) {
    struct region *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->function = f;
    r->data = data;
    r->region = race_region_begin();
    return r;
}

static void end_region(struct region *r) {
    race_region_end(r->region);
    free(r);
}

EXPORT void GOMP_parallel(void (*f)(void *), void *data, unsigned n, unsigned flags) {
    struct region *r = new_region(f, data);
    CALL(void, "GOMP_parallel", (void (*)(void *), void *, unsigned, unsigned), in_region, r, n, flags);
    end_region(r);
}

EXPORT unsigned GOMP_parallel_reductions(void (*f)(void *), void *data, unsigned n, unsigned flags) {
    struct region *r = new_region(f, data);
    unsigned threads;
    REAL(unsigned, "GOMP_parallel_reductions", (void (*)(void *), void *, unsigned, unsigned));
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

/* Before a thread of several takes its next section, or its next part of a loop whose schedule leaves open who runs it.
 */
static void meet(void) {
    REAL(int, "omp_get_num_threads", (void));
    if (now && real && real() > 1) race_meet(now);
}

EXPORT unsigned GOMP_sections_next(void) {
    REAL(unsigned, "GOMP_sections_next", (void));
    meet();
    return real();
}

#define NEXT(NAME, TYPE)                                                                                               \
    EXPORT bool NAME(TYPE *first, TYPE *last) {                                                                        \
        REAL(bool, #NAME, (TYPE *, TYPE *));                                                                           \
        meet();                                                                                                        \
        return real(first, last);                                                                                      \
    }
#define NEXT_BOTH(SCHEDULE)                                                                                            \
    NEXT(GOMP_loop_##SCHEDULE##_next, long)                                                                            \
    NEXT(GOMP_loop_ull_##SCHEDULE##_next, unsigned long long)
NEXT_BOTH(dynamic)
NEXT_BOTH(guided)
NEXT_BOTH(runtime)
NEXT_BOTH(nonmonotonic_dynamic)
NEXT_BOTH(nonmonotonic_guided)
NEXT_BOTH(nonmonotonic_runtime)
NEXT_BOTH(maybe_nonmonotonic_runtime)

/* Barriers of a region, explicit or at the end of a loop. A cancellable barrier that returns true is not a barrier;
 * then all threads of the region go to its end. */
#define BARRIER(NAME)                                                                                                  \
    EXPORT void NAME(void) {                                                                                           \
        race_barrier_enter(now);                                                                                       \
        CALL(void, #NAME, (void), );                                                                                   \
        race_barrier_leave(now);                                                                                       \
    }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)

#define BARRIER_CANCEL(NAME)                                                                                           \
    EXPORT bool NAME(void) {                                                                                           \
        bool cancelled;                                                                                                \
        REAL(bool, #NAME, (void));                                                                                     \
        race_barrier_enter(now);                                                                                       \
        cancelled = real();                                                                                            \
        race_barrier_leave(now);                                                                                       \
        return cancelled;                                                                                              \
    }
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)
BARRIER_CANCEL(GOMP_sections_end_cancel)

EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    if (!cancelled) race_barrier_enter(now);
    CALL(void, "GOMP_workshare_task_reduction_unregister", (bool), cancelled);
    if (!cancelled) race_barrier_leave(now);
}

/* A single with copyprivate: the thread that gets NULL executes it. The others wait here for the data, which it passes
 * on at a barrier in GOMP_single_copy_end. */
EXPORT void *GOMP_single_copy_start(void) {
    void *data;
    REAL(void *, "GOMP_single_copy_start", (void));
    race_barrier_enter(now);
    data = real();
    if (data) race_barrier_leave(now);
    return data;
}
EXPORT void GOMP_single_copy_end(void *data) {
    race_barrier_enter(now);
    CALL(void, "GOMP_single_copy_end", (void *), data);
    race_barrier_leave(now);
}

/* Critical sections, and atomics that use a lock. */
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
    race_ordered_begin(now);
}
EXPORT void GOMP_ordered_end(void) {
    race_ordered_end(now);
    CALL(void, "GOMP_ordered_end", (void), );
}

/* Loops whose iterations wait for others (ordered with depend, or doacross). GOMP_doacross_wait has as many arguments
 * as the loop has dimensions; by the calling conventions the first six are in registers, whether they were passed or
 * not. Loops with more dimensions are not tracked. */
EXPORT void GOMP_doacross_post(long *counts) {
    race_ordered_end(now);
    CALL(void, "GOMP_doacross_post", (long *), counts);
}
EXPORT void GOMP_doacross_ull_post(unsigned long long *counts) {
    race_ordered_end(now);
    CALL(void, "GOMP_doacross_ull_post", (unsigned long long *), counts);
}
EXPORT void GOMP_doacross_wait(long a, long b, long c, long d, long e, long f) {
    CALL(void, "GOMP_doacross_wait", (long, ...), a, b, c, d, e, f);
    race_ordered_begin(now);
}
EXPORT void GOMP_doacross_ull_wait(unsigned long long a, unsigned long long b, unsigned long long c,
                                   unsigned long long d, unsigned long long e, unsigned long long f) {
    CALL(void, "GOMP_doacross_ull_wait", (unsigned long long, ...), a, b, c, d, e, f);
    race_ordered_begin(now);
}

/* ---- tasks ---- */

/* Bits of the argument `flags`. */
enum { TASK_DEPENDS = 1 << 3, LOOP_NO_GROUP = 1 << 11, LOOP_REDUCES = 1 << 12, TASK_DETACHES = 1 << 13 };

/* libgomp copies this instead of the task's data, which are `offset` bytes after it. libgomp reads and writes the first
 * words of the data, so they are here: the first and last iteration, or the event of a task with detach; and the
 * reductions of a taskloop. */
struct packet {
    long bounds[2];
    void *reduces;
    void (*function)(void *);
    void (*copy)(void *, void *);
    void *data; /* for copy */
    struct race_task *task;
    size_t offset, size;
    bool loop, detaches, deferred;
};

static void in_task(void *arg) {
    struct packet *p = arg;
    struct race_task *outer = now, *task = p->task;
    char *data = (char *)arg + p->offset;
    const size_t size = p->size;
    const bool loop = p->loop;
    if (loop && size) memcpy(data, p->bounds, sizeof p->bounds);
    if (p->detaches && size && !p->copy) memcpy(data, p->bounds, sizeof(void *));
    if (p->deferred) meet();
    now = task;
    race_task_start(task);
    p->function(data);
    race_forget_private((uintptr_t)data, size); /* libgomp frees it, and another thread may get it */
    race_task_done(task);
    now = outer;
    if (!loop) race_task_release(task);
}

static void copy_packet(void *to, void *from) {
    struct packet *p = from;
    memcpy(to, p, sizeof *p);
    race_forget_private((uintptr_t)to + p->offset, p->size);
    if (p->detaches) memcpy(p->data, p->bounds, sizeof(void *));
    p->copy((char *)to + p->offset, p->data);
    race_task_made(p->task);
}

/* The packet that replaces data, copy, size and alignment. NULL: no memory, or the task is not tracked. */
static struct packet *new_packet(void (*f)(void *), void *data, void (*copy)(void *, void *), long size, long *align) {
    const size_t a = *align > (long)_Alignof(struct packet) ? (size_t)*align : _Alignof(struct packet);
    const size_t offset = (sizeof(struct packet) + a - 1) / a * a, n = (size_t)size;
    struct packet *p = now ? aligned_alloc(a, (offset + n + a - 1) / a * a) : NULL;
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    p->function = f;
    p->copy = copy;
    p->data = data;
    p->offset = offset;
    p->size = n;
    *align = (long)a;
    if (!(p->task = race_task_new(now))) {
        free(p);
        return NULL;
    }
    if (!copy && n) memcpy((char *)p + offset, data, n);
    return p;
}

/* A list of addresses begins with their number, and the number of those that are out or inout, which come first. If the
 * first number is 0, four numbers follow: all, out or inout, mutexinoutset, in; after their addresses come those of
 * depend objects, each of which holds an address and its kind. */
static void depends(struct race_task *t, void **list) {
    const size_t all = (size_t)(list[0] ? list[0] : list[1]), out = (size_t)(list[0] ? list[1] : list[2]);
    const size_t mutex = list[0] ? 0 : (size_t)list[3], in = list[0] ? all - out : (size_t)list[4];
    void **address = list + (list[0] ? 2 : 5);
    for (size_t i = 0; i < all; i++) {
        enum race_depend kind = i < out + mutex ? RACE_DEPEND_OUT : RACE_DEPEND_IN;
        const void *variable = address[i];
        if (i >= out + mutex + in) {
            void *const *object = address[i];
            enum { IN = 1, SET = 5 };
            variable = object[0];
            kind = (uintptr_t)object[1] == IN    ? RACE_DEPEND_IN
                   : (uintptr_t)object[1] == SET ? RACE_DEPEND_SET
                                                 : RACE_DEPEND_OUT;
        }
        if (!variable && kind == RACE_DEPEND_OUT) kind = RACE_DEPEND_ALL;
        race_task_depends(t, variable, kind);
    }
}

EXPORT void GOMP_task(void (*f)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool deferred,
                      unsigned flags, void **depend, int priority, void *detach) {
    long a = align;
    struct packet *p = new_packet(f, data, copy, size, &a);
    REAL(void, "GOMP_task",
         (void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int, void *));
    if (!p) {
        real(f, data, copy, size, align, deferred, flags, depend, priority, detach);
        return;
    }
    p->detaches = (flags & TASK_DETACHES) != 0;
    p->deferred = deferred;
    if (flags & TASK_DEPENDS) depends(p->task, depend);
    real(in_task, p, copy ? copy_packet : NULL, (long)p->offset + size, a, deferred, flags, depend, priority, detach);
    free(p);
}

/* Here the tasks of a taskloop are one task, which many threads begin and end. */
#define TASKLOOP(NAME, TYPE)                                                                                           \
    EXPORT void NAME(void (*f)(void *), void *data, void (*copy)(void *, void *), long size, long align,               \
                     unsigned flags, unsigned long tasks, int priority, TYPE first, TYPE last, TYPE step) {            \
        struct race_task *t;                                                                                           \
        long a = align;                                                                                                \
        struct packet *p;                                                                                              \
        REAL(void, #NAME,                                                                                              \
             (void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned, unsigned long, int, TYPE,      \
              TYPE, TYPE));                                                                                            \
        if (!(flags & LOOP_NO_GROUP)) race_group_begin(now);                                                           \
        p = new_packet(f, data, copy, size, &a);                                                                       \
        if (!p) {                                                                                                      \
            real(f, data, copy, size, align, flags, tasks, priority, first, last, step);                               \
            if (!(flags & LOOP_NO_GROUP)) race_group_end(now);                                                         \
            return;                                                                                                    \
        }                                                                                                              \
        t = p->task;                                                                                                   \
        p->loop = true;                                                                                                \
        if (flags & LOOP_REDUCES) memcpy(&p->reduces, (char *)data + sizeof p->bounds, sizeof p->reduces);             \
        real(in_task, p, copy ? copy_packet : NULL, (long)p->offset + size, a, flags, tasks, priority, first, last,    \
             step);                                                                                                    \
        free(p);                                                                                                       \
        if (flags & LOOP_NO_GROUP) {                                                                                   \
            race_task_keep(t);                                                                                         \
        } else {                                                                                                       \
            race_group_end(now);                                                                                       \
            race_task_release(t);                                                                                      \
        }                                                                                                              \
    }
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

EXPORT void GOMP_taskwait(void) {
    CALL(void, "GOMP_taskwait", (void), );
    race_taskwait(now);
}
EXPORT void GOMP_taskwait_depend(void **list) {
    struct race_task *t = race_task_new(now);
    if (t) depends(t, list);
    CALL(void, "GOMP_taskwait_depend", (void **), list);
    race_depend_wait(t);
    race_task_release(t);
}
EXPORT void GOMP_taskgroup_start(void) {
    CALL(void, "GOMP_taskgroup_start", (void), );
    race_group_begin(now);
}
EXPORT void GOMP_taskgroup_end(void) {
    CALL(void, "GOMP_taskgroup_end", (void), );
    race_group_end(now);
}
EXPORT void omp_fulfill_event(uintptr_t event) {
    race_event_fulfilled();
    CALL(void, "omp_fulfill_event", (uintptr_t), event);
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
        int taken;                                                                                                     \
        REAL(int, #NAME, (void *));                                                                                    \
        taken = real(lock);                                                                                            \
        if (taken) race_hear(lock);                                                                                    \
        return taken;                                                                                                  \
    }
TRY_LOCK(omp_test_lock)
TRY_LOCK(omp_test_nest_lock)

#define FORGET_LOCK(NAME)                                                                                              \
    EXPORT void NAME(void *lock) {                                                                                     \
        CALL(void, #NAME, (void *), lock);                                                                             \
        race_object_gone(lock);                                                                                        \
    }
FORGET_LOCK(omp_destroy_lock)
FORGET_LOCK(omp_destroy_nest_lock)
