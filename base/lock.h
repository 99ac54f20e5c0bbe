/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock in memory shared by processes, whose holder may die: who waits asks, now and then, whether the holder still
 * lives, takes over from a dead one, and is told. (Robust mutexes of POSIX do this too, at twice the price of the
 * uncontended path, and without a word about who died.) */
#ifndef RMAI_LOCK_H
#define RMAI_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* Zero: free. Else 1 + the number of the holder, as the callers number themselves. */
struct rmai_lock {
    _Atomic uint32_t holder;
};

/* 1 if number `who` is known to be dead. */
typedef int rmai_lock_dead(void *context, uint32_t who);

/* rmai_lock waits for the lock, and takes it as number `me`. Sleeps in short steps while another holds it: meant for
 * what is held for microseconds. Returns -1, or the number of the dead holder it was taken over from, whose work
 * may be half done. Several threads may use one number; none may lock twice. */
int64_t rmai_lock(struct rmai_lock *lock, uint32_t me, rmai_lock_dead *dead, void *context);

void rmai_unlock(struct rmai_lock *lock);

#endif
