/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of nodes, by what the two have in common: by that MPI reaches one from the other in different ways, through
 * shared memory, through the network of a machine, or from machine to machine. What is tried out between nodes is tried
 * on one pair of each kind that the job has. */
#ifndef RMAI_PAIRS_H
#define RMAI_PAIRS_H

enum rmai_pair_kind {
    RMAI_PAIR_HOST,    /* of one host: nodes that RMA_NODE_PES or MPI makes of its PEs */
    RMAI_PAIR_MACHINE, /* of one machine, but with namespaces of their own: containers */
    RMAI_PAIR_APART,   /* of two machines */
    RMAI_PAIR_KINDS
};

/* PE `from` tries out what it can do to PE `to`. Both are leaders; the same PE twice: the job has no such pair. */
struct rmai_pair {
    int from, to;
};

/* Where a leader is. Hosts are told apart within a machine. */
struct rmai_seat {
    unsigned machine, host;
    int pe;
};

/* rmai_pairs_find chooses a pair of each kind that the n seats have, of PEs with small numbers. It sorts the seats. */
void rmai_pairs_find(struct rmai_seat *seats, int n, struct rmai_pair pairs[RMAI_PAIR_KINDS]);

/* rmai_pair_exists: 1 if the job has such a pair. */
static inline int rmai_pair_exists(const struct rmai_pair *p) { return p->from != p->to; }

/* rmai_pair_kind_name: how the nodes of such a pair are called, as "nodes of one host". */
const char *rmai_pair_kind_name(enum rmai_pair_kind kind);

#endif
