/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/queue_lock.h"
#include "base/wait.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/node/barrier.h"
#include "runtime/place.h"
#include "runtime/transfer.h"
#include "runtime/world.h"

#include <assert.h>

/* Waits until the own node_ has one of the bits. `stall` says which PE is to add it. */
static uint32_t await_bits(struct rmai_world *w, rma_lock_t *lock, uint32_t bits, struct rmai_stall *stall) {
    const struct rmai_patience *patience = &w->barrier->patience;
    struct rmai_backoff backoff = {.stall = stall};
    unsigned polls = w->barrier->crowded ? RMAI_LOCK_POLLS_CROWDED : rmai_polls(patience);
    uint32_t node;
    for (unsigned i = 0; i < polls; i++) {
        if ((node = rmai_lock_own_word(lock)) & bits) break;
        if (w->barrier->crowded)
            rmai_pause();
        else
            rmai_backoff_turn(&backoff, patience);
    }
    while (!((node = rmai_lock_own_word(lock)) & bits)) {
        if (w->net->amo_mpi) {
            rmai_backoff_turn(&backoff, patience);
            continue;
        }
        patience->late(patience->context, stall);
        if (patience->progress && patience->progress(patience->context)) continue;
        if (!(node & RMA_LOCK_ASLEEP_)) node = __atomic_or_fetch(&lock->node_, RMA_LOCK_ASLEEP_, __ATOMIC_ACQ_REL);
        if (!(node & bits))
            rmai_sleep_on((_Atomic uint32_t *)&lock->node_, node,
                          patience->progress ? patience->nap : RMAI_LOCK_SLEEP_MOST, patience->slept_on);
    }
    rmai_wait_over(patience, stall);
    return node;
}

/* An atomic on a word of the lock on PE pe. Between nodes it is complete on return only if *old is wanted. */
static int atomic_on_word(struct rmai_world *w, const char *call, const uint32_t *word, int pe, int op, uint32_t value,
                          uint32_t cond, struct rmai_place *p, uint64_t *old) {
    const int found = rmai_place_symmetric(w, word, sizeof *word, pe, p);
    assert(found && "runtime/locks has checked the lock's address");
    (void)found;
    p->set = &w->contexts->standing.pending;
    return rmai_place_atomic(w, call, p, op, sizeof *word, value, cond, old);
}

/* Adds bits to the node_ of pe, and wakes pe if it sleeps. A PE of this node is woken from here, one of another node by
 * the thread that does the atomic there (runtime/net/reply.c). */
static int add_node_bits(struct rmai_world *w, const char *call, rma_lock_t *lock, int pe, uint32_t bits) {
    const int near = rmai_node_slot(&w->job, pe) >= 0;
    struct rmai_place p;
    uint64_t before = 0;
    int code = atomic_on_word(w, call, &lock->node_, pe, RMA_FETCH_OR_, bits, 0, &p, near ? &before : NULL);
    if (code != RMA_SUCCESS) return code;
    if (!near) return rmai_quiet_default(w, call); /* complete on pe */
    if (before & RMA_LOCK_ASLEEP_ && p.there) rmai_rouse(p.there);
    return RMA_SUCCESS;
}

/* An atomic on the tail; *before is the old value. */
static int atomic_on_tail(struct rmai_world *w, const char *call, int op, rma_lock_t *lock, uint32_t value,
                          uint32_t cond, int home, uint32_t *before) {
    struct rmai_place p;
    uint64_t old = 0;
    int code = atomic_on_word(w, call, &lock->tail_, home, op, value, cond, &p, &old);
    *before = (uint32_t)old;
    return code;
}

int rmai_queue_lock_set(struct rmai_world *w, rma_lock_t *lock, int home) {
    static const char call[] = "rma_set_lock";
    const uint32_t me = (uint32_t)w->job.my_pe + 1;
    struct rmai_stall stall = {.call = call, .in_line = 1};
    uint32_t before;
    int code;
    __atomic_store_n(&lock->node_, RMA_LOCK_HELD_, __ATOMIC_RELAXED);
    code = atomic_on_tail(w, call, RMA_SWAP_, lock, me, 0, home, &before);
    if (code != RMA_SUCCESS) __atomic_store_n(&lock->node_, 0, __ATOMIC_RELAXED);
    if (code != RMA_SUCCESS || before == 0) return code;
    stall.pe = (int)before - 1;
    code = add_node_bits(w, call, lock, stall.pe, me);
    if (code == RMA_SUCCESS) await_bits(w, lock, RMA_LOCK_GRANTED_, &stall);
    return code;
}

int rmai_queue_lock_test(struct rmai_world *w, rma_lock_t *lock, int home, int *held) {
    uint32_t before;
    int code;
    __atomic_store_n(&lock->node_, RMA_LOCK_HELD_, __ATOMIC_RELAXED);
    code = atomic_on_tail(w, "rma_test_lock", RMA_COMPARE_SWAP_, lock, (uint32_t)w->job.my_pe + 1, 0, home, &before);
    *held = code == RMA_SUCCESS && before == 0;
    if (*held) return RMA_SUCCESS;
    __atomic_store_n(&lock->node_, 0, __ATOMIC_RELAXED);
    rmai_net_progress(w->net, 1);
    return code;
}

int rmai_queue_lock_clear(struct rmai_world *w, rma_lock_t *lock, int home) {
    static const char call[] = "rma_clear_lock";
    const uint32_t me = (uint32_t)w->job.my_pe + 1;
    struct rmai_stall stall = {.call = call, .awaited = RMAI_AWAITED_ANY};
    uint32_t node = rmai_lock_own_word(lock), before;
    if (!(node & RMA_LOCK_PE_)) {
        int code = atomic_on_tail(w, call, RMA_COMPARE_SWAP_, lock, 0, me, home, &before);
        if (code != RMA_SUCCESS) return code;
        if (before == me) {
            __atomic_store_n(&lock->node_, 0, __ATOMIC_RELAXED);
            return RMA_SUCCESS;
        }
        /* The next PE has changed the tail, and is about to add its number. */
        node = await_bits(w, lock, RMA_LOCK_PE_, &stall);
    }
    __atomic_store_n(&lock->node_, 0, __ATOMIC_RELAXED);
    return add_node_bits(w, call, lock, (int)(node & RMA_LOCK_PE_) - 1, RMA_LOCK_GRANTED_);
}
