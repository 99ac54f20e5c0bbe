/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/lock.h"
#include "base/attributes.h"
#include "base/wait.h"

#include <time.h>

#define POLLS   200
#define NAP_MIN 20000L   /* ns */
#define NAP_MAX 1000000L /* from here on each nap is followed by a check of the holder */

static int try_take_lock(struct rmai_lock *lock, uint32_t from, uint32_t me) {
    /* Acquire: this PE sees what the holder before it did. Pairs with the release in rmai_unlock. */
    return atomic_compare_exchange_strong_explicit(&lock->holder, &from, me + 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

int64_t rmai_lock(struct rmai_lock *lock, uint32_t me, rmai_lock_dead *dead, void *context) {
    long nap = NAP_MIN;
    if (RMAI_LIKELY(try_take_lock(lock, 0, me))) return -1;
    for (int i = 0; i < POLLS; i++) {
        rmai_pause();
        if (atomic_load_explicit(&lock->holder, memory_order_relaxed) == 0 && try_take_lock(lock, 0, me)) return -1;
    }
    for (;;) {
        uint32_t holder = atomic_load_explicit(&lock->holder, memory_order_relaxed);
        if (holder == 0) {
            if (try_take_lock(lock, 0, me)) return -1;
            continue;
        }
        if (nap == NAP_MAX && dead(context, holder - 1) && try_take_lock(lock, holder, me)) return holder - 1;
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap = nap * 2 < NAP_MAX ? nap * 2 : NAP_MAX;
    }
}

void rmai_unlock(struct rmai_lock *lock) { atomic_store_explicit(&lock->holder, 0, memory_order_release); }
