/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks between nodes (rma_lock_t of include/rma_inline.h): the queue of Mellor-Crummey and Scott (1991), by puts and
 * atomics on the lock's words on each PE. runtime/locks has the public calls, and the locks of one node.
 *
 * A PE cannot poll a word of a PE on another node. So it writes its number into the node_ of the PE before it in the
 * queue, and waits until the lock is granted in its own node_. A PE stores to its node_ only while it is in no queue;
 * in the queue it and others change the word by atomics, which only add bits. Where MPI does the atomics (RMA_AMO=mpi)
 * a processor's atomic on the own word would be a second authority, and updates could be lost: so a waiting PE does not
 * add the bit that says that it sleeps, and polls instead. */
#ifndef RMAI_QUEUE_LOCK_H
#define RMAI_QUEUE_LOCK_H

#include <stdint.h>

#include "rma.h"

struct rmai_world;

/* For both kinds of lock. A PE that stores to a word may miss another one that is just going to sleep on it: so that
 * one sleeps for RMAI_LOCK_SLEEP_MOST nanoseconds at most. rmai_lock_own_word: this PE's word of the lock, acquired. */
#define RMAI_LOCK_SLEEP_MOST    1000000
#define RMAI_LOCK_POLLS_CROWDED 50
static inline uint32_t rmai_lock_own_word(const rma_lock_t *lock) {
    return __atomic_load_n(&lock->node_, __ATOMIC_ACQUIRE);
}

/* lock: this PE's copy, in symmetric memory; home: the PE that has the lock's tail. Each returns RMA_SUCCESS or the
 * recorded error. rmai_queue_lock_set waits for the lock; rmai_queue_lock_test waits for nothing but the home's reply,
 * and sets *held to 1 if this PE has the lock now. rmai_queue_lock_clear gives up the lock, which this PE holds; it
 * waits for the next PE of the queue, if that PE is entering the queue at that moment. */
int rmai_queue_lock_set(struct rmai_world *w, rma_lock_t *lock, int home);
int rmai_queue_lock_test(struct rmai_world *w, rma_lock_t *lock, int home, int *held);
int rmai_queue_lock_clear(struct rmai_world *w, rma_lock_t *lock, int home);

#endif
