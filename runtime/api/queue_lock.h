/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks between nodes: the queue of Mellor-Crummey and Scott (1991), by atomics on the lock's words on each PE.
 * runtime/api/locks has the public calls, and the locks of one node.
 *
 * A PE cannot poll a word of a PE on another node. So it writes its number into the node_ of the PE before it in the
 * queue, and waits until that PE grants the lock in its own node_. It writes by a compare-and-swap, which fails if the
 * PE before has already released the lock: then this PE has the lock. So a PE that releases the lock waits for nobody:
 * neither for a PE that is about to write its number, nor for the home, whose tail a message sets to 0. A node_ keeps
 * the phase of its PE's last turn, and so does the tail; phases alternate as in the locks of one node
 * (runtime/api/locks explains why two are enough). A PE's messages to the home keep their order, so no old message sets
 * a tail to 0.
 *
 * A PE stores to its node_ only while no other PE can change it: when it is not in the queue, or when the next PE's
 * number is in the word. Otherwise all PEs change the word by atomics. */
#ifndef RMAI_QUEUE_LOCK_H
#define RMAI_QUEUE_LOCK_H

#include <stdint.h>

#include "rma.h"

struct rmai_world;

/* For both kinds of lock. A PE that stores to a word may miss another PE that is just going to sleep on it; so nobody
 * sleeps for longer than RMAI_LOCK_SLEEP_MOST nanoseconds. rmai_lock_own_word loads this PE's word of the lock, with
 * acquire. rmai_lock_turn_is_over returns 1 if the turn for whose end this PE waits is over: `before` has the number
 * and phase of the PE before it, as found in the tail, and `seen` is that PE's node_ now. */
#define RMAI_LOCK_SLEEP_MOST    1000000
#define RMAI_LOCK_POLLS_CROWDED 50
static inline uint32_t rmai_lock_own_word(const rma_lock_t *lock) {
    return __atomic_load_n(&lock->node_, __ATOMIC_ACQUIRE);
}
static inline int rmai_lock_turn_is_over(uint32_t seen, uint32_t before) {
    return !(seen & RMA_LOCK_HELD_) || ((seen ^ before) & RMA_LOCK_PHASE_);
}

/* lock: this PE's copy, in symmetric memory; home: the PE that has the lock's tail. Each returns RMA_SUCCESS or the
 * recorded error. rmai_queue_lock_set waits for the lock. rmai_queue_lock_test waits only for replies of the home and
 * of the PE that the tail names, and sets *held to 1 if this PE has the lock now. If that PE has released the lock, but
 * the home does not learn of it within a few replies, *held is 0. rmai_queue_lock_clear completes what this PE has
 * begun in RMA_CTX_DEFAULT, and then releases the lock, which this PE holds; after an error it still holds it. */
int rmai_queue_lock_set(struct rmai_world *w, rma_lock_t *lock, int home);
int rmai_queue_lock_test(struct rmai_world *w, rma_lock_t *lock, int home, int *held);
int rmai_queue_lock_clear(struct rmai_world *w, rma_lock_t *lock, int home);

#endif
