/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP as clang compiles it: LLVM's runtime, libomp, tells a tool what its threads do (OMPT, chapter 4 of the OpenMP
 * specification 5.1). When it starts, it calls ompt_start_tool, which it finds here, since librma_race is linked before
 * it or preloaded. gcc's runtime never makes this call.
 *
 * Three things are surprising:
 *
 *   - A thread of the runtime may leave the barrier at the end of a region only when the next region begins, and then
 * the region is gone. The runtime gives no region with that event, so it is ignored.
 *   - The runtime releases a mutex before it reports the event. So a thread that has acquired the mutex waits here
 * until the previous holder has told what it knows.
 *   - The runtime owns the memory of tasks. It reuses this memory for other tasks without an order in the program. */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/ompt.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "instruments/race/events.h"
#include "instruments/race/job.h"
#include "instruments/race/openmp.h"
#include "instruments/race/options.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"
#include "instruments/race/threads.h"

#define EXPORT __attribute__((visibility("default")))

static race_ompt_get_task_memory *get_task_memory;

/* ---- regions ---- */

static void parallel_begin(race_ompt_data *task, const void *frame, race_ompt_data *parallel, unsigned threads,
                           int flags, const void *code) {
    (void)task, (void)frame, (void)threads, (void)flags, (void)code;
    parallel->ptr = race_region_begin();
}

static void parallel_end(race_ompt_data *parallel, race_ompt_data *task, int flags, const void *code) {
    (void)task, (void)flags, (void)code;
    race_region_end(parallel->ptr);
    parallel->ptr = NULL;
}

/* The calling thread's part of its innermost region, for race_meet; NULL after a nested one. */
static __thread struct race_task *part;

/* Initial tasks have no region. */
static void implicit_task(int endpoint, race_ompt_data *parallel, race_ompt_data *task, unsigned threads,
                          unsigned index, int flags) {
    (void)index, (void)flags;
    if (endpoint == RACE_OMPT_BEGIN) {
        part = task->ptr = race_implicit_begin(parallel ? parallel->ptr : NULL);
        if (threads < 2) part = NULL;
    } else {
        part = NULL;
        race_implicit_end(task->ptr);
        task->ptr = NULL;
    }
}

static void sync_region(int kind, int endpoint, race_ompt_data *parallel, race_ompt_data *task, const void *code) {
    struct race_task *t = task ? task->ptr : NULL;
    const int begins = endpoint == RACE_OMPT_BEGIN;
    (void)code;
    if (kind == RACE_OMPT_TASKWAIT) {
        if (!begins) race_taskwait(t);
    } else if (kind == RACE_OMPT_TASKGROUP) {
        begins ? race_group_begin(t) : race_group_end(t);
    } else if (kind != RACE_OMPT_SYNC_REDUCTION) {
        if (begins)
            race_barrier_enter(t);
        else if (parallel)
            race_barrier_leave(t);
    }
}

/* The functions that give a thread its next part of a loop; OMPT of LLVM 14 has no event for it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define NEXT(NAME, TYPE, SIGNED)                                                                                       \
    EXPORT int NAME(void *where, int32_t thread, int32_t *last, TYPE *lower, TYPE *upper, SIGNED *stride) {            \
        static int (*real)(void *, int32_t, int32_t *, TYPE *, TYPE *, SIGNED *);                                      \
        if (!real) *(void **)(void *)&real = dlsym(RTLD_NEXT, #NAME);                                                  \
        race_meet(part);                                                                                               \
        return real(where, thread, last, lower, upper, stride);                                                        \
    }
NEXT(__kmpc_dispatch_next_4, int32_t, int32_t)
NEXT(__kmpc_dispatch_next_4u, uint32_t, int32_t)
NEXT(__kmpc_dispatch_next_8, int64_t, int64_t)
NEXT(__kmpc_dispatch_next_8u, uint64_t, int64_t)
#pragma GCC diagnostic pop

/* The tasks of a group are over when the wait at its end is over: then their reductions are added up. */
static void sync_region_wait(int kind, int endpoint, race_ompt_data *parallel, race_ompt_data *task, const void *code) {
    (void)parallel, (void)code;
    if (kind == RACE_OMPT_TASKGROUP && endpoint == RACE_OMPT_END && task) race_group_wait(task->ptr);
}

/* The hook of fences (atomics.c). */
void __tsan_atomic_thread_fence(int order);
static void flush(race_ompt_data *thread, const void *code) {
    (void)thread, (void)code;
    __tsan_atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- tasks ---- */

static void task_create(race_ompt_data *parent, const void *frame, race_ompt_data *task, int flags, int has_dependences,
                        const void *code) {
    (void)frame, (void)has_dependences, (void)code;
    if (!(flags & (RACE_OMPT_EXPLICIT | RACE_OMPT_TARGET | RACE_OMPT_TASKWAIT_TASK))) return;
    task->ptr = race_task_new(parent ? parent->ptr : NULL);
}

static void dependences(race_ompt_data *task, const struct race_ompt_dependence *list, int n) {
    struct race_task *t = task ? task->ptr : NULL;
    for (int i = 0; i < n; i++) {
        const void *address = list[i].variable.ptr;
        switch (list[i].type) {
            case RACE_OMPT_IN: race_task_depends(t, address, RACE_DEPEND_IN); break;
            case RACE_OMPT_INOUTSET: race_task_depends(t, address, RACE_DEPEND_SET); break;
            case RACE_OMPT_OUT_ALL:
            case RACE_OMPT_INOUT_ALL: race_task_depends(t, NULL, RACE_DEPEND_ALL); break;
            case RACE_OMPT_SOURCE: race_ordered_end(t); return; /* one event for all dimensions of a loop */
            case RACE_OMPT_SINK: race_ordered_begin(t); return;
            default: race_task_depends(t, address, RACE_DEPEND_OUT);
        }
    }
}

/* Forgets accesses to the memory of the task that the calling thread ends. */
static void forget_task_memory(void) {
    void *address = NULL;
    size_t size = 0;
    int more = get_task_memory != NULL;
    for (int block = 0; more; block++) {
        more = get_task_memory(&address, &size, block);
        if (address && size) race_forget_private((uintptr_t)address, size);
    }
}

static void task_schedule(race_ompt_data *prior, int status, race_ompt_data *next) {
    switch (status) {
        case RACE_OMPT_EARLY_FULFILL:
        case RACE_OMPT_LATE_FULFILL: race_event_fulfilled(); return;
        case RACE_OMPT_TASKWAIT_COMPLETE:
            race_depend_wait(prior->ptr);
            race_task_release(prior->ptr);
            prior->ptr = NULL;
            return;
        case RACE_OMPT_COMPLETE:
        case RACE_OMPT_CANCEL:
        case RACE_OMPT_DETACH:
            if (prior->ptr) {
                forget_task_memory();
                race_task_done(prior->ptr);
                race_task_release(prior->ptr);
                prior->ptr = NULL;
            }
            break;
        default: /* the task continues later; an untied one perhaps in another thread */
            if (prior->ptr) race_task_made(prior->ptr);
            break;
    }
    /* This also holds for a task that continues: it hears again what it already knows. */
    if (next && next->ptr) race_task_start(next->ptr);
}

/* ---- mutexes ---- */

/* A mutex that a thread has or had acquired; its key is the runtime's number. */
struct mutex {
    uint64_t number;
    const void *owner; /* a variable of the holder, until the holder has told */
    struct mutex *next;
};
#define MUTEXES 1024
static struct mutex *mutexes[MUTEXES];
static uint32_t mutex_locks[MUTEXES];
static __thread char self;

static size_t bucket_of(uint64_t number) { return number * 0x9e3779b97f4a7c15u >> 54; }

static struct mutex *mutex_of(uint64_t number, int make) {
    const size_t i = bucket_of(number);
    struct mutex *m;
    race_spin_lock(&mutex_locks[i]);
    for (m = mutexes[i]; m && m->number != number;) m = m->next;
    if (!m && make && (m = calloc(1, sizeof *m))) {
        m->number = number;
        m->next = mutexes[i];
        mutexes[i] = m;
    }
    race_spin_unlock(&mutex_locks[i]);
    return m;
}

/* The previous holder may lose its processor between its release and its event. After one to two seconds this assumes
 * that the event does not come, and the program continues. */
static void wait_for_owner(struct mutex *m) {
    const void *nobody = NULL;
    struct timespec begin, now;
    if (__atomic_load_n(&m->owner, __ATOMIC_RELAXED) == &self) return;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (!__atomic_compare_exchange_n(&m->owner, &nobody, &self, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        nobody = NULL;
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begin.tv_sec > 1) {
            __atomic_store_n(&m->owner, &self, __ATOMIC_RELEASE);
            return;
        }
    }
}

static void release(struct mutex *m) {
    /* The holder may be any thread: an untied task may continue in another thread. */
    __atomic_store_n(&m->owner, NULL, __ATOMIC_RELEASE);
}

static void mutex_acquired(int kind, uint64_t number, const void *code) {
    struct mutex *m = race_watches() ? mutex_of(number, 1) : NULL;
    (void)kind, (void)code;
    if (!m) return;
    wait_for_owner(m);
    race_hear(m);
}

static void mutex_released(int kind, uint64_t number, const void *code) {
    struct mutex *m = mutex_of(number, 0);
    (void)kind, (void)code;
    if (!m) return;
    race_tell(m);
    release(m);
}

/* A thread adds its value to those of others. The runtime may use a mutex for this, which it does not report, and which
 * it has already released when it reports that the thread has finished. */
static void reduction(int kind, int endpoint, race_ompt_data *parallel, race_ompt_data *task, const void *code) {
    struct race_task *t = task ? task->ptr : NULL;
    struct mutex *m = parallel && race_watches() ? mutex_of((uintptr_t)parallel, 1) : NULL;
    (void)kind, (void)code;
    if (endpoint == RACE_OMPT_BEGIN) {
        if (m) wait_for_owner(m);
        race_reduction_begin(t);
    } else {
        race_reduction_end(t);
        if (m) release(m);
    }
}

static void lock_destroy(int kind, uint64_t number, const void *code) {
    struct mutex *m = mutex_of(number, 0);
    (void)kind, (void)code;
    if (m) race_object_gone(m);
}

/* ---- the beginning ---- */

static int initialize(race_ompt_lookup *lookup, int device, race_ompt_data *tool) {
    race_ompt_set_callback *set = (race_ompt_set_callback *)lookup("ompt_set_callback");
    (void)device, (void)tool;
    if (!set) return 0;
    get_task_memory = (race_ompt_get_task_memory *)lookup("ompt_get_task_memory");
#define CALLBACK(EVENT, TYPE, FUNCTION)                                                                                \
    do {                                                                                                               \
        TYPE *callback = FUNCTION;                                                                                     \
        set(EVENT, (race_ompt_function)callback);                                                                      \
    } while (0)
    CALLBACK(RACE_OMPT_PARALLEL_BEGIN, race_ompt_parallel_begin, parallel_begin);
    CALLBACK(RACE_OMPT_PARALLEL_END, race_ompt_parallel_end, parallel_end);
    CALLBACK(RACE_OMPT_IMPLICIT_TASK, race_ompt_implicit_task, implicit_task);
    CALLBACK(RACE_OMPT_TASK_CREATE, race_ompt_task_create, task_create);
    CALLBACK(RACE_OMPT_TASK_SCHEDULE, race_ompt_task_schedule, task_schedule);
    CALLBACK(RACE_OMPT_DEPENDENCES, race_ompt_dependences, dependences);
    CALLBACK(RACE_OMPT_SYNC_REGION, race_ompt_sync_region, sync_region);
    CALLBACK(RACE_OMPT_SYNC_REGION_WAIT, race_ompt_sync_region, sync_region_wait);
    CALLBACK(RACE_OMPT_REDUCTION, race_ompt_sync_region, reduction);
    CALLBACK(RACE_OMPT_FLUSH, race_ompt_flush, flush);
    CALLBACK(RACE_OMPT_MUTEX_ACQUIRED, race_ompt_mutex, mutex_acquired);
    CALLBACK(RACE_OMPT_MUTEX_RELEASED, race_ompt_mutex, mutex_released);
    CALLBACK(RACE_OMPT_LOCK_DESTROY, race_ompt_mutex, lock_destroy);
    return 1;
}

static void finalize(race_ompt_data *tool) { (void)tool; }

EXPORT struct race_ompt_start *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct race_ompt_start *ompt_start_tool(unsigned version, const char *runtime) {
    static struct race_ompt_start start = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    return race_options_wanted() ? &start : NULL; /* NULL: leaves the events to another tool */
}

void race_ompt_open(void) {
    void *runtime = dlsym(RTLD_DEFAULT, "__kmpc_fork_call"), *tool = dlsym(RTLD_DEFAULT, "ompt_start_tool");
    const char *setting = getenv("OMP_TOOL"), *why = NULL;
    Dl_info of_runtime, of_tool, own;
    if (!runtime) return;
    if (setting && !strcasecmp(setting, "disabled"))
        why = "OMP_TOOL=disabled";
    else if (dladdr(runtime, &of_runtime) && dladdr(tool, &of_tool) && dladdr((void *)&get_task_memory, &own) &&
             of_tool.dli_fbase != of_runtime.dli_fbase && of_tool.dli_fbase != own.dli_fbase)
        why = of_tool.dli_fname;
    if (why) race_say("%s: OpenMP's runtime does not report what it orders; some reports of races may be false", why);
}

void race_ompt_end(void) {
    int (*pause)(int);
    void *found = dlsym(RTLD_DEFAULT, "omp_pause_resource_all");
    if (!found || !dlsym(RTLD_DEFAULT, "__kmpc_fork_call")) return;
    memcpy(&pause, &found, sizeof pause); /* C has no cast for it */
    pause(RACE_OMP_PAUSE_HARD);
}
