/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks: a queue of PEs, in which each waits for the one before it. Each lock has two words on each PE.
 *
 *   tail_   on the lock's home, one PE chosen by its address: 1 + the last PE of the queue, 0 if there never was one
 *   node_   on each PE: whether it is in the queue, and more
 *
 * There are two ways to wait. Where all PEs are near (rmai_one_node; the lock is in memory that all reach), a PE waits
 * for a word of the one before it (T. Craig, "Building FIFO and priority-queuing spin locks from atomic swap", 1993; A.
 * Landin, E. Hagersten). To take a lock is one exchange of the tail, to release it one store to the own node_, and that
 * store is all that passes between two PEs. A PE's node_ says that the PE is in the queue, and by a phase, which
 * alternates from turn to turn, in which of its turns. The tail that the next PE has found names the PE and the phase
 * for which that next PE waits. Two phases are enough: a PE cannot begin its turn after next before the PE that waits
 * for the present one has had the lock.
 *
 * Between nodes a PE cannot poll another one's word. There it writes its number into the node_ of the PE before it, and
 * waits until the lock is granted in its own (Mellor-Crummey and Scott, 1991). A PE stores to its node_ only while it
 * is in no queue; in the queue it and others change the word by atomics, which only add bits. Where MPI does the
 * atomics (RMA_AMO=mpi) a processor's atomic on the own word would be a second authority, and updates could be lost: so
 * a waiting PE does not add the bit that says that it sleeps, and polls instead. */
#include "config.h"

#include "base/error.h"
#include "runtime/transfer.h"
#include "runtime/world.h"

#define SLEEP_MOST    1000000 /* nanoseconds: should a wake-up be missed */
#define POLLS_CROWDED 50

/* Checks the argument. Returns the lock's home; -1 after an error, with *code. */
static int home_of_lock(const char *call, rma_lock_t *lock, int *code) {
    struct rmai_world *w = &rmai_world;
    struct rmai_place p;
    *code = rmai_resolve_word(call, "lock", RMA_CTX_DEFAULT, lock, sizeof *lock, w->job.my_pe, &p);
    return *code == RMA_SUCCESS ? rma_lock_home_((size_t)rmai_symmetric_offset(w, lock)) : -1;
}

static uint32_t own_node_word(const rma_lock_t *lock) { return __atomic_load_n(&lock->node_, __ATOMIC_ACQUIRE); }

static int check_not_held(const char *call, rma_lock_t *lock) {
    if (!(own_node_word(lock) & RMA_LOCK_HELD_)) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_STATE, "%s: PE %d holds the lock at %p already", call, rmai_world.job.my_pe,
                      (void *)lock);
}

/* ---- on one node ---- */

/* The lock's words on PE pe; NULL if the lock works between nodes, which all PEs decide alike. */
static rma_lock_t *near_copy(rma_lock_t *lock, int pe) {
    const struct rmai_world *w = &rmai_world;
    if (!rmai_one_node(w)) return NULL;
    if (!rmai_segment_holds(&w->symmetric, lock) && w->job.statics_mode != RMAI_STATICS_REMAP) return NULL;
    return rma_ptr(lock, pe);
}

/* `seen` is the node_ of the PE before; `before` is the tail that this PE has found, with that PE's phase. */
static int turn_has_come(uint32_t seen, uint32_t before) {
    return !(seen & RMA_LOCK_HELD_) || ((seen ^ before) & RMA_LOCK_PHASE_);
}

/* The PE that releases the lock reads ASLEEP before it stores. Between the two it may miss a PE that goes to sleep:
 * hence SLEEP_MOST, after which that PE wakes by itself. */
int rma_lock_wait_(rma_lock_t *lock, uint32_t before) {
    struct rmai_world *w = &rmai_world;
    const struct rmai_patience *patience = &w->barrier.patience;
    struct rmai_stall stall = {.call = "rma_set_lock", .pe = (int)(before & RMA_LOCK_PE_) - 1, .in_line = 1};
    struct rmai_backoff backoff = {.stall = &stall};
    unsigned polls = w->barrier.crowded ? POLLS_CROWDED : rmai_polls(patience);
    uint32_t *word = &near_copy(lock, (int)(before & RMA_LOCK_PE_) - 1)->node_, seen;
    /* Nothing reads this number of the PE before: with it a person can follow the queue in a debugger. */
    __atomic_fetch_or(&lock->node_, before & RMA_LOCK_PE_, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < polls; i++) {
        if (turn_has_come(__atomic_load_n(word, __ATOMIC_ACQUIRE), before)) {
            rmai_wait_over(patience, &stall);
            return RMA_SUCCESS;
        }
        if (w->barrier.crowded)
            rmai_pause();
        else
            rmai_backoff_turn(&backoff, patience);
    }
    seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    while (!turn_has_come(seen, before)) {
        if (!(seen & RMA_LOCK_ASLEEP_)) {
            if (!__atomic_compare_exchange_n(word, &seen, seen | RMA_LOCK_ASLEEP_, 0, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE))
                continue;
            seen |= RMA_LOCK_ASLEEP_;
        }
        rmai_sleep_on((_Atomic uint32_t *)word, seen, SLEEP_MOST, NULL);
        seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (!turn_has_come(seen, before)) patience->late(patience->context, &stall);
    }
    rmai_wait_over(patience, &stall);
    return RMA_SUCCESS;
}

int rma_lock_past_slow_(rma_lock_t *lock, uint32_t tail) {
    return turn_has_come(__atomic_load_n(&near_copy(lock, (int)(tail & RMA_LOCK_PE_) - 1)->node_, __ATOMIC_ACQUIRE),
                         tail);
}

static void count_near_atomic(void) { rmai_count(&rmai_world.traffic, RMA_PATH_MEMORY, RMAI_ATOMICS, 0); }

static int clear_near_lock(rma_lock_t *lock) {
    uint32_t node = __atomic_exchange_n(&lock->node_, own_node_word(lock) & RMA_LOCK_PHASE_, __ATOMIC_RELEASE);
    if (node & RMA_LOCK_ASLEEP_) rmai_rouse((_Atomic uint32_t *)&lock->node_);
    return RMA_SUCCESS;
}

/* ---- between nodes ---- */

/* Waits until the own node_ has one of the bits. `stall` says which PE is to add it. */
static uint32_t await_bits(rma_lock_t *lock, uint32_t bits, struct rmai_stall *stall) {
    struct rmai_world *w = &rmai_world;
    const struct rmai_patience *patience = &w->barrier.patience;
    struct rmai_backoff backoff = {.stall = stall};
    unsigned polls = w->barrier.crowded ? POLLS_CROWDED : rmai_polls(patience);
    uint32_t node;
    for (unsigned i = 0; i < polls; i++) {
        if ((node = own_node_word(lock)) & bits) break;
        if (w->barrier.crowded)
            rmai_pause();
        else
            rmai_backoff_turn(&backoff, patience);
    }
    while (!((node = own_node_word(lock)) & bits)) {
        if (w->net.amo_mpi) {
            rmai_backoff_turn(&backoff, patience);
            continue;
        }
        patience->late(patience->context, stall);
        if (patience->progress && patience->progress(patience->context)) continue;
        if (!(node & RMA_LOCK_ASLEEP_)) node = __atomic_or_fetch(&lock->node_, RMA_LOCK_ASLEEP_, __ATOMIC_ACQ_REL);
        if (!(node & bits))
            rmai_sleep_on((_Atomic uint32_t *)&lock->node_, node, patience->progress ? patience->nap : SLEEP_MOST,
                          patience->slept_on);
    }
    rmai_wait_over(patience, stall);
    return node;
}

/* Adds bits to the node_ of pe, and wakes pe if it sleeps. A PE of this node is woken from here, one of another node by
 * the thread that does the atomic there (runtime/net/reply.c). */
static int add_node_bits(const char *call, rma_lock_t *lock, int pe, uint32_t bits) {
    struct rmai_world *w = &rmai_world;
    uint32_t *word = rma_atomic_ptr_(&lock->node_, sizeof *word, pe);
    int near = rmai_node_slot(&w->job, pe) >= 0;
    uint64_t before = 0;
    if (word) {
        before = __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL);
    } else {
        int code = rma_atomic_slow_(call, RMA_CTX_DEFAULT, RMA_FETCH_OR_, &lock->node_, sizeof *word, bits, 0, pe,
                                    near ? &before : NULL);
        if (code != RMA_SUCCESS) return code;
        if (!near) return rmai_raise(rmai_quiet_default(w, call)); /* complete on pe */
    }
    if (before & RMA_LOCK_ASLEEP_ && (word || (word = rma_ptr(&lock->node_, pe)) != NULL))
        rmai_rouse((_Atomic uint32_t *)word);
    return RMA_SUCCESS;
}

static int wait_for_grant(rma_lock_t *lock, uint32_t before) {
    struct rmai_world *w = &rmai_world;
    struct rmai_stall stall = {.call = "rma_set_lock", .pe = (int)before - 1, .in_line = 1};
    int code = add_node_bits("rma_set_lock", lock, stall.pe, (uint32_t)w->job.my_pe + 1);
    if (code != RMA_SUCCESS) return code;
    await_bits(lock, RMA_LOCK_GRANTED_, &stall);
    return RMA_SUCCESS;
}

/* An atomic on the tail; *before is the old value. */
static int atomic_on_tail(const char *call, int op, rma_lock_t *lock, uint32_t value, uint32_t cond, int home,
                          uint32_t *before) {
    uint64_t old = 0;
    int code = rma_atomic_slow_(call, RMA_CTX_DEFAULT, op, &lock->tail_, sizeof lock->tail_, value, cond, home, &old);
    *before = (uint32_t)old;
    return code;
}

int rma_set_lock_slow_(rma_lock_t *lock) {
    int code, home = home_of_lock("rma_set_lock", lock, &code);
    rma_lock_t *there;
    uint32_t before;
    if (code == RMA_SUCCESS) code = check_not_held("rma_set_lock", lock);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if ((there = near_copy(lock, home)) != NULL) {
        count_near_atomic();
        return rma_lock_set_(lock, &there->tail_, own_node_word(lock));
    }
    __atomic_store_n(&lock->node_, RMA_LOCK_HELD_, __ATOMIC_RELAXED);
    code = atomic_on_tail("rma_set_lock", RMA_SWAP_, lock, (uint32_t)rmai_world.job.my_pe + 1, 0, home, &before);
    if (code != RMA_SUCCESS) __atomic_store_n(&lock->node_, 0, __ATOMIC_RELAXED);
    return code != RMA_SUCCESS || before == 0 ? code : wait_for_grant(lock, before);
}

int rma_test_lock_slow_(rma_lock_t *lock) {
    int code, home = home_of_lock("rma_test_lock", lock, &code);
    rma_lock_t *there;
    uint32_t before;
    if (code == RMA_SUCCESS) code = check_not_held("rma_test_lock", lock);
    if (code != RMA_SUCCESS) {
        rmai_raise(code);
        return 0;
    }
    if ((there = near_copy(lock, home)) != NULL) {
        count_near_atomic();
        return rma_lock_test_(lock, &there->tail_, own_node_word(lock));
    }
    __atomic_store_n(&lock->node_, RMA_LOCK_HELD_, __ATOMIC_RELAXED);
    code =
        atomic_on_tail("rma_test_lock", RMA_COMPARE_SWAP_, lock, (uint32_t)rmai_world.job.my_pe + 1, 0, home, &before);
    if (code == RMA_SUCCESS && before == 0) return 1;
    __atomic_store_n(&lock->node_, 0, __ATOMIC_RELAXED);
    rmai_net_progress(&rmai_world.net, 1);
    return 0;
}

int rma_clear_lock_slow_(rma_lock_t *lock) {
    struct rmai_world *w = &rmai_world;
    int code, home = home_of_lock("rma_clear_lock", lock, &code);
    uint32_t me = (uint32_t)w->job.my_pe + 1, node, before;
    struct rmai_stall stall = {.call = "rma_clear_lock", .awaited = RMAI_AWAITED_ANY};
    if (code == RMA_SUCCESS && !(own_node_word(lock) & RMA_LOCK_HELD_))
        code =
            rmai_error(RMA_ERR_STATE, "rma_clear_lock: PE %d does not hold the lock at %p", w->job.my_pe, (void *)lock);
    if (code == RMA_SUCCESS) code = rmai_quiet_default(w, "rma_clear_lock");
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (near_copy(lock, home)) return clear_near_lock(lock);
    node = own_node_word(lock);
    if (!(node & RMA_LOCK_PE_)) {
        code = atomic_on_tail("rma_clear_lock", RMA_COMPARE_SWAP_, lock, 0, me, home, &before);
        if (code != RMA_SUCCESS) return code;
        if (before == me) {
            __atomic_store_n(&lock->node_, 0, __ATOMIC_RELAXED);
            return RMA_SUCCESS;
        }
        node = await_bits(lock, RMA_LOCK_PE_,
                          &stall); /* the next PE has changed the tail, and is about to add its number */
    }
    __atomic_store_n(&lock->node_, 0, __ATOMIC_RELAXED);
    return add_node_bits("rma_clear_lock", lock, (int)(node & RMA_LOCK_PE_) - 1, RMA_LOCK_GRANTED_);
}
