/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks, after J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors",
 * 1991: the word of a lock names the last image of the queue, each image waits for a word of its own, and the holder
 * passes the lock to the next image. An image that fails passes on its locks.
 *
 *   word = tail | holder << 32     0: free
 *   tail = (image + 1) << 10 | node      holder = image + 1; for a moment still the former holder
 *   tail = 0, holder = FAILED            free, and its last holder failed
 *
 * 2^22 images with RMAI_CAF_LOCK_NODES nodes fit into a tail.
 *
 * Between nodes a lock is passed on by one message: the new holder learns from it who the former one was, and enters
 * itself in the word by an atomic for which it does not wait. When it unlocks, that atomic has arrived:
 * rmai_caf_signals completes it before the lock goes to an image on another PE than the word's, and on the word's own
 * way nothing is overtaken. Each atomic that releases or passes a lock is a release of the puts before it. */
#include "config.h"

#include "interfaces/caf/lock.h"

#include <string.h>

#define FAILED        UINT32_MAX
#define NODE_BITS     10
#define WORD(t, h)    ((uint64_t)(t) | (uint64_t)(h) << 32)
#define TAIL(word)    ((uint32_t)(word))
#define HOLDER(word)  ((uint32_t)((word) >> 32))
#define AFTER_FAILURE ((uint64_t)1 << 32) /* in `granted` */

_Static_assert(1 << NODE_BITS == RMAI_CAF_LOCK_NODES, "a tail has a number for each node");

/* The locks for which this image uses its lock nodes. */
static RMAI_CAF_TABLE struct {
    rma_gptr_t lock; /* or 0: the node is free */
    struct rmai_caf_place at;
} held[RMAI_CAF_LOCK_NODES];
static RMAI_CAF_STATE int n_held; /* all nodes in use are below */

static int find_held(rma_gptr_t lock) {
    for (int i = n_held - 1; i >= 0; i--)
        if (held[i].lock == lock) return i;
    return -1;
}

static void free_node(int node) {
    held[node].lock = 0;
    while (n_held > 0 && !held[n_held - 1].lock) n_held--;
}

static uint32_t tail_of(int node) { return ((uint32_t)rmai_caf.me + 1) << NODE_BITS | (uint32_t)node; }

int rmai_caf_lock_free(const struct rmai_caf_place *at) {
    if (n_held > 0) return 0;
    rmai_caf.self->lock_nodes[0].next = rmai_caf.self->lock_nodes[0].granted = 0;
    if (rmai_caf_word_cas(at, 8, 0, WORD(tail_of(0), (uint32_t)rmai_caf.me + 1)) != 0) return 0;
    held[0].lock = at->far;
    held[0].at = *at;
    n_held = 1;
    return 1;
}

int rmai_caf_unlock_only(rma_gptr_t lock) {
    const struct rmai_caf_place *at = &held[0].at;
    const uint64_t word = WORD(tail_of(0), (uint32_t)rmai_caf.me + 1);
    if (n_held != 1 || held[0].lock != lock || !at->near) return 0;
    rmai_caf_must(rma_quiet());
    if (rmai_caf_word_cas(at, 8, word, 0) != word) return 0;
    held[0].lock = 0;
    n_held = 0;
    return 1;
}

static void locked(struct rmai_caf_result r, int *acquired, int after_failure) {
    if (acquired) *acquired = 1;
    if (after_failure && r.stat)
        *r.stat = RMAI_CAF_STAT_UNLOCKED_FAILED;
    else
        rmai_caf_done(r);
}

void rmai_caf_lock(struct rmai_caf_result r, const struct rmai_caf_place *at, int *acquired) {
    int node = n_held;
    uint32_t me = (uint32_t)rmai_caf.me + 1, tail;
    for (int i = n_held - 1; i >= 0; i--) {
        if (held[i].lock == at->far) {
            if (acquired) *acquired = 0;
            rmai_caf_report(r, RMAI_CAF_STAT_LOCKED, "LOCK: this image has locked the lock variable already");
            return;
        }
        if (!held[i].lock) node = i;
    }
    if (node == RMAI_CAF_LOCK_NODES) {
        rmai_caf_report(r, RMAI_CAF_STAT_NO_MEM, "LOCK: this image holds %d locks, and no more are possible", node);
        return;
    }
    struct rmai_caf_lock_node *mine = &rmai_caf.self->lock_nodes[node];
    tail = tail_of(node);
    mine->next = mine->granted = 0;
    uint64_t word = rmai_caf_word_cas(at, 8, 0, WORD(tail, me));
    int after_failure = 0;
    while (word != 0) {
        const int failed = HOLDER(word) == FAILED && !TAIL(word); /* it is free, too */
        if (!failed && acquired) {
            *acquired = 0;
            if (at->near) rmai_caf_drive_progress();
            rmai_caf_done(r);
            return;
        }
        uint64_t old = rmai_caf_word_cas(at, 8, word, WORD(tail, failed ? me : HOLDER(word)));
        if (old != word) {
            word = old;
            if (word == 0) word = rmai_caf_word_cas(at, 8, 0, WORD(tail, me));
            continue;
        }
        after_failure = failed;
        if (failed) break;
        uint32_t before = TAIL(word);
        int pe = (int)(before >> NODE_BITS) - 1;
        rma_atomic_set_uint64(&rmai_caf.self->lock_nodes[before & (RMAI_CAF_LOCK_NODES - 1)].next, tail, pe);
        const uint64_t granted = rmai_caf_wait("LOCK", &mine->granted, 1);
        after_failure = granted >= AFTER_FAILURE;
        rmai_caf_word_op(at, 8, RMAI_CAF_OP_ADD, WORD(0, me - (uint32_t)granted), 0);
        break;
    }
    held[node].lock = at->far;
    held[node].at = *at;
    if (node == n_held) n_held++;
    locked(r, acquired, after_failure);
}

/* Releases the lock, or passes it to the next image of the queue. */
static void pass_on(int node, int failed) {
    const struct rmai_caf_place *at = &held[node].at;
    struct rmai_caf_lock_node *mine = &rmai_caf.self->lock_nodes[node];
    uint32_t me = (uint32_t)rmai_caf.me + 1, tail = tail_of(node);
    if (at->near)
        rmai_caf_must(rma_quiet());
    else
        rmai_caf_signals(at->pe);
    if (__atomic_load_n(&mine->next, __ATOMIC_ACQUIRE) == 0) {
        uint64_t free_word = failed ? WORD(0, FAILED) : 0;
        if (rmai_caf_word_cas(at, 8, WORD(tail, me), free_word) == WORD(tail, me)) {
            free_node(node);
            return;
        }
    }
    uint32_t next = (uint32_t)rmai_caf_wait("UNLOCK", &mine->next, 1);
    int pe = (int)(next >> NODE_BITS) - 1;
    rmai_caf_signals(pe);
    rma_atomic_set_uint64(&rmai_caf.self->lock_nodes[next & (RMAI_CAF_LOCK_NODES - 1)].granted,
                          me + (failed ? AFTER_FAILURE : 0), pe);
    rmai_caf_signalled();
    free_node(node);
}

void rmai_caf_unlock(struct rmai_caf_result r, const struct rmai_caf_place *at) {
    int node = find_held(at->far);
    if (__builtin_expect(node < 0, 0)) {
        uint64_t word = rmai_caf_word_fetch(at, 8);
        if (TAIL(word))
            rmai_caf_report(r, RMAI_CAF_STAT_LOCKED_OTHER, "UNLOCK: the lock variable is locked by image %u",
                            HOLDER(word));
        else
            rmai_caf_report(r, RMAI_CAF_STAT_NOT_LOCKED, "UNLOCK: the lock variable is not locked");
        return;
    }
    pass_on(node, 0);
    rmai_caf_done(r);
}

void rmai_caf_lock_give_up(void) {
    for (int i = n_held - 1; i >= 0; i--)
        if (held[i].lock) pass_on(i, 1);
}
