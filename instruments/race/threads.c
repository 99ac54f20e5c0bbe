/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of POSIX and of C11: wrappers of the functions that create, end and order threads. Threads of the library and
 * of MPI are created within their calls (race_inside), and do not count as the program's. */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/threads.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>

#include "instruments/race/clock.h"
#include "instruments/race/events.h"
#include "instruments/race/job.h"
#include "instruments/race/places.h"
#include "instruments/race/put_off.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

#define EXPORT __attribute__((visibility("default")))

/* Whether the program makes the call, itself or through C++'s library. Calls of other libraries are ignored: MPI's
 * network library locks while the C library's allocator is locked, and then nothing may be allocated here. */
#define FROM_PROGRAM race_is_program((uintptr_t)__builtin_return_address(0))

/* ---- objects by address ---- */

#define OBJECTS 4096
static struct object {
    const void *address;
    struct object *next;
    uint32_t clock[]; /* race_job.clocks numbers */
} * objects[OBJECTS];
static uint32_t object_locks[OBJECTS];

static size_t bucket_of(const void *object) { return ((uintptr_t)object >> 3) * 0x9e3779b97f4a7c15u >> 52; }

/* Memory of objects. A signal handler may call sem_post while its thread is in malloc, so it does not come from malloc.
 * A freed object is reused for the next one. */
static struct object *unused_objects;
static uint32_t unused_lock;

static struct object *object_new(const void *address) {
    const size_t len = sizeof(struct object) + race_job.clocks * sizeof(uint32_t), many = len < 65536 ? 65536 / len : 1;
    struct object *o;
    race_spin_lock(&unused_lock);
    if (!unused_objects) {
        char *m = mmap(NULL, many * len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; m != MAP_FAILED && i < many; i++) {
            o = (struct object *)(void *)(m + i * len);
            o->next = unused_objects;
            unused_objects = o;
        }
    }
    if ((o = unused_objects)) unused_objects = o->next;
    race_spin_unlock(&unused_lock);
    if (o) {
        o->address = address;
        memset(o->clock, 0, race_job.clocks * sizeof *o->clock);
    }
    return o;
}

static void object_free(struct object *o) {
    race_spin_lock(&unused_lock);
    o->next = unused_objects;
    unused_objects = o;
    race_spin_unlock(&unused_lock);
}

void race_tell(const void *address) {
    if (!race_job.on || !race_me) return;
    if (race_is_busy())
        race_put_off((struct race_event){.kind = RACE_TELL, .address = address});
    else
        race_tell_now(address);
}

void race_tell_now(const void *address) {
    size_t i = bucket_of(address);
    struct object *o;
    race_spin_lock(&object_locks[i]);
    for (o = objects[i]; o && o->address != address;) o = o->next;
    if (!o && (o = object_new(address))) {
        o->next = objects[i];
        objects[i] = o;
    }
    if (o) race_tell_clock(race_me, o->clock);
    race_spin_unlock(&object_locks[i]);
    race_tick(race_me);
}

void race_hear(const void *address) {
    if (!race_job.on || !race_me) return;
    if (race_is_busy()) {
        race_put_off((struct race_event){.kind = RACE_HEAR, .address = address});
        return;
    }
    race_wait_for_put_off();
    race_hear_now(address);
}

void race_hear_now(const void *address) {
    size_t i = bucket_of(address);
    race_spin_lock(&object_locks[i]);
    for (const struct object *o = objects[i]; o; o = o->next)
        if (o->address == address) race_join(race_me, o->clock);
    race_spin_unlock(&object_locks[i]);
}

void race_object_gone(const void *address) {
    size_t i = bucket_of(address);
    if (!race_job.on) return;
    race_spin_lock(&object_locks[i]);
    for (struct object **p = &objects[i]; *p; p = &(*p)->next)
        if ((*p)->address == address) {
            struct object *o = *p;
            *p = o->next;
            object_free(o);
            break;
        }
    race_spin_unlock(&object_locks[i]);
}

/* ---- how many threads ---- */

static int at_work;
static uint32_t at_work_lock; /* the number and the mode change together, under this lock */

void race_team_begins(void) {
    race_threads_begin(); /* a thread of OpenMP's runtime may begin much later */
    race_spin_lock(&at_work_lock);
    if (at_work++ == 0) race_private_mode(RACE_PRIVATE_ALL);
    race_spin_unlock(&at_work_lock);
}

void race_team_ends(void) {
    race_spin_lock(&at_work_lock);
    /* Buffers of nonblocking calls may be in use; the next quiet ends this mode. */
    if (--at_work == 0 && race_job.on) race_private_mode(RACE_PRIVATE_PENDING);
    race_spin_unlock(&at_work_lock);
}

/* ---- creation and joining ---- */

#define REAL(RESULT, NAME, PARAMETERS) static RESULT(*real_##NAME) PARAMETERS
#define FIND(NAME)                                                                                                     \
    do {                                                                                                               \
        if (!real_##NAME) *(void **)(void *)&real_##NAME = dlsym(RTLD_NEXT, #NAME);                                    \
    } while (0)
#define FIND_VERSION(NAME, VERSION)                                                                                    \
    do {                                                                                                               \
        if (!real_##NAME) *(void **)(void *)&real_##NAME = dlvsym(RTLD_NEXT, #NAME, VERSION);                          \
        FIND(NAME);                                                                                                    \
    } while (0)

/* A thread that the program has created, until it has been joined, or has ended and is detached. A thread of OpenMP's
 * runtime is like a detached one, and no other thread names it. */
struct thread {
    pthread_t id;
    struct race_thread *clock;
    int detached, ended; /* under threads_lock */
    int listed;          /* the thread begins when this is set: once it is in the list, if it belongs there */
    int of_runtime;
    struct thread *next;
};
static struct thread *threads; /* the joinable threads */
static uint32_t threads_lock;

struct start {
    void *(*function)(void *);
    int (*c11)(void *); /* or this function */
    void *argument;
    struct thread *thread;
};

/* Another thread may have had this stack. */
static void forget_stack(void) {
    pthread_attr_t attr;
    void *base;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attr)) return;
    if (!pthread_attr_getstack(&attr, &base, &size)) race_forget_private((uintptr_t)base, size);
    pthread_attr_destroy(&attr);
}

/* The next thread gets this thread's actor, which keeps its count: what others know of this thread stays true. */
static void give_back(struct thread *t) {
    race_thread_free(t->clock);
    if (!t->of_runtime) race_team_ends();
    free(t);
}

/* Runs when a thread ends, as the destructor of a thread-specific value. It sets the value again, so that the C library
 * calls it as often as it can: the destructors of the program's values, which may access memory, then run before its
 * last call. */
static pthread_key_t at_end;
static __thread int rounds;
static void thread_ends(void *arg) {
    struct thread *t = arg;
    int detached;
    if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS && !pthread_setspecific(at_end, t)) return;
    race_spin_lock(&threads_lock);
    t->ended = 1;
    detached = t->detached;
    race_spin_unlock(&threads_lock);
    if (!detached) return;
    forget_stack(); /* nobody joins: any thread may get the memory next */
    race_thread_adopt(NULL);
    give_back(t);
}
static __attribute__((constructor)) void make_key(void) {
    if (pthread_key_create(&at_end, thread_ends)) abort();
}

static void enlist(struct thread *t) {
    race_spin_lock(&threads_lock);
    t->next = threads;
    threads = t;
    race_spin_unlock(&threads_lock);
}

static void thread_begins(struct thread *t) {
    /* A thread that joins or detaches this one must find it in the list. */
    while (!__atomic_load_n(&t->listed, __ATOMIC_ACQUIRE)) sched_yield();
    race_thread_adopt(t->clock);
    pthread_setspecific(at_end, t);
    forget_stack();
}

void race_thread_of_runtime(void) {
    struct thread *t;
    if (race_me || !race_job.on || !(t = calloc(1, sizeof *t))) return;
    t->detached = t->listed = t->of_runtime = 1;
    if ((t->clock = race_thread_new(RACE_NOBODY)))
        thread_begins(t);
    else
        free(t);
}

static void *run(void *arg) {
    struct start s = *(struct start *)arg;
    free(arg);
    thread_begins(s.thread);
    return s.function(s.argument);
}

static int run_c11(void *arg) {
    struct start s = *(struct start *)arg;
    free(arg);
    thread_begins(s.thread);
    return s.c11(s.argument);
}

/* Before a thread is created: its start data, or NULL. Afterwards: code 0 if it was created. */
static struct start *new_thread(int detached) {
    struct start *s = calloc(1, sizeof *s);
    struct thread *t = calloc(1, sizeof *t);
    if (!s || !t || !(t->clock = race_thread_new(race_me))) {
        free(s);
        free(t);
        return NULL;
    }
    t->detached = t->listed = detached;
    s->thread = t;
    race_team_begins();
    race_tick(race_me);
    return s;
}

static void thread_made(int code, struct start *s, struct thread *t, pthread_t id, int detached) {
    if (code) {
        give_back(t);
        free(s);
    } else if (!detached) { /* a detached thread may already be gone */
        t->id = id;
        enlist(t);
        __atomic_store_n(&t->listed, 1, __ATOMIC_RELEASE);
    }
}

REAL(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));
EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*function)(void *), void *argument) {
    struct start *s;
    struct thread *t;
    int code, state = PTHREAD_CREATE_JOINABLE;
    FIND(pthread_create);
    if (attr) pthread_attr_getdetachstate(attr, &state);
    if (!race_watches() || !FROM_PROGRAM || !(s = new_thread(state == PTHREAD_CREATE_DETACHED)))
        return real_pthread_create(id, attr, function, argument);
    t = s->thread;
    s->function = function;
    s->argument = argument;
    code = real_pthread_create(id, attr, run, s);
    thread_made(code, s, t, code ? pthread_self() : *id, state == PTHREAD_CREATE_DETACHED);
    return code;
}

REAL(int, thrd_create, (thrd_t *, thrd_start_t, void *));
EXPORT int thrd_create(thrd_t *id, thrd_start_t function, void *argument) {
    struct start *s;
    struct thread *t;
    int code;
    FIND(thrd_create);
    if (!race_watches() || !FROM_PROGRAM || !(s = new_thread(0))) return real_thrd_create(id, function, argument);
    t = s->thread;
    s->c11 = function;
    s->argument = argument;
    code = real_thrd_create(id, run_c11, s);
    thread_made(code, s, t, code ? pthread_self() : (pthread_t)*id, 0);
    return code;
}

static struct thread *take(pthread_t id) {
    struct thread *t = NULL;
    race_spin_lock(&threads_lock);
    for (struct thread **p = &threads; *p; p = &(*p)->next)
        if (pthread_equal((*p)->id, id)) {
            t = *p;
            *p = t->next;
            break;
        }
    race_spin_unlock(&threads_lock);
    return t;
}

/* After the call another thread may have the number, so the thread leaves the list before. */
static void joined(struct thread *t, int code) {
    if (!t) return;
    if (code) {
        enlist(t);
        return;
    }
    if (race_watches()) race_join(race_me, t->clock->clock);
    give_back(t);
}

#define JOINS(NAME, PARAMETERS, ...)                                                                                   \
    REAL(int, NAME, PARAMETERS);                                                                                       \
    EXPORT int NAME PARAMETERS {                                                                                       \
        struct thread *t_ = take((pthread_t)id);                                                                       \
        int code;                                                                                                      \
        FIND(NAME);                                                                                                    \
        code = real_##NAME(__VA_ARGS__);                                                                               \
        joined(t_, code);                                                                                              \
        return code;                                                                                                   \
    }
JOINS(pthread_join, (pthread_t id, void **result), id, result)
JOINS(pthread_tryjoin_np, (pthread_t id, void **result), id, result)
JOINS(pthread_timedjoin_np, (pthread_t id, void **result, const struct timespec *t), id, result, t)
JOINS(pthread_clockjoin_np, (pthread_t id, void **result, clockid_t k, const struct timespec *t), id, result, k, t)
JOINS(thrd_join, (thrd_t id, int *result), id, result)

/* As joined. */
static void detached(struct thread *t, int code) {
    int ended;
    if (!t) return;
    if (code) {
        enlist(t);
        return;
    }
    race_spin_lock(&threads_lock);
    t->detached = 1;
    ended = t->ended;
    race_spin_unlock(&threads_lock);
    if (ended) give_back(t);
}
#define DETACHES(NAME, TYPE)                                                                                           \
    REAL(int, NAME, (TYPE));                                                                                           \
    EXPORT int NAME(TYPE id) {                                                                                         \
        struct thread *t = take((pthread_t)id);                                                                        \
        int code;                                                                                                      \
        FIND(NAME);                                                                                                    \
        code = real_##NAME(id);                                                                                        \
        detached(t, code);                                                                                             \
        return code;                                                                                                   \
    }
DETACHES(pthread_detach, pthread_t)
DETACHES(thrd_detach, thrd_t)

/* ---- mutexes, conditions, locks, semaphores, barriers ---- */

/* After a call that succeeded (0) the thread hears of the object; before the call it tells. */
#define HEARS(NAME, PARAMETERS, OBJECT, ...)                                                                           \
    REAL(int, NAME, PARAMETERS);                                                                                       \
    EXPORT int NAME PARAMETERS {                                                                                       \
        int code;                                                                                                      \
        FIND(NAME);                                                                                                    \
        code = real_##NAME(__VA_ARGS__);                                                                               \
        if (!code && FROM_PROGRAM) race_hear(OBJECT);                                                                  \
        return code;                                                                                                   \
    }
#define TELLS(NAME, PARAMETERS, OBJECT, ...)                                                                           \
    REAL(int, NAME, PARAMETERS);                                                                                       \
    EXPORT int NAME PARAMETERS {                                                                                       \
        FIND(NAME);                                                                                                    \
        if (FROM_PROGRAM) race_tell(OBJECT);                                                                           \
        return real_##NAME(__VA_ARGS__);                                                                               \
    }
#define FORGETS(NAME, PARAMETERS, OBJECT, ...)                                                                         \
    REAL(int, NAME, PARAMETERS);                                                                                       \
    EXPORT int NAME PARAMETERS {                                                                                       \
        FIND(NAME);                                                                                                    \
        if (FROM_PROGRAM) race_object_gone(OBJECT);                                                                    \
        return real_##NAME(__VA_ARGS__);                                                                               \
    }
#define FORGETS_VOID(NAME, PARAMETERS, OBJECT, ...)                                                                    \
    REAL(void, NAME, PARAMETERS);                                                                                      \
    EXPORT void NAME PARAMETERS {                                                                                      \
        FIND(NAME);                                                                                                    \
        if (FROM_PROGRAM) race_object_gone(OBJECT);                                                                    \
        real_##NAME(__VA_ARGS__);                                                                                      \
    }
HEARS(pthread_mutex_lock, (pthread_mutex_t * m), m, m)
HEARS(pthread_mutex_trylock, (pthread_mutex_t * m), m, m)
HEARS(pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t), m, m, t)
TELLS(pthread_mutex_unlock, (pthread_mutex_t * m), m, m)
FORGETS(pthread_mutex_destroy, (pthread_mutex_t * m), m, m)
HEARS(mtx_lock, (mtx_t * m), m, m)
HEARS(mtx_trylock, (mtx_t * m), m, m)
HEARS(mtx_timedlock, (mtx_t * m, const struct timespec *t), m, m, t)
TELLS(mtx_unlock, (mtx_t * m), m, m)
FORGETS_VOID(mtx_destroy, (mtx_t * m), m, m)
HEARS(pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t k, const struct timespec *t), m, m, k, t)
HEARS(pthread_spin_lock, (pthread_spinlock_t * s), (const void *)s, s)
HEARS(pthread_spin_trylock, (pthread_spinlock_t * s), (const void *)s, s)
TELLS(pthread_spin_unlock, (pthread_spinlock_t * s), (const void *)s, s)
FORGETS(pthread_spin_destroy, (pthread_spinlock_t * s), (const void *)s, s)
HEARS(pthread_rwlock_rdlock, (pthread_rwlock_t * l), l, l)
HEARS(pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), l, l)
HEARS(pthread_rwlock_wrlock, (pthread_rwlock_t * l), l, l)
HEARS(pthread_rwlock_trywrlock, (pthread_rwlock_t * l), l, l)
HEARS(pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t), l, l, t)
HEARS(pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t), l, l, t)
HEARS(pthread_rwlock_clockrdlock, (pthread_rwlock_t * l, clockid_t k, const struct timespec *t), l, l, k, t)
HEARS(pthread_rwlock_clockwrlock, (pthread_rwlock_t * l, clockid_t k, const struct timespec *t), l, l, k, t)
TELLS(pthread_rwlock_unlock, (pthread_rwlock_t * l), l, l)
FORGETS(pthread_rwlock_destroy, (pthread_rwlock_t * l), l, l)
HEARS(sem_wait, (sem_t * s), s, s)
HEARS(sem_trywait, (sem_t * s), s, s)
HEARS(sem_timedwait, (sem_t * s, const struct timespec *t), s, s, t)
HEARS(sem_clockwait, (sem_t * s, clockid_t k, const struct timespec *t), s, s, k, t)
TELLS(sem_post, (sem_t * s), s, s)
static __attribute__((constructor)) void find_sem_post(void) { FIND(sem_post); } /* dlsym is not for signal handlers */
FORGETS(sem_destroy, (sem_t * s), s, s)

/* A condition: the waiter releases the mutex meanwhile, and hears what the signalling threads have told. */
#define CONDITION(NAME, PARAMETERS, ...)                                                                               \
    REAL(int, NAME, PARAMETERS);                                                                                       \
    EXPORT int NAME PARAMETERS {                                                                                       \
        int code;                                                                                                      \
        FIND_VERSION(NAME, "GLIBC_2.3.2");                                                                             \
        if (!FROM_PROGRAM) return real_##NAME(__VA_ARGS__);                                                            \
        race_tell(m);                                                                                                  \
        code = real_##NAME(__VA_ARGS__);                                                                               \
        race_hear(m);                                                                                                  \
        if (!code) race_hear(c);                                                                                       \
        return code;                                                                                                   \
    }
CONDITION(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), c, m)
CONDITION(pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *t), c, m, t)
CONDITION(pthread_cond_clockwait, (pthread_cond_t * c, pthread_mutex_t *m, clockid_t k, const struct timespec *t), c, m,
          k, t)
CONDITION(cnd_wait, (cnd_t * c, mtx_t *m), c, m)
CONDITION(cnd_timedwait, (cnd_t * c, mtx_t *m, const struct timespec *t), c, m, t)
#define SIGNALS(NAME, TYPE)                                                                                            \
    REAL(int, NAME, (TYPE *));                                                                                         \
    EXPORT int NAME(TYPE *c) {                                                                                         \
        FIND_VERSION(NAME, "GLIBC_2.3.2");                                                                             \
        if (FROM_PROGRAM) race_tell(c);                                                                                \
        return real_##NAME(c);                                                                                         \
    }
SIGNALS(pthread_cond_signal, pthread_cond_t)
SIGNALS(pthread_cond_broadcast, pthread_cond_t)
SIGNALS(cnd_signal, cnd_t)
SIGNALS(cnd_broadcast, cnd_t)
FORGETS(pthread_cond_destroy, (pthread_cond_t * c), c, c)
FORGETS_VOID(cnd_destroy, (cnd_t * c), c, c)

/* A barrier alternates between two objects, since a fast thread may tell in the next round before a slow one has
 * heard. */
static struct barrier {
    const void *address;
    unsigned n, arrived;
    char objects[2];
    struct barrier *next;
} * barriers;
static uint32_t barriers_lock;

REAL(int, pthread_barrier_init, (pthread_barrier_t *, const pthread_barrierattr_t *, unsigned));
EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned n) {
    struct barrier *k = FROM_PROGRAM ? calloc(1, sizeof *k) : NULL;
    FIND(pthread_barrier_init);
    if (k) {
        k->address = b;
        k->n = n;
        race_spin_lock(&barriers_lock);
        k->next = barriers;
        barriers = k;
        race_spin_unlock(&barriers_lock);
    }
    return real_pthread_barrier_init(b, attr, n);
}

REAL(int, pthread_barrier_wait, (pthread_barrier_t *));
EXPORT int pthread_barrier_wait(pthread_barrier_t *b) {
    const char *object = NULL;
    struct barrier *k;
    int code;
    FIND(pthread_barrier_wait);
    race_spin_lock(&barriers_lock);
    for (k = barriers; k && k->address != b;) k = k->next; /* the newest with this address */
    if (k && k->n) object = &k->objects[k->arrived++ / k->n & 1];
    race_spin_unlock(&barriers_lock);
    if (object) race_tell(object);
    code = real_pthread_barrier_wait(b);
    if (object) race_hear(object);
    return code;
}

static __thread void (*once_function)(void);
static __thread const void *once_object;
static void run_once(void) {
    const void *object = once_object;
    once_function();
    race_tell(object);
}

REAL(int, pthread_once, (pthread_once_t *, void (*)(void)));
EXPORT int pthread_once(pthread_once_t *once, void (*function)(void)) {
    int code;
    FIND(pthread_once);
    if (!race_watches() || !FROM_PROGRAM) return real_pthread_once(once, function);
    once_function = function;
    once_object = once;
    code = real_pthread_once(once, run_once);
    race_hear(once);
    return code;
}

REAL(void, call_once, (once_flag *, void (*)(void)));
EXPORT void call_once(once_flag *once, void (*function)(void)) {
    FIND(call_once);
    if (!race_watches() || !FROM_PROGRAM) {
        real_call_once(once, function);
        return;
    }
    once_function = function;
    once_object = once;
    real_call_once(once, run_once);
    race_hear(once);
}
