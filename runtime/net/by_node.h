/* SPDX-License-Identifier: BSD-3-Clause */
/* The way by the node. In a session a PE sends the short records for all PEs of another node to one PE there, the
 * proxy, which does them in its neighbours' memory as it would do an access of its own: by load and store, and
 * by the same atomics. So what is for the node gathers in one message, and a PE sends as many messages as there are
 * nodes, not PEs. It is no hop more: the record is done where it arrives. For each PE of this node another
 * proxy does the work. After Bale's conveyors, whose two hops pass messages on; where PEs share memory the
 * second hop is a store.
 *
 * The element names the PE it is for by that one's number on its node, in the offset's upper bits. */
#ifndef RMAI_BY_NODE_H
#define RMAI_BY_NODE_H

#include <stdint.h>

#include "rma.h"

struct rmai_job;

/* The rule of job.h's rmai_placement, so that no table has a PE's node. */
struct rmai_by_node {
    int open;       /* sessions use it */
    int in_turn;    /* PE p is on node p % size, else on node p / size */
    uint32_t most;  /* PEs of the node that has most */
    uint32_t size;  /* nodes, or PEs of a node */
    uint32_t more;  /* nodes so numbered have more PEs than those that follow, */
    uint32_t to[2]; /* and the proxy's number on these nodes [1], and on those that follow [0] */
};

/* rmai_by_node_open fills in *b. It stays closed where nodes have one PE; where no rule tells a PE's node; where
 * some PE serves others only within its own calls, since a program that relies on the target's calls need not have the
 * neighbour make any; and where neighbours do not reach all memory by load and store. */
void rmai_by_node_open(struct rmai_by_node *b, const struct rmai_job *job);

/* rmai_by_node_to: the proxy for pe, a PE of another node; or pe itself, if it is the proxy. *mark is
 * set in the offsets of pe's elements: 0 for pe itself. */
static inline int rmai_by_node_to(const struct rmai_by_node *b, int pe, uint64_t *mark) {
    const uint32_t whole = (uint32_t)pe / b->size, rest = (uint32_t)pe % b->size;
    const uint32_t node = b->in_turn ? rest : whole, slot = b->in_turn ? whole : rest, to = b->to[node < b->more];
    *mark = slot == to ? 0 : (uint64_t)(slot + 1) << RMA_GPTR_BITS_;
    return (int)(b->in_turn ? node + to * b->size : node * b->size + to);
}

/* The two parts of an element's offset: in the owner's space, and 0 for the PE that has got the message, or 1 + the
 * owner's number on the node. */
static inline uint64_t rmai_by_node_offset(uint64_t marked) { return marked & (((uint64_t)1 << RMA_GPTR_BITS_) - 1); }
static inline uint32_t rmai_by_node_owner(uint64_t marked) { return (uint32_t)(marked >> RMA_GPTR_BITS_); }

#endif
