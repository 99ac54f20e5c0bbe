/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the blocks that other PEs have given back. Any PE of the node pushes blocks, the holder of the pool
 * drains the list.
 *
 * A block is first retired in the pool's table, which decides which of two PEs that give back the same block is the
 * first. Then it is pushed. The links stand in the table too, so what a program still writes to a block that it gave
 * back cannot damage the list. The drain takes the whole list with one exchange. So no block can come back to the head
 * of the list while another PE still holds an old head: the ABA problem of lock-free stacks does not arise, and a push
 * is one compare-and-swap. After R. K. Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986.
 * test/model/returned.pml is its model. */
#ifndef RMAI_RETURNED_H
#define RMAI_RETURNED_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "heap/tlsf.h"

/* Zero: empty. It stands in shared memory on a line of its own, since peers write it all the time. */
struct rmai_returned {
    _Alignas(RMAI_APART) uint32_t head; /* 1 + unit number of the newest block; 0: none */
};

/* rmai_returned_push gives back the live block at offset of pool t. Returns 0, or -1 if no live block is there.
 * Lock-free. */
int rmai_returned_push(struct rmai_returned *list, struct rmai_tlsf *t, size_t offset);

/* rmai_returned_link: the second half of rmai_returned_push, for a caller that has retired the block itself. */
void rmai_returned_link(struct rmai_returned *list, struct rmai_tlsf *t, size_t offset);

/* rmai_returned_drain frees the blocks that the list holds, and returns their number. Only the pool's holder may call
 * it. */
size_t rmai_returned_drain(struct rmai_returned *list, struct rmai_tlsf *t);

/* rmai_returned_drain_each: the same, but it first shows each block to `see`. If `see` returns 1 it has taken the
 * block, which then is not freed. */
typedef int rmai_returned_see(void *context, uint32_t unit);
size_t rmai_returned_drain_each(struct rmai_returned *list, struct rmai_tlsf *t, rmai_returned_see *see, void *context);

/* rmai_returned_any: 1 if the list is not empty. */
static inline int rmai_returned_any(const struct rmai_returned *list) {
    return __atomic_load_n(&list->head, __ATOMIC_RELAXED) != 0;
}

/* rmai_returned_count: the number of blocks in the list. Only the pool's holder may call it. */
size_t rmai_returned_count(const struct rmai_returned *list, struct rmai_tlsf *t);

#endif
