/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates: updates of elements that other threads and PEs of the node may update at the same time. It has the
 * loops, and the locks that make them exclude each other.
 *
 * Integers of 4 and 8 bytes are updated by the instructions of single atomics, each by itself. All other elements lie
 * in stripes, which have locks (rma_inline.h): a loop holds the lock of one stripe at a time. All who update an element
 * compute the same position of it: from the number on the node of the PE whose space it is in, and its offset there. */
#ifndef RMAI_UPDATE_H
#define RMAI_UPDATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/kernels.h"
#include "base/lock.h"
#include "rma.h"

struct rmai_stripes {
    uint32_t *locks; /* RMA_STRIPES_ of them, in memory that the node's PEs share */
    uint32_t me;     /* this PE, as holder */
    rmai_lock_dead *dead;
    void *context;
};

/* rmai_stripes_wait takes a stripe that another thread or PE holds. */
void rmai_stripes_wait(const struct rmai_stripes *s, uint32_t *stripe);

/* rmai_update does there[i] = there[i] op source[i] for n elements. fetch[i] becomes the value before, if fetch is not
 * NULL. `position` is that of the first element. The type has the operation. source and fetch are aligned to 8. They
 * may be one array, but must not overlap otherwise. RMA_OP_FETCH ignores source. */
void rmai_update(const struct rmai_stripes *s, uint64_t position, enum rma_op op, enum rma_type type, void *there,
                 const void *source, void *fetch, size_t n);

/* rmai_stripes_atomic is rmai_atomic (word.h), for every operation of enum rma_atomic_op_. RMA_COMPARE_SWAP_ may also
 * be on 1 or 2 bytes. */
uint64_t rmai_stripes_atomic(const struct rmai_stripes *s, uint64_t position, int op, void *word, size_t len,
                             uint64_t value, uint64_t cond);

/* rmai_update_has: 1 if elements of the type can be updated so. */
static inline int rmai_update_has(enum rma_op op, enum rma_type type) {
    return op == RMA_OP_REPLACE || op == RMA_OP_FETCH || rmai_kernel(op, type)->accumulate;
}

#endif
