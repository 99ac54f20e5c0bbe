/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock in memory shared by processes, whose holder may die. A PE that waits for the lock checks now and then whether
 * the holder is alive. It takes the lock over from a dead holder, and the call tells it so. (POSIX's robust mutexes do
 * this too, at twice the price of the uncontended path, and do not tell who died.) */
#ifndef RMAI_LOCK_H
#define RMAI_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* 0: the lock is free. Else 1 + the number of the holder, as the callers number themselves. */
struct rmai_lock {
    _Atomic uint32_t holder;
};

/* rmai_lock_dead returns 1 if number `who` is known to be dead. */
typedef int rmai_lock_dead(void *context, uint32_t who);

/* rmai_lock waits for the lock, and takes it as number `me`. It sleeps in short steps while another PE holds the lock:
 * the lock is meant for work of microseconds. Returns -1, or the number of the dead holder from which it took the lock
 * over; that holder's work may be half done. Several threads may use one number; no thread may lock twice. */
int64_t rmai_lock(struct rmai_lock *lock, uint32_t me, rmai_lock_dead *dead, void *context);

void rmai_unlock(struct rmai_lock *lock);

#endif
