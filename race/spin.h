/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock in one word, which is 0 when it is free. Held for some instructions, by threads of this process or, in the
 * shared memory, of any PE; it allocates nothing and needs no opening.
 *
 * A signal handler of the program may interrupt a thread that holds one, and would wait for it for ever. So each
 * thread counts those that it holds, and while there is one the hooks of loads, stores, atomics and of what tells or
 * hears do nothing. What else takes a lock may not be called in a handler. Whatever others wait for as for a lock is
 * counted by race_hold and race_let_go. */
#ifndef RACE_SPIN_H
#define RACE_SPIN_H

#include <sched.h>
#include <stdint.h>

extern __thread int race_locks_held; /* by the calling thread; one that it waits for counts */

static inline void race_hold(void) {
    race_locks_held++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void race_let_go(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    race_locks_held--;
}

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
