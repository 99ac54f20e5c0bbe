/* SPDX-License-Identifier: BSD-3-Clause */
/* Proxies: in a session a PE sends the short records for all PEs of another node to one PE there. That PE, the proxy,
 * does them in its neighbours' memory as it would do an access of its own: by load and store, and by the same atomics.
 * So all records for a node gather in one message, and a PE sends as many messages as there are nodes, not PEs. A proxy
 * is not another hop: the record is done where it arrives. The PEs of one node use different proxies. After Bale's
 * conveyors, which forward messages in two hops; where PEs share memory the second hop is a store.
 *
 * A record's elements (runtime/net/wire.h) have offsets, whose upper bits name the owner of the memory by its number on
 * the node. */
#ifndef RMAI_BY_NODE_H
#define RMAI_BY_NODE_H

#include <stdint.h>

#include "rma.h"

struct rmai_job;

/* The rule of job.h's rmai_placement in numbers, so that no table of the PEs' nodes is needed. */
struct rmai_by_node {
    int open;       /* sessions use it */
    int in_turn;    /* PE p is on node p % size, else on node p / size */
    uint32_t most;  /* the most PEs that a node has */
    uint32_t size;  /* nodes, or PEs of a node */
    uint32_t more;  /* the nodes below this number have more PEs than the others, */
    uint32_t to[2]; /* the proxy's number on these nodes [1], and on the others [0] */
};

/* rmai_by_node_open fills in *b. It stays closed if nodes have one PE; if no rule tells a PE's node; if some PE serves
 * others only within its own calls, since a program may rely on calls of the target but not on calls of the target's
 * neighbour; and if neighbours do not reach all memory by load and store. */
void rmai_by_node_open(struct rmai_by_node *b, const struct rmai_job *job);

/* rmai_by_node_to returns the proxy for pe, a PE of another node; or pe itself, if it is the proxy. The caller sets
 * *mark in the offsets of pe's elements: 0 for pe itself. */
static inline int rmai_by_node_to(const struct rmai_by_node *b, int pe, uint64_t *mark) {
    const uint32_t whole = (uint32_t)pe / b->size, rest = (uint32_t)pe % b->size;
    const uint32_t node = b->in_turn ? rest : whole, slot = b->in_turn ? whole : rest, to = b->to[node < b->more];
    *mark = slot == to ? 0 : (uint64_t)(slot + 1) << RMA_GPTR_BITS_;
    return (int)(b->in_turn ? node + to * b->size : node * b->size + to);
}

/* The two parts of an element's offset: the offset in the owner's space; and 0 if the receiver of the message is the
 * owner, else 1 + the owner's number on the node. */
static inline uint64_t rmai_by_node_offset(uint64_t marked) { return marked & (((uint64_t)1 << RMA_GPTR_BITS_) - 1); }
static inline uint32_t rmai_by_node_owner(uint64_t marked) { return (uint32_t)(marked >> RMA_GPTR_BITS_); }

#endif
