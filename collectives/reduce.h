/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of reductions and scans: n elements of a type, an operation, and each PE's share of the elements. */
#ifndef RMAI_REDUCE_H
#define RMAI_REDUCE_H

#include "collectives/call.h"
#include "base/kernels.h"
#include "runtime/node/mailbox.h"

#include <string.h>

struct rmai_reduction {
    const struct rmai_call *c;
    enum rma_op op;
    enum rma_type type;
    const struct rmai_kernel *kernel;
    char *dest;
    const char *source;
    size_t n, size; /* number of elements, and bytes of one */
    /* Offsets of the buffers in this PE's space; 0: peers do not reach them. */
    uint64_t dest_offset, source_offset;
};

/* rmai_reduction_begin checks the arguments. Returns RMA_SUCCESS, or the recorded error. */
int rmai_reduction_begin(struct rmai_reduction *r, struct rmai_call *c, const char *call, const rma_team *team,
                         enum rmai_collective which, enum rma_op op, enum rma_type type, void *dest, const void *source,
                         size_t n);

/* rmai_own_share: the elements [*from, *to) that this PE reduces for all PEs, in chunks of RMAI_CHUNK bytes, which stay
 * in the first-level cache. */
#define RMAI_CHUNK ((size_t)8 << 10)
void rmai_own_share(const struct rmai_reduction *r, size_t *from, size_t *to);

/* rmai_tell_buffers begins an epoch, in which the PEs of the node tell each other where their buffers are. Returns 1 if
 * all PEs reach all sources, and the dest of on-node PE `root`, or all dests if root is RMAI_EVERY: the epoch then
 * lasts until rmai_mailbox_leave. Otherwise returns 0, and the epoch is over. */
#define RMAI_EVERY (-1)
int rmai_tell_buffers(const struct rmai_reduction *r, int root);

/* In such an epoch: the address in this process of on-node PE i's buffer; NULL if it cannot be reached. This PE does
 * not read its own slot: the other PEs have the slot's cache line. */
static inline char *rmai_their_dest(const struct rmai_reduction *r, int i) {
    const struct rmai_mailboxes *near = r->c->near;
    uint64_t offset = i == near->me ? r->dest_offset : rmai_mailbox_slot(near, i)->word;
    return offset ? rmai_mailbox_address(near, i, offset) : NULL;
}

static inline const char *rmai_their_source(const struct rmai_reduction *r, int i) {
    const struct rmai_mailboxes *near = r->c->near;
    uint64_t offset = r->source_offset;
    if (i != near->me) memcpy(&offset, rmai_mailbox_note(near, i), sizeof offset);
    return offset ? rmai_mailbox_address(near, i, offset) : NULL;
}

#endif
