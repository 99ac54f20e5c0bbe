/* SPDX-License-Identifier: BSD-3-Clause */
/* POSIX threads: the functions that make threads, end them and order them are taken here and forwarded. Threads of the
 * library and of MPI are made in their calls (race_inside), and are none of the program's. */
#define _GNU_SOURCE
#include "config.h"

#include "race/threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "race/clock.h"
#include "race/events.h"
#include "race/job.h"
#include "race/places.h"
#include "race/shadow.h"
#include "race/spin.h"

#define EXPORT __attribute__((visibility("default")))

/* Whether the program calls, itself or through the library of C++. What other libraries do with threads is theirs:
 * MPI's network library locks while the C library's allocator is locked, and nothing may be allocated here then. */
#define FROM_PROGRAM race_is_program((uintptr_t)__builtin_return_address(0))

/* ---- objects by address ---- */

#define OBJECTS 4096
static struct object {
    const void *address;
    uint32_t *clock;
    struct object *next;
} * objects[OBJECTS];
static uint32_t object_locks[OBJECTS];

static size_t bucket_of(const void *object) { return ((uintptr_t)object >> 3) * 0x9e3779b97f4a7c15u >> 52; }
void race_tell(const void *address) {
    size_t i = bucket_of(address);
    struct object *o;
    if (!race_watches()) return;
    race_spin_lock(&object_locks[i]);
    for (o = objects[i]; o && o->address != address;) o = o->next;
    if (!o && (o = calloc(1, sizeof *o))) {
        o->address = address;
        o->clock = calloc(race_job.clocks, sizeof *o->clock);
        if (o->clock) {
            o->next = objects[i];
            objects[i] = o;
        } else {
            free(o);
            o = NULL;
        }
    }
    for (size_t k = 0; o && k < race_job.clocks; k++)
        if (o->clock[k] < race_me->clock[k]) o->clock[k] = race_me->clock[k];
    race_spin_unlock(&object_locks[i]);
    race_tick(race_me);
}

void race_hear(const void *address) {
    size_t i = bucket_of(address);
    if (!race_watches()) return;
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
            free(o->clock);
            free(o);
            break;
        }
    race_spin_unlock(&object_locks[i]);
}

/* ---- how many threads ---- */

static int at_work;

void race_team_begins(void) {
    if (__atomic_fetch_add(&at_work, 1, __ATOMIC_ACQ_REL) == 0) race_private_mode(RACE_PRIVATE_ALL);
}

void race_team_ends(void) {
    /* Buffers of nonblocking calls may be in use: the next quiet says how it goes on. */
    if (__atomic_sub_fetch(&at_work, 1, __ATOMIC_ACQ_REL) == 0 && race_job.on) race_private_mode(RACE_PRIVATE_PENDING);
}

/* ---- making and joining ---- */

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

struct start {
    void *(*function)(void *);
    void *argument;
    struct race_thread *thread;
};

/* Threads that have not been joined. */
static struct joinable {
    pthread_t id;
    struct race_thread *thread;
    struct joinable *next;
} * joinables;
static uint32_t joinables_lock;

/* The stack may be one that another thread had. */
static void forget_stack(void) {
    pthread_attr_t attr;
    void *base;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attr)) return;
    if (!pthread_attr_getstack(&attr, &base, &size)) race_forget_private((uintptr_t)base, size);
    pthread_attr_destroy(&attr);
}

static void *run(void *arg) {
    struct start s = *(struct start *)arg;
    free(arg);
    race_thread_adopt(s.thread);
    forget_stack();
    return s.function(s.argument);
}

REAL(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));
EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*function)(void *), void *argument) {
    struct start *s;
    struct joinable *j;
    int code;
    FIND(pthread_create);
    if (!race_watches() || !FROM_PROGRAM) return real_pthread_create(id, attr, function, argument);
    s = malloc(sizeof *s);
    j = malloc(sizeof *j);
    if (!s || !j || !(s->thread = race_thread_new(race_me))) {
        free(s);
        free(j);
        return real_pthread_create(id, attr, function, argument);
    }
    race_team_begins();
    race_tick(race_me);
    s->function = function;
    s->argument = argument;
    j->thread = s->thread;
    code = real_pthread_create(id, attr, run, s);
    if (code) {
        race_thread_free(j->thread);
        race_team_ends();
        free(s);
        free(j);
        return code;
    }
    j->id = *id;
    race_spin_lock(&joinables_lock);
    j->next = joinables;
    joinables = j;
    race_spin_unlock(&joinables_lock);
    return 0;
}

static struct joinable *take(pthread_t id) {
    struct joinable *j = NULL;
    race_spin_lock(&joinables_lock);
    for (struct joinable **p = &joinables; *p; p = &(*p)->next)
        if (pthread_equal((*p)->id, id)) {
            j = *p;
            *p = j->next;
            break;
        }
    race_spin_unlock(&joinables_lock);
    return j;
}

static void joined(pthread_t id) {
    struct joinable *j = take(id);
    if (!j) return;
    if (race_watches()) race_join(race_me, j->thread->clock);
    race_thread_free(j->thread);
    race_team_ends();
    free(j);
}

REAL(int, pthread_join, (pthread_t, void **));
EXPORT int pthread_join(pthread_t id, void **result) {
    int code;
    FIND(pthread_join);
    code = real_pthread_join(id, result);
    if (!code) joined(id);
    return code;
}

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
HEARS(pthread_mutex_lock, (pthread_mutex_t * m), m, m)
HEARS(pthread_mutex_trylock, (pthread_mutex_t * m), m, m)
HEARS(pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t), m, m, t)
TELLS(pthread_mutex_unlock, (pthread_mutex_t * m), m, m)
FORGETS(pthread_mutex_destroy, (pthread_mutex_t * m), m, m)
HEARS(pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t k, const struct timespec *t), m, m, k, t)
HEARS(pthread_spin_lock, (pthread_spinlock_t * s), (const void *)s, s)
HEARS(pthread_spin_trylock, (pthread_spinlock_t * s), (const void *)s, s)
TELLS(pthread_spin_unlock, (pthread_spinlock_t * s), (const void *)s, s)
HEARS(pthread_rwlock_rdlock, (pthread_rwlock_t * l), l, l)
HEARS(pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), l, l)
HEARS(pthread_rwlock_wrlock, (pthread_rwlock_t * l), l, l)
HEARS(pthread_rwlock_trywrlock, (pthread_rwlock_t * l), l, l)
HEARS(pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t), l, l, t)
HEARS(pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t), l, l, t)
TELLS(pthread_rwlock_unlock, (pthread_rwlock_t * l), l, l)
HEARS(sem_wait, (sem_t * s), s, s)
HEARS(sem_trywait, (sem_t * s), s, s)
HEARS(sem_timedwait, (sem_t * s, const struct timespec *t), s, s, t)
TELLS(sem_post, (sem_t * s), s, s)

/* A condition: the waiter releases the mutex meanwhile, and hears what those have told who signal. */
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
#define SIGNALS(NAME)                                                                                                  \
    REAL(int, NAME, (pthread_cond_t *));                                                                               \
    EXPORT int NAME(pthread_cond_t *c) {                                                                               \
        FIND_VERSION(NAME, "GLIBC_2.3.2");                                                                             \
        if (FROM_PROGRAM) race_tell(c);                                                                                \
        return real_##NAME(c);                                                                                         \
    }
SIGNALS(pthread_cond_signal)
SIGNALS(pthread_cond_broadcast)

/* A barrier has two objects in turn, since a fast thread may tell in the next round before a slow one has heard. */
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

REAL(int, pthread_once, (pthread_once_t *, void (*)(void)));
static __thread void (*once_function)(void);
static __thread const void *once_object;
static void run_once(void) {
    const void *object = once_object;
    once_function();
    race_tell(object);
}
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
