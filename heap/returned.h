/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of blocks that other PEs have freed. Any PE of the node pushes blocks; the holder of the pool drains the
 * list.
 *
 * A block is first retired in the pool's table; if two PEs free the same block, this decides which of them succeeds.
 * Then it is pushed. The links are also in the table, so a program that writes to a freed block cannot damage the list.
 * The drain takes the whole list with one exchange. So no block can return to the head of the list while another PE
 * still holds an old head: the ABA problem of lock-free stacks does not arise, and a push is one compare-and-swap.
 * After R. K. Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986. test/model/returned.pml is
 * its model. */
#ifndef RMAI_RETURNED_H
#define RMAI_RETURNED_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "heap/tlsf.h"

/* Zero: empty. It is in shared memory on its own cache line, since peers write it all the time. */
struct rmai_returned {
    _Alignas(RMAI_APART) uint32_t head; /* 1 + unit number of the newest block; 0: none */
};

/* rmai_returned_push retires the live block at offset of pool t and puts it on the list. Returns 0, or -1 if no live
 * block is there. Lock-free. */
int rmai_returned_push(struct rmai_returned *list, struct rmai_tlsf *t, size_t offset);

/* rmai_returned_link: the second half of rmai_returned_push, for a caller that has retired the block itself. */
void rmai_returned_link(struct rmai_returned *list, struct rmai_tlsf *t, size_t offset);

/* rmai_returned_drain frees the blocks that the list holds, and returns their number. Only the pool's holder may call
 * it. */
size_t rmai_returned_drain(struct rmai_returned *list, struct rmai_tlsf *t);

/* rmai_returned_drain_each: the same, but it first passes each block to `see`. If `see` returns 1, it has taken the
 * block, which is then not freed. */
typedef int rmai_returned_see(void *context, uint32_t unit);
size_t rmai_returned_drain_each(struct rmai_returned *list, struct rmai_tlsf *t, rmai_returned_see *see, void *context);

/* rmai_returned_any: 1 if the list is not empty. */
static inline int rmai_returned_any(const struct rmai_returned *list) {
    return __atomic_load_n(&list->head, __ATOMIC_RELAXED) != 0;
}

/* rmai_returned_count: the number of blocks in the list. Only the pool's holder may call it. */
size_t rmai_returned_count(const struct rmai_returned *list, struct rmai_tlsf *t);

#endif
