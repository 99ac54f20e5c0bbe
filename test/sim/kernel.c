/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls by which the library waits, on virtual time. The simulator is linked with --wrap for each of them:
 * calls of the library within a task come here; __real_X is the C library's function. So base/wait, base/lock and
 * everything that waits by them run unchanged.
 *
 * A sleep that times out although its word has changed has missed its wake-up. In one thread no store is delayed, so
 * this must not happen; the run counts such cases (sim_missed_wakeup). */
#include "config.h"

#include "base/process.h"
#include "base/wait.h"
#include "test/sim/network.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define YIELD     100 /* nanoseconds until a task that yields has its next turn */
#define BUCKETS   1024
#define FIRST_PID 1000000

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
uint64_t __real_rmai_clock_ticks(void);
uint64_t __wrap_rmai_clock_ticks(void);
int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __real_sched_yield(void);
int __wrap_sched_yield(void);
pid_t __real_getpid(void);
pid_t __wrap_getpid(void);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __real_rmai_thread(pthread_t *thread, void *(*run)(void *context), void *context);
int __wrap_rmai_thread(pthread_t *thread, void *(*run)(void *context), void *context);
enum rmai_process_state __real_rmai_process_state(int pid);
enum rmai_process_state __wrap_rmai_process_state(int pid);

/* ---- sleeping on words ---- */

static struct sim_task *sleepers[BUCKETS];

static struct sim_task **bucket_of(const void *word) { return &sleepers[(uintptr_t)word / 4 * 2654435761u % BUCKETS]; }

static void forget_sleeper(struct sim_task *t) {
    struct sim_task **i = bucket_of(t->word);
    while (*i != t) i = &(*i)->other;
    *i = t->other;
    t->word = NULL;
}

static uint64_t nanoseconds(const struct timespec *time) {
    return time ? (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec : SIM_NEVER;
}

/* The task whose turn it is sleeps until wake_sleepers, which forgets that it does, or until the time is over. */
static void sleep_until_woken(const void *word, uint64_t most) {
    struct sim_task *me = sim_self(), **bucket = bucket_of(word);
    me->word = word;
    me->overwritten = 0;
    me->other = *bucket;
    *bucket = me;
    sim_wait(most);
}

static long sleep_on_word(uint32_t *word, uint32_t old, uint64_t most) {
    struct sim_task *me = sim_self();
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != old) {
        errno = EAGAIN;
        return -1;
    }
    me->idle_polls = 0;
    sleep_until_woken(word, most);
    if (!me->word) return 0;
    forget_sleeper(me);
    if (!me->overwritten && __atomic_load_n(word, __ATOMIC_SEQ_CST) != old) sim_missed_wakeup(me->pe, word);
    errno = ETIMEDOUT;
    return -1;
}

static long wake_sleepers(const void *word) {
    struct sim_task *t = *bucket_of(word), *next;
    long n = 0;
    for (; t; t = next) {
        next = t->other;
        if (t->word != word) continue;
        forget_sleeper(t);
        sim_wake(t);
        n++;
    }
    return n;
}

void sim_overwritten(const void *at, size_t len) {
    for (int i = 0; i < BUCKETS; i++)
        for (struct sim_task *t = sleepers[i]; t; t = t->other)
            if ((uintptr_t)t->word + sizeof(uint32_t) > (uintptr_t)at && (uintptr_t)t->word < (uintptr_t)at + len)
                t->overwritten = 1;
}

/* No task of an earlier run is left waiting. */
void sim_kernel_begin(void) { memset(sleepers, 0, sizeof sleepers); }

/* The library makes this call for futex(2), for membarrier(2), which one thread needs not, and for scheduling
 * attributes, which tasks do not have. membarrier is there whatever the machine: so a run is the same on all. Like
 * syscall(2), this reads six arguments, however many the caller has passed. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...) {
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_membarrier) return 0;
    if (!sim_self()) return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number != SYS_futex) {
        errno = ENOSYS;
        return -1;
    }
    if ((int)a[1] == FUTEX_WAKE) return wake_sleepers((const void *)a[0]);
    return sleep_on_word((uint32_t *)a[0], (uint32_t)a[2], nanoseconds((const struct timespec *)a[3]));
}

/* ---- time ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    if (!sim_self()) return __real_clock_gettime(clock, time);
    *time = (struct timespec){.tv_sec = (time_t)(1 + sim_time() / 1000000000u),
                              .tv_nsec = (long)(sim_time() % 1000000000u)};
    return 0;
}

uint64_t __wrap_rmai_clock_ticks(void) { return sim_self() ? sim_time() : __real_rmai_clock_ticks(); }

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
    if (!sim_self()) return __real_nanosleep(time, rest);
    sim_wait(nanoseconds(time));
    return 0;
}

int __wrap_sched_yield(void) {
    if (!sim_self()) return __real_sched_yield();
    sim_wait(YIELD);
    return 0;
}

/* ---- threads: tasks of the same PE ---- */

struct thread {
    void *(*run)(void *context);
    void *context;
};

static void run_thread(void *context) {
    const struct thread thread = *(struct thread *)context;
    free(context);
    thread.run(thread.context);
}

int __wrap_rmai_thread(pthread_t *thread, void *(*run)(void *context), void *context) {
    struct sim_pe *pe = sim_here();
    struct thread *t;
    struct sim_task *task;
    if (!pe) return __real_rmai_thread(thread, run, context);
    if (!sim_options_of(pe)->threads) return EAGAIN;
    t = sim_memory(NULL, sizeof *t);
    *t = (struct thread){.run = run, .context = context};
    task = sim_add_task(pe, run_thread, t);
    *thread = (pthread_t)(uintptr_t)task;
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result) {
    struct sim_task *t = (struct sim_task *)(uintptr_t)thread;
    if (!sim_self()) return __real_pthread_join(thread, result);
    while (!t->through) sim_wait(YIELD);
    sim_task_end(t);
    return 0;
}

/* All tasks are one thread of the system, which must not wait for itself. A task that unlocks a mutex wakes those that
 * wait for it, and lets them have it: on a machine they would run at the same time. */
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (!sim_self()) return __real_pthread_mutex_lock(mutex);
    while (pthread_mutex_trylock(mutex) != 0) sleep_until_woken(mutex, SIM_NEVER);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    const int code = __real_pthread_mutex_unlock(mutex);
    if (sim_self() && wake_sleepers(mutex) > 0) sim_wait(YIELD);
    return code;
}

/* ---- processes ---- */

pid_t __wrap_getpid(void) { return sim_here() ? FIRST_PID + sim_here()->me : __real_getpid(); }

enum rmai_process_state __wrap_rmai_process_state(int pid) {
    const struct sim_pe *pe;
    if (!sim_here() || pid < FIRST_PID || pid >= FIRST_PID + sim_options_of(sim_here())->n_pes)
        return __real_rmai_process_state(pid);
    pe = sim_of(sim_here(), pid - FIRST_PID);
    return pe->dead ? RMAI_PROCESS_GONE : pe->stopped ? RMAI_PROCESS_STOPPED : RMAI_PROCESS_LIVES;
}
