/* SPDX-License-Identifier: BSD-3-Clause */
/* Only two kinds of PEs enter the kernel: a PE whose polls found nothing, and the PE that wakes it.
 *
 * No wake-up is lost forever. The sleeper adds itself to `sleepers` and then reads `value` (the kernel reads it once
 * more, under the futex's lock). The waker stores `value` and then reads `sleepers`. With a sequentially consistent
 * fence between each one's store and load at least one of them would see the other's store (Dekker's argument). The
 * sleeper has that fence. The waker has none: every barrier would pay for a rare case. So the waker's load may pass its
 * store until the store has left the core, some ten nanoseconds. A sleeper that adds itself within that time is not
 * woken. Therefore the first sleep ends by itself after a millisecond; by then every later waker sees that the sleeper
 * has added itself. */
#include "config.h"

#include "base/wait.h"
#include "base/attributes.h"
#include "base/crowd.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOT_POLLS 64 /* polls without a pause: a partner that is just arriving is seen at once */

/* Not FUTEX_PRIVATE: the sleepers and the waker are different processes. No error needs handling: after EAGAIN (the
 * value has changed) and EINTR the caller reads the value again. */
static void futex_call(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout) {
    syscall(SYS_futex, (uint32_t *)word, operation, value, timeout, NULL, 0);
}

#define POLLS_A_TURN  4        /* polls between two calls of progress, which takes longer than all of them */
#define TURNS_A_CHECK 256      /* calls of progress between two checks of a wait that never rests */
#define NAP_FIRST     20000    /* nanoseconds: other PEs may need this one again soon */
#define SLEEP_FIRST   1000000  /* nanoseconds: a wake-up may be missed in the first sleep (see above) */
#define SLEEP_WATCHED 50000000 /* nanoseconds between two checks of a wait that lasts */

/* ---- other load ----
 *
 * If other programs occupy the other processors, a polling PE and the PE that it waits for may share one processor.
 * Then polling only delays the wait: the second PE could run if the first did not poll. Two signs together show this
 * case. First, the awaited value comes soon after this PE has given its processor away. Second, this thread was often
 * ready to run and did not run (proc(5), schedstat: run delay); on an idle machine the run delay is almost nothing,
 * however long the waits are. With both signs the number of polls falls to POLLS_FEW at once. Otherwise the number
 * grows again step by step: a PE that was descheduled on another processor comes no sooner if this PE gives up its own.
 * A PE whose polls never run out never reads its run delay. */

#define SOON         50000u   /* nanoseconds */
#define DELAY_FRESH  1000000u /* nanoseconds between two readings of the run delay, at least */
#define DELAY_PART   16       /* a run delay of 1/DELAY_PART of the time is much */
#define FIRST_REST   150000u  /* nanoseconds: NAP_FIRST, and what the kernel adds to it */
#define POLLS_FEW    50u
#define POLLS_GROWTH 4

static uint64_t monotonic_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The run delay of this thread in nanoseconds; 0 where the kernel does not count it. */
static uint64_t read_run_delay(void) {
    char text[96];
    unsigned long long ran, delay = 0;
    ssize_t n;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return sscanf(text, "%llu %llu", &ran, &delay) == 2 ? delay : 0;
}

/* 1 if this thread's run delay was large recently. */
static int was_often_delayed(uint64_t now) {
    static _Thread_local uint64_t read_at, delay; /* when the run delay was last read, and what it was */
    static _Thread_local int much;
    uint64_t before = delay;
    if (now - read_at < DELAY_FRESH) return much;
    delay = read_run_delay();
    much = read_at && (delay - before) * DELAY_PART > now - read_at;
    read_at = now;
    return much;
}

/* A wait whose polls ran out at `gave_up` is over. For `rested` nanoseconds after `gave_up` this PE did not read the
 * value, which may have changed meanwhile. */
static RMAI_COLD void adapt_polls(const struct rmai_patience *patience, uint64_t gave_up, uint64_t rested) {
    unsigned polls = rmai_polls(patience);
    uint64_t now = monotonic_ns();
    if (now - gave_up < SOON + rested && was_often_delayed(now))
        polls = POLLS_FEW < patience->polls ? POLLS_FEW : patience->polls;
    else
        polls = polls < patience->polls / POLLS_GROWTH ? polls * POLLS_GROWTH : patience->polls;
    atomic_store_explicit(patience->polls_now, polls, memory_order_relaxed);
}

/* The polls of a wait have run out when it has made `polled`. Returns up to how many it makes now; `polled` if it has
 * to yield or sleep. */
static unsigned more_polls(const struct rmai_patience *patience, unsigned polled) {
    return patience->crowd ? rmai_crowd_polls(patience->crowd, polled) : polled;
}

static unsigned yields_of(const struct rmai_patience *patience) {
    if (patience->progress) return 0;
    return patience->crowd ? rmai_crowd_yields(patience->crowd) : patience->yields;
}

/* ended: 1 if the awaited value came meanwhile. */
static void has_yielded(const struct rmai_patience *patience, int ended) {
    if (patience->crowd) rmai_crowd_yielded(patience->crowd, ended);
}

void rmai_backoff_over(const struct rmai_backoff *b, const struct rmai_patience *patience) {
    if (b->out_of_polls && b->yields > 0) has_yielded(patience, 1);
    if (b->gave_up) adapt_polls(patience, b->gave_up, b->nap <= NAP_FIRST ? FIRST_REST : 0);
}

/* 1 if a wait that is about to sleep polls again; *again counts how often it has done so. After AGAIN_MOST times it
 * sleeps, since only after a sleep the wait is checked for lasting too long. */
#define AGAIN_MOST 8
static int polls_again(const struct rmai_patience *patience, int *again) {
    return patience->crowd && *again < AGAIN_MOST && rmai_crowd_thins(patience->crowd) && ++*again;
}

/* After a rest that brought no new value patience->late checks the wait. */
static void report_late_wait(const struct rmai_patience *patience, struct rmai_stall *stall) {
    if (stall && patience->late) patience->late(patience->context, stall);
}

/* Polls the value and drives progress. While messages keep coming the wait has no rest. */
static uint32_t poll_with_progress(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience,
                                   struct rmai_stall *stall) {
    unsigned polls = rmai_polls(patience), turns = 0;
    uint32_t now = old;
    for (unsigned i = 0; now == old && (i < polls || i < (polls = more_polls(patience, i))); i++) {
        now = atomic_load_explicit(&e->value, memory_order_acquire);
        if (now != old || i % POLLS_A_TURN != POLLS_A_TURN - 1 || !patience->progress(patience->context)) continue;
        if (++turns % TURNS_A_CHECK == 0) report_late_wait(patience, stall);
        i = 0;
    }
    return now;
}

/* The same, but the processor is given away between two polls. */
static uint32_t yield_with_progress(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience) {
    uint32_t now = old;
    for (unsigned i = 0; i < patience->yields && now == old; i++) {
        if (patience->progress(patience->context)) i = 0;
        now = atomic_load_explicit(&e->value, memory_order_acquire);
        if (now == old) sched_yield();
    }
    return now;
}

/* A message that arrives while the thread sleeps is seen after the sleep, at most patience->nap later. More may follow
 * it, such as the next operations of the PE that has waited for the answer: so then the thread polls again. */
static uint32_t wait_with_progress(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience,
                                   struct rmai_stall *stall, int one_nap) {
    uint64_t gave_up = 0;
    uint32_t now;
    int heard;
    do {
        long nap = NAP_FIRST;
        heard = 0;
        int again = 0;
        do now = poll_with_progress(e, old, patience, stall);
        while (now == old && polls_again(patience, &again));
        if (now == old && patience->yields) now = yield_with_progress(e, old, patience);
        if (now != old) break;
        if (patience->polls_now) gave_up = monotonic_ns();
        atomic_fetch_add_explicit(&e->sleepers, 1, memory_order_relaxed);
        /* Orders the addition to `sleepers` before the loads of `value`: see above. */
        atomic_thread_fence(memory_order_seq_cst);
        while ((now = atomic_load_explicit(&e->value, memory_order_acquire)) == old) {
            heard = patience->progress(patience->context);
            if (heard) break;
            nap = nap * 2 < patience->nap ? nap * 2 : patience->nap;
            rmai_sleep_on(&e->value, old, nap, patience->slept_on);
            if (one_nap) break;
            if (atomic_load_explicit(&e->value, memory_order_relaxed) == old) report_late_wait(patience, stall);
        }
        atomic_fetch_sub_explicit(&e->sleepers, 1, memory_order_relaxed);
    } while (heard && !one_nap);
    now = atomic_load_explicit(&e->value, memory_order_acquire);
    if (gave_up && now != old) adapt_polls(patience, gave_up, 0);
    return now;
}

/* Polls and then yields. *gave_up: when the polls ran out, if their number adapts. */
static uint32_t poll_and_yield(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience,
                               uint64_t *gave_up) {
    unsigned polls = rmai_polls(patience), yields, i;
    uint32_t now;
    for (i = 0; i < polls || i < (polls = more_polls(patience, i)); i++) {
        now = atomic_load_explicit(&e->value, memory_order_acquire);
        if (now != old) return now;
        if (i >= HOT_POLLS) rmai_pause();
    }
    if (patience->polls_now) *gave_up = monotonic_ns();
    now = old;
    yields = yields_of(patience);
    for (i = 0; i < yields; i++) {
        now = atomic_load_explicit(&e->value, memory_order_acquire);
        if (now != old) break;
        sched_yield();
    }
    if (i > 0) has_yielded(patience, now != old);
    return now;
}

static uint32_t wait_for_change(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience,
                                struct rmai_stall *stall, int one_nap) {
    uint64_t gave_up = 0;
    uint32_t now;
    int again = 0;
    if (patience->progress) return wait_with_progress(e, old, patience, stall, one_nap);
    do now = poll_and_yield(e, old, patience, &gave_up);
    while (now == old && polls_again(patience, &again));
    if (now != old) {
        if (gave_up) adapt_polls(patience, gave_up, 0);
        return now;
    }
    atomic_fetch_add_explicit(&e->sleepers, 1, memory_order_relaxed);
    /* Orders the addition to `sleepers` before the loads of `value`: see above. */
    atomic_thread_fence(memory_order_seq_cst);
    const struct timespec first = {.tv_nsec = SLEEP_FIRST}, between_checks = {.tv_nsec = SLEEP_WATCHED};
    const struct timespec *timeout = &first;
    while ((now = atomic_load_explicit(&e->value, memory_order_acquire)) == old) {
        if (one_nap && timeout != &first) break;
        futex_call(&e->value, FUTEX_WAIT, old, timeout);
        timeout = stall && patience->late ? &between_checks : NULL;
        if (timeout && atomic_load_explicit(&e->value, memory_order_relaxed) == old) report_late_wait(patience, stall);
    }
    atomic_fetch_sub_explicit(&e->sleepers, 1, memory_order_relaxed);
    if (gave_up && now != old) adapt_polls(patience, gave_up, 0);
    return now;
}

#define BACKOFF_NAP 1000000 /* longest nap in nanoseconds, if the patience names none */

void rmai_backoff_turn(struct rmai_backoff *b, const struct rmai_patience *patience) {
    const unsigned polls = b->polls;
    long most = patience->nap ? patience->nap : BACKOFF_NAP;
    if (!b->out_of_polls && polls >= b->most) {
        b->most = rmai_polls(patience);
        if (polls >= b->most) b->most = more_polls(patience, polls);
    }
    if (!b->out_of_polls && polls < b->most) {
        b->polls++;
        if (!patience->progress) {
            if (polls >= HOT_POLLS) rmai_pause();
        } else if (patience->progress(patience->context)) {
            if (++b->turns % TURNS_A_CHECK == 0) report_late_wait(patience, b->stall);
            b->polls = 0;
        }
        return;
    }
    if (!b->out_of_polls) {
        b->out_of_polls = 1;
        b->yields = yields_of(patience);
        if (patience->polls_now) b->gave_up = monotonic_ns();
    }
    if (patience->progress) {
        if (patience->progress(patience->context)) {
            if (++b->turns % TURNS_A_CHECK == 0) report_late_wait(patience, b->stall);
            b->nap = 0;
            b->polls = b->most = 0; /* more may follow */
            b->out_of_polls = 0;
            return;
        }
    } else if (b->yields > 0) {
        if (--b->yields == 0) has_yielded(patience, 0);
        sched_yield();
        return;
    }
    if (polls_again(patience, &b->again)) {
        b->polls = b->most = 0;
        b->out_of_polls = 0;
        return;
    }
    b->nap = b->nap == 0 ? NAP_FIRST : b->nap * 2 < most ? b->nap * 2 : most;
    if (patience->doze)
        rmai_doze(patience->doze, b->nap);
    else
        nanosleep(&(struct timespec){.tv_nsec = b->nap}, NULL);
    report_late_wait(patience, b->stall);
}

/* The value counts the calls that end sleeps. So a thread that wakes by itself does not affect the others. */
void rmai_doze(struct rmai_event *doze, long nap) {
    const uint32_t old = atomic_load_explicit(&doze->value, memory_order_relaxed);
    atomic_fetch_add_explicit(&doze->sleepers, 1, memory_order_relaxed);
    rmai_sleep_on(&doze->value, old, nap, NULL);
    atomic_fetch_sub_explicit(&doze->sleepers, 1, memory_order_relaxed);
}

void rmai_rouse_dozers_(struct rmai_event *doze) {
    atomic_fetch_add_explicit(&doze->value, 1, memory_order_relaxed);
    rmai_rouse(&doze->value);
}

void rmai_sleep_on(_Atomic uint32_t *word, uint32_t old, long most, void *_Atomic *told) {
    if (told) atomic_store_explicit(told, word, memory_order_relaxed);
    futex_call(word, FUTEX_WAIT, old, &(struct timespec){.tv_sec = most / 1000000000, .tv_nsec = most % 1000000000});
    if (told) atomic_store_explicit(told, NULL, memory_order_relaxed);
}

void rmai_rouse(_Atomic uint32_t *word) { futex_call(word, FUTEX_WAKE, INT_MAX, NULL); }

uint32_t rmai_wait(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience) {
    return wait_for_change(e, old, patience, NULL, 0);
}

uint32_t rmai_wait_watched(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience,
                           struct rmai_stall *stall) {
    return wait_for_change(e, old, patience, stall, 0);
}

uint32_t rmai_wait_a_while(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience) {
    return wait_for_change(e, old, patience, NULL, 1);
}

void rmai_wake(struct rmai_event *e) {
    if (atomic_load_explicit(&e->sleepers, memory_order_relaxed)) futex_call(&e->value, FUTEX_WAKE, INT_MAX, NULL);
}
