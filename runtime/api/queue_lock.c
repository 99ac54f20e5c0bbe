/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/api/queue_lock.h"

#include "base/wait.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/net/op.h"
#include "runtime/net/progress.h"
#include "runtime/node/barrier.h"
#include "runtime/place.h"
#include "runtime/api/resolve.h"
#include "runtime/watch/stall.h"
#include "runtime/world.h"

#include <assert.h>

#define LATE_TAIL_QUESTIONS                                                                                            \
    32 /* to other PEs about a tail whose PE has released the lock, before it counts as not free */

/* Waits until the PE before, which `stall` names, has granted the lock in this PE's node_. */
static void await_grant(struct rmai_world *w, rma_lock_t *lock, struct rmai_stall *stall) {
    const struct rmai_patience *patience = &w->barrier->patience;
    struct rmai_backoff backoff = {.stall = stall};
    unsigned polls = w->barrier->crowded ? RMAI_LOCK_POLLS_CROWDED : rmai_polls(patience);
    uint32_t node;
    for (unsigned i = 0; i < polls; i++) {
        if (rmai_lock_own_word(lock) & RMA_LOCK_GRANTED_) break;
        if (w->barrier->crowded)
            rmai_pause();
        else
            rmai_backoff_turn(&backoff, patience);
    }
    while (!((node = rmai_lock_own_word(lock)) & RMA_LOCK_GRANTED_)) {
        patience->late(patience->context, stall);
        if (patience->progress && patience->progress(patience->context)) continue;
        if (!(node & RMA_LOCK_ASLEEP_)) node = __atomic_or_fetch(&lock->node_, RMA_LOCK_ASLEEP_, __ATOMIC_ACQ_REL);
        if (!(node & RMA_LOCK_GRANTED_))
            rmai_sleep_on((_Atomic uint32_t *)&lock->node_, node,
                          patience->progress ? patience->nap : RMAI_LOCK_SLEEP_MOST, patience->slept_on);
    }
    rmai_wait_over(patience, stall);
    /* The word that the next PE expects from the PE that holds the lock (enter_behind). */
    __atomic_and_fetch(&lock->node_, ~(RMA_LOCK_GRANTED_ | RMA_LOCK_ASLEEP_), __ATOMIC_RELAXED);
}

/* An atomic on a word of the lock on PE pe. Between nodes it is complete on return only if *old is wanted. */
static int atomic_on_word(struct rmai_world *w, const char *call, const uint32_t *word, int pe, int op, uint32_t value,
                          uint32_t cond, struct rmai_place *p, uint64_t *old) {
    const int found = rmai_place_symmetric(w, word, sizeof *word, pe, p);
    assert(found && "runtime/api/locks has checked the lock's address");
    (void)found;
    p->set = w->contexts->standing.pending;
    return rmai_place_atomic(w, call, p, op, sizeof *word, value, cond, old);
}

/* The same; *before is the old value. */
static int fetching_atomic(struct rmai_world *w, const char *call, const uint32_t *word, int pe, int op, uint32_t value,
                           uint32_t cond, uint32_t *before) {
    struct rmai_place p;
    uint64_t old = 0;
    int code = atomic_on_word(w, call, word, pe, op, value, cond, &p, &old);
    *before = (uint32_t)old;
    return code;
}

/* Tells pe that it has the lock, and wakes pe if it sleeps. A PE of this node is woken from here, one of another node
 * by the thread that does the atomic there (runtime/net/serve.c). */
static int grant_lock(struct rmai_world *w, const char *call, rma_lock_t *lock, int pe) {
    const int near = rmai_node_slot(&w->job, pe) >= 0;
    assert(pe >= 0 && pe < w->job.n_pes && pe != w->job.my_pe && "a PE that waits has written its number");
    struct rmai_place p;
    uint64_t before = 0;
    int code =
        atomic_on_word(w, call, &lock->node_, pe, RMA_FETCH_OR_, RMA_LOCK_GRANTED_, 0, &p, near ? &before : NULL);
    if (code != RMA_SUCCESS) return code;
    if (!near) rmai_net_send_open(p.set, pe);
    if (before & RMA_LOCK_ASLEEP_ && p.there) rmai_rouse(p.there);
    return RMA_SUCCESS;
}

/* Begins the next turn of this PE, in its node_. Returns the tail for this turn. */
static uint32_t begin_turn(const struct rmai_world *w, rma_lock_t *lock) {
    const uint32_t phase = ~rmai_lock_own_word(lock) & RMA_LOCK_PHASE_;
    assert(!(rmai_lock_own_word(lock) & RMA_LOCK_HELD_) && "runtime/api/locks has checked that its turn is over");
    __atomic_store_n(&lock->node_, RMA_LOCK_HELD_ | phase, __ATOMIC_RELEASE);
    return phase | ((uint32_t)w->job.my_pe + 1);
}

/* Takes back the turn that this PE has begun: it did not get into the queue. */
static void take_turn_back(rma_lock_t *lock) {
    __atomic_store_n(&lock->node_, ~rmai_lock_own_word(lock) & RMA_LOCK_PHASE_, __ATOMIC_RELEASE);
}

/* This PE has found `before` in the tail, and has become the tail itself. Waits until the turn of that PE is over. */
static int enter_behind(struct rmai_world *w, const char *call, rma_lock_t *lock, uint32_t before) {
    const uint32_t me = (uint32_t)w->job.my_pe + 1;
    struct rmai_stall stall = {.call = call, .in_line = 1, .by_call = 1, .pe = (int)(before & RMA_LOCK_PE_) - 1};
    uint32_t seen = RMA_LOCK_HELD_ | (before & RMA_LOCK_PHASE_), expected;
    struct rmai_place p;
    uint64_t old = 0;
    int code;
    if (before == 0 || (before & RMA_LOCK_PE_) == me) return RMA_SUCCESS;
    /* Repeats if that PE waits itself, and perhaps sleeps, or has just been granted the lock. */
    do {
        expected = seen;
        code = atomic_on_word(w, call, &lock->node_, stall.pe, RMA_COMPARE_SWAP_, expected | me, expected, &p, &old);
        if (code != RMA_SUCCESS) return code;
        seen = (uint32_t)old;
        if (rmai_lock_turn_is_over(seen, before)) return RMA_SUCCESS;
    } while (seen != expected);
    if (seen & RMA_LOCK_ASLEEP_ && p.there) rmai_rouse(p.there); /* its word has changed */
    await_grant(w, lock, &stall);
    return RMA_SUCCESS;
}

int rmai_queue_lock_set(struct rmai_world *w, rma_lock_t *lock, int home) {
    static const char call[] = "rma_set_lock";
    const uint32_t turn = begin_turn(w, lock);
    uint32_t before;
    int code = fetching_atomic(w, call, &lock->tail_, home, RMA_SWAP_, turn, 0, &before);
    if (code == RMA_SUCCESS) return enter_behind(w, call, lock, before);
    take_turn_back(lock);
    return code;
}

/* Puts this PE's turn into the tail if that is 0; then *held is 1. A tail that is not 0 may belong to a PE whose turn
 * is over, while its message to the home is under way. That PE's node_ tells, and this PE then reads the tail again. It
 * must not replace the old tail by a compare-and-swap: that PE may hold the lock again by then, in a turn of the same
 * phase. */
static int enter_if_free(struct rmai_world *w, const char *call, rma_lock_t *lock, int home, uint32_t turn, int *held) {
    uint32_t before, seen;
    int code = RMA_SUCCESS;
    const int a_look = rmai_node_slot(&w->job, home) < 0 ? 2 : 1; /* questions: to the home, and to that PE */
    for (int asked = 0; asked < LATE_TAIL_QUESTIONS; asked += a_look) {
        code = fetching_atomic(w, call, &lock->tail_, home, RMA_COMPARE_SWAP_, turn, 0, &before);
        *held = code == RMA_SUCCESS && before == 0;
        if (code != RMA_SUCCESS || *held) break;
        code = fetching_atomic(w, call, &lock->node_, (int)(before & RMA_LOCK_PE_) - 1, RMA_FETCH_, 0, 0, &seen);
        if (code != RMA_SUCCESS || !rmai_lock_turn_is_over(seen, before)) break;
    }
    return code;
}

int rmai_queue_lock_test(struct rmai_world *w, rma_lock_t *lock, int home, int *held) {
    static const char call[] = "rma_test_lock";
    const uint32_t turn = begin_turn(w, lock);
    int code = enter_if_free(w, call, lock, home, turn, held);
    if (*held) return RMA_SUCCESS;
    take_turn_back(lock);
    rmai_net_progress(w->net, 1);
    if (rmai_stall_test_due()) rmai_stall_test(w->watch, call, lock, 0); /* its tail is on another node */
    return code;
}

/* First the node_ says that the turn is over, then the tail becomes 0 if no other PE has come. A PE that comes between
 * the two reads the node_. */
static int end_turn(struct rmai_world *w, const char *call, rma_lock_t *lock, int home, uint32_t *node) {
    const uint32_t expected = *node, phase = expected & RMA_LOCK_PHASE_, me = (uint32_t)w->job.my_pe + 1;
    struct rmai_place p;
    int code = fetching_atomic(w, call, &lock->node_, w->job.my_pe, RMA_COMPARE_SWAP_, phase, expected, node);
    if (code != RMA_SUCCESS || *node != expected) return code;
    code = atomic_on_word(w, call, &lock->tail_, home, RMA_COMPARE_SWAP_, 0, phase | me, &p, NULL);
    if (code == RMA_SUCCESS && p.far) rmai_net_send_open(p.set, p.pe);
    return code;
}

int rmai_queue_lock_clear(struct rmai_world *w, rma_lock_t *lock, int home) {
    static const char call[] = "rma_clear_lock";
    uint32_t node = rmai_lock_own_word(lock);
    int code = rmai_quiet_default(w, call);
    if (code == RMA_SUCCESS && !(node & RMA_LOCK_PE_)) code = end_turn(w, call, lock, home, &node);
    if (code != RMA_SUCCESS || !(node & RMA_LOCK_PE_)) return code;
    __atomic_store_n(&lock->node_, node & RMA_LOCK_PHASE_, __ATOMIC_RELEASE);
    return grant_lock(w, call, lock, (int)(node & RMA_LOCK_PE_) - 1);
}
