/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of nodes, by what the two have in common. That decides how MPI reaches one from the other: through shared
 * memory, through the network of a machine, or from machine to machine. Trials between nodes use one pair of each kind
 * that the job has. */
#ifndef RMAI_PAIRS_H
#define RMAI_PAIRS_H

enum rmai_pair_kind {
    RMAI_PAIR_HOST,    /* on one host, whose PEs RMA_NODE_PES or MPI divides into nodes */
    RMAI_PAIR_MACHINE, /* on one machine, but with namespaces of their own: containers */
    RMAI_PAIR_APART,   /* on two machines */
    RMAI_PAIR_KINDS
};

/* PE `from` tries out what it can do to PE `to`. Both are leaders; the same PE twice: the job has no such pair. */
struct rmai_pair {
    int from, to;
};

/* Where a leader is. Host numbers are unique within a machine only. */
struct rmai_seat {
    unsigned machine, host;
    int pe;
};

/* rmai_pairs_find chooses a pair of each kind that the n seats have, of PEs with small numbers. It sorts the seats. */
void rmai_pairs_find(struct rmai_seat *seats, int n, struct rmai_pair pairs[RMAI_PAIR_KINDS]);

/* rmai_pair_exists: 1 if the job has such a pair. */
static inline int rmai_pair_exists(const struct rmai_pair *p) { return p->from != p->to; }

/* rmai_pair_kind_name returns words for the nodes of such a pair, as "nodes of one host". */
const char *rmai_pair_kind_name(enum rmai_pair_kind kind);

#endif
