/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks, critical sections, events and atomic words: words of 8 bytes (atomics: 4 or 8) in a coarray. */
#ifndef RMAI_CAF_LOCK_H
#define RMAI_CAF_LOCK_H

#include "interfaces/caf/coarray.h"
#include "interfaces/caf/core.h"

/* rmai_caf_lock is LOCK of the lock at a place, whose word is 0 at first. With acquired not NULL it does not wait, and
 * writes whether it has the lock. rmai_caf_unlock is UNLOCK. */
void rmai_caf_lock(struct rmai_caf_result r, const struct rmai_caf_place *at, int *acquired);
void rmai_caf_unlock(struct rmai_caf_result r, const struct rmai_caf_place *at);

/* The short ways of most locks and unlocks, of a lock on this node: each returns 1 if it is done, or 0 with nothing
 * changed. rmai_caf_lock_free takes a free lock, as this image's only one; rmai_caf_unlock_only releases this image's
 * only lock, if no image waits for it. */
int rmai_caf_lock_free(const struct rmai_caf_place *at);
int rmai_caf_unlock_only(rma_gptr_t lock);

/* rmai_caf_lock_give_up passes on all locks that this image holds, because it fails. */
void rmai_caf_lock_give_up(void);

/* rmai_caf_event_post, rmai_caf_event_wait: EVENT POST of an event at a place, EVENT WAIT for one of this image. */
void rmai_caf_event_post(struct rmai_caf_result r, const struct rmai_caf_place *at);
void rmai_caf_event_wait(struct rmai_caf_result r, uint64_t *event, int64_t count);

/* rmai_caf_word_... : atomic operations on a word of 4 or 8 bytes, by load and store or by librma. */
enum rmai_caf_op { RMAI_CAF_OP_ADD = 1, RMAI_CAF_OP_AND, RMAI_CAF_OP_OR, RMAI_CAF_OP_XOR };
uint64_t rmai_caf_word_fetch(const struct rmai_caf_place *at, size_t len);
void rmai_caf_word_set(const struct rmai_caf_place *at, size_t len, uint64_t value);
uint64_t rmai_caf_word_cas_slow(const struct rmai_caf_place *at, size_t len, uint64_t cond, uint64_t value);
static inline uint64_t rmai_caf_word_cas(const struct rmai_caf_place *at, size_t len, uint64_t cond, uint64_t value) {
    if (__builtin_expect(!at->near || len != 8, 0)) return rmai_caf_word_cas_slow(at, len, cond, value);
    __atomic_compare_exchange_n((uint64_t *)(void *)at->near, &cond, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return cond;
}
uint64_t rmai_caf_word_op(const struct rmai_caf_place *at, size_t len, int op, uint64_t value, int fetch);

#endif
