/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on locks, and locks in a job of one node: a queue of PEs, in which each waits for the one before it.
 * Each lock has two words on each PE.
 *
 *   tail_   on the lock's home, one PE chosen by its address: 1 + the last PE of the queue, 0 if there never was one
 *   node_   on each PE: whether it is in the queue, and more
 *
 * There are two ways to wait. If all PEs are near (the lock is in memory that all reach), a PE waits for a word of the
 * one before it (T. Craig, "Building FIFO and priority-queuing spin locks from atomic swap", 1993; A. Landin, E.
 * Hagersten). Taking a lock is one exchange of the tail, releasing it one store to the own node_, and only that store
 * passes between two PEs. A PE's node_ says that the PE is in the queue, and in which of its turns, by a phase that
 * alternates from turn to turn. The tail that the next PE has found names the PE and the phase for which that next PE
 * waits. Two phases are enough: a PE cannot begin its turn after next before the PE that waits for the present one has
 * had the lock.
 *
 * Between nodes a PE cannot poll another PE's word: there PEs queue in another way (runtime/api/queue_lock). */
#include "config.h"

#include "base/error.h"
#include "base/settings.h"
#include "base/wait.h"
#include "heap/segment.h"
#include "runtime/context.h"
#include "runtime/job/traffic.h"
#include "runtime/node/barrier.h"
#include "runtime/place.h"
#include "runtime/api/queue_lock.h"
#include "runtime/api/resolve.h"
#include "runtime/watch/stall.h"
#include "runtime/world.h"

#include <assert.h>

/* Checks the argument. Returns the lock's home; -1 after an error, with *code. */
static int home_of_lock(const char *call, rma_lock_t *lock, int *code) {
    struct rmai_world *w = &rmai_world;
    struct rmai_place p;
    *code = rmai_resolve_word(call, "lock", RMA_CTX_DEFAULT, lock, sizeof *lock, w->job.my_pe, &p);
    return *code == RMA_SUCCESS ? rma_lock_home_((size_t)rmai_symmetric_offset(w, lock)) : -1;
}

static int check_not_held(const char *call, rma_lock_t *lock) {
    if (!(rmai_lock_own_word(lock) & RMA_LOCK_HELD_)) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_STATE, "%s: PE %d holds the lock at %p already", call, rmai_world.job.my_pe,
                      (void *)lock);
}

/* ---- on one node ---- */

/* The lock's words on PE pe; NULL if the lock works between nodes, which all PEs decide alike. */
static rma_lock_t *near_copy(rma_lock_t *lock, int pe) {
    const struct rmai_world *w = &rmai_world;
    if (w->job.networked) return NULL;
    if (!rmai_segment_holds(&w->symmetric, lock) && w->job.statics_mode != RMAI_STATICS_REMAP) return NULL;
    return rma_ptr(lock, pe);
}

/* The PE that releases the lock reads ASLEEP before it stores. Between the two it may miss a PE that goes to sleep: so
 * that PE wakes by itself after RMAI_LOCK_SLEEP_MOST. */
int rma_lock_wait_(rma_lock_t *lock, uint32_t before) {
    struct rmai_world *w = &rmai_world;
    const struct rmai_patience *patience = &w->barrier->patience;
    struct rmai_stall stall = {
        .call = "rma_set_lock", .pe = (int)(before & RMA_LOCK_PE_) - 1, .in_line = 1, .by_call = 1};
    struct rmai_backoff backoff = {.stall = &stall};
    unsigned polls = w->barrier->crowded ? RMAI_LOCK_POLLS_CROWDED : rmai_polls(patience);
    assert(stall.pe >= 0 && stall.pe < w->job.n_pes && stall.pe != w->job.my_pe && "the tail was another PE's");
    uint32_t *word = &near_copy(lock, (int)(before & RMA_LOCK_PE_) - 1)->node_, seen;
    /* No code reads this number of the PE before; it lets a person follow the queue in a debugger. */
    __atomic_fetch_or(&lock->node_, before & RMA_LOCK_PE_, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < polls; i++) {
        if (rmai_lock_turn_is_over(__atomic_load_n(word, __ATOMIC_ACQUIRE), before)) {
            rmai_wait_over(patience, &stall);
            return RMA_SUCCESS;
        }
        if (w->barrier->crowded)
            rmai_pause();
        else
            rmai_backoff_turn(&backoff, patience);
    }
    seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    while (!rmai_lock_turn_is_over(seen, before)) {
        if (!(seen & RMA_LOCK_ASLEEP_)) {
            if (!__atomic_compare_exchange_n(word, &seen, seen | RMA_LOCK_ASLEEP_, 0, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE))
                continue;
            seen |= RMA_LOCK_ASLEEP_;
        }
        rmai_sleep_on((_Atomic uint32_t *)word, seen, RMAI_LOCK_SLEEP_MOST, NULL);
        seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (!rmai_lock_turn_is_over(seen, before)) patience->late(patience->context, &stall);
    }
    rmai_wait_over(patience, &stall);
    return RMA_SUCCESS;
}

int rma_lock_past_slow_(rma_lock_t *lock, uint32_t tail) {
    struct rmai_world *w = &rmai_world;
    if (rmai_lock_turn_is_over(
            __atomic_load_n(&near_copy(lock, (int)(tail & RMA_LOCK_PE_) - 1)->node_, __ATOMIC_ACQUIRE), tail))
        return 1;
    if (rmai_stall_test_due()) rmai_stall_test(w->watch, "rma_test_lock", lock, tail);
    return 0;
}

static void count_near_atomic(void) { rmai_count(rmai_world.traffic, RMA_PATH_MEMORY, RMAI_ATOMICS, 0); }

static int clear_near_lock(rma_lock_t *lock) {
    uint32_t node = __atomic_exchange_n(&lock->node_, rmai_lock_own_word(lock) & RMA_LOCK_PHASE_, __ATOMIC_RELEASE);
    if (node & RMA_LOCK_ASLEEP_) rmai_rouse((_Atomic uint32_t *)&lock->node_);
    return RMA_SUCCESS;
}

/* ---- the calls ---- */

int rma_set_lock_slow_(rma_lock_t *lock) {
    int code, home = home_of_lock("rma_set_lock", lock, &code);
    rma_lock_t *there;
    if (code == RMA_SUCCESS) code = check_not_held("rma_set_lock", lock);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if ((there = near_copy(lock, home)) != NULL) {
        count_near_atomic();
        return rma_lock_set_(lock, &there->tail_, rmai_lock_own_word(lock));
    }
    return rmai_raise(rmai_queue_lock_set(&rmai_world, lock, home));
}

int rma_test_lock_slow_(rma_lock_t *lock) {
    int code, home = home_of_lock("rma_test_lock", lock, &code), held = 0;
    rma_lock_t *there;
    if (code == RMA_SUCCESS) code = check_not_held("rma_test_lock", lock);
    if (code != RMA_SUCCESS) {
        rmai_raise(code);
        return 0;
    }
    if ((there = near_copy(lock, home)) != NULL) {
        count_near_atomic();
        return rma_lock_test_(lock, &there->tail_, rmai_lock_own_word(lock));
    }
    rmai_raise(rmai_queue_lock_test(&rmai_world, lock, home, &held));
    return held;
}

int rma_clear_lock_slow_(rma_lock_t *lock) {
    struct rmai_world *w = &rmai_world;
    int code, home = home_of_lock("rma_clear_lock", lock, &code);
    if (code == RMA_SUCCESS && !(rmai_lock_own_word(lock) & RMA_LOCK_HELD_))
        code =
            rmai_error(RMA_ERR_STATE, "rma_clear_lock: PE %d does not hold the lock at %p", w->job.my_pe, (void *)lock);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (!near_copy(lock, home)) return rmai_raise(rmai_queue_lock_clear(w, lock, home));
    code = rmai_quiet_default(w, "rma_clear_lock");
    return code == RMA_SUCCESS ? clear_near_lock(lock) : rmai_raise(code);
}
