/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/put_off.h"

#include <sched.h>

#include "instruments/race/clock.h"
#include "instruments/race/job.h"

#define EVENTS 256
static __thread struct race_event events[EVENTS];
__thread int race_n_put_off;
static int all_put_off; /* of all threads */

/* A second handler may interrupt this: each takes an entry of its own. */
void race_put_off(struct race_event e) {
    const int n = __atomic_fetch_add(&race_n_put_off, 1, __ATOMIC_RELAXED);
    if (n >= EVENTS) {
        __atomic_fetch_sub(&race_n_put_off, 1, __ATOMIC_RELAXED);
        return;
    }
    events[n] = e;
    __atomic_fetch_add(&all_put_off, 1, __ATOMIC_RELAXED);
}

static void happen(struct race_event e) {
    switch (e.kind) {
        case RACE_LOAD_STORE: race_load_store_now(e.address, e.len, e.write, e.pc); break;
        case RACE_LANGUAGE_ATOMIC: race_atomic_now(e.address, e.len, e.write, e.order, e.pc); break;
        case RACE_TELL: race_tell_now((const void *)(uintptr_t)e.address); break;
        case RACE_HEAR: race_hear_now((const void *)(uintptr_t)e.address); break;
    }
}

/* Handlers may add events meanwhile. Each of these events takes and releases locks: that does not begin a second round.
 */
void race_catch_up(void) {
    static __thread int catching_up;
    int done = 0, all;
    if (catching_up) return;
    catching_up = 1;
    do {
        for (; done < race_n_put_off; done++) {
            happen(events[done]);
            __atomic_fetch_sub(&all_put_off, 1, __ATOMIC_RELEASE);
        }
        all = done;
    } while (!__atomic_compare_exchange_n(&race_n_put_off, &all, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    catching_up = 0;
}

/* A handler that wakes this thread may lose its processor to it, and get it back only after other processes. */
#define ATTEMPTS 10000
#define PATIENCE 0.25 /* seconds, at least */
void race_wait_for_put_off(void) {
    double began;
    if (race_is_busy() || !__atomic_load_n(&all_put_off, __ATOMIC_ACQUIRE)) return;
    began = race_seconds();
    for (int i = 0; __atomic_load_n(&all_put_off, __ATOMIC_ACQUIRE) > 0; i++) {
        if (i >= ATTEMPTS && i % 100 == 0 && race_seconds() - began > PATIENCE) return;
        sched_yield();
    }
}
