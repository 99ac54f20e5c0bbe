/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of blocks that others have given back: pushed by any PE of the node, drained by the holder of the pool.
 *
 * A block is first retired in the pool's table, which decides between two that give back the same one, and then pushed.
 * The links stand in the table too: what a program still writes to a block that it gave back cannot damage the list.
 * The drain takes the whole list with one exchange, so no block can come back to the head while somebody holds an old
 * head: the ABA problem of lock-free stacks does not arise, and a push is one compare-and-swap. After R. K. Treiber,
 * "Systems programming: coping with parallelism", IBM RJ 5118, 1986. test/model/returned.pml is its model. */
#ifndef RMAI_RETURNED_H
#define RMAI_RETURNED_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "heap/tlsf.h"

/* Zero: empty. In shared memory, on a line of its own: peers write it all the time. */
struct rmai_returned {
    _Alignas(RMAI_APART) uint32_t head; /* 1 + unit number of the newest block; 0: none */
};

/* rmai_returned_push gives back the live block at offset of pool t. Returns 0, or -1 if no live block is there.
 * Lock-free. */
int rmai_returned_push(struct rmai_returned *list, struct rmai_tlsf *t, size_t offset);

/* rmai_returned_link: the second half of it, for one who has retired the block. */
void rmai_returned_link(struct rmai_returned *list, struct rmai_tlsf *t, size_t offset);

/* rmai_returned_drain frees what the list holds, and returns the number of blocks. By the pool's holder. */
size_t rmai_returned_drain(struct rmai_returned *list, struct rmai_tlsf *t);

/* rmai_returned_drain_each: the same, after showing each block to `see`, which returns 1 if it has taken the block
 * itself. */
typedef int rmai_returned_see(void *context, uint32_t unit);
size_t rmai_returned_drain_each(struct rmai_returned *list, struct rmai_tlsf *t, rmai_returned_see *see, void *context);

/* rmai_returned_any: 1 if the list is not empty. */
static inline int rmai_returned_any(const struct rmai_returned *list) {
    return __atomic_load_n(&list->head, __ATOMIC_RELAXED) != 0;
}

/* rmai_returned_count is the number of blocks in it. By the pool's holder. */
size_t rmai_returned_count(const struct rmai_returned *list, struct rmai_tlsf *t);

#endif
