/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock in one word, which is 0 when it is free. Threads of this process, or in the shared memory of any PE, hold it
 * for a few instructions; it allocates nothing and needs no initialization.
 *
 * A signal handler may interrupt a thread that holds such a lock, and would wait for the lock for ever. So each thread
 * counts the locks that it holds, and while the count is not 0 the hooks of loads, stores and atomics, and those that
 * tell or hear, put their events off (put_off.h). Other functions that take a lock must not be called in a handler.
 * race_hold and race_let_go also count other things for which threads wait as for a lock. */
#ifndef RACE_SPIN_H
#define RACE_SPIN_H

#include <sched.h>
#include <stdint.h>

extern __thread int race_locks_held; /* locks that the calling thread holds or waits for */
extern __thread int race_n_put_off;  /* its events that are put off */
extern int race_holds_in_library;    /* 1: it also counts its calls of the library (forward.h) */
void race_catch_up(void);            /* these events happen now */

static inline void race_hold(void) {
    race_locks_held++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void race_let_go(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (--race_locks_held == 0 && __builtin_expect(race_n_put_off, 0)) race_catch_up();
}

/* RACE_HELD; among a function's variables: a hold until the function returns. */
static inline void race_hold_ends(const int *held) {
    (void)held;
    race_let_go();
}
#define RACE_HELD const int held __attribute__((cleanup(race_hold_ends), unused)) = (race_hold(), 0)

static inline void race_spin_lock(uint32_t *word) {
    race_hold();
    for (unsigned tries = 0; __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE); tries++)
        if (tries > 100) sched_yield();
}

static inline void race_spin_unlock(uint32_t *word) {
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    race_let_go();
}

#endif
