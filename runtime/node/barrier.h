/* SPDX-License-Identifier: BSD-3-Clause */
/* The barrier among the PEs of a node.
 *
 * Two algorithms, chosen once:
 *   roomy    each PE has a processor: dissemination (D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier
 *            synchronization", 1988). ceil(log2 n) rounds; in round k PE i tells PE i + 2^k and hears from
 *            PE i - 2^k, each on a line of its own. For two PEs that is the bare handshake.
 *   crowded  PEs share processors: one counter and one event. A PE gives up its processor at once and is woken
 *            once, where dissemination would have it woken in each round.
 * The words stand in the headers of the PEs' spaces, zero at start. */
#ifndef RMAI_BARRIER_H
#define RMAI_BARRIER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/wait.h"

#define RMAI_BARRIER_ROUNDS 24

/* In each PE's header. The value of round[k] is the newest epoch in which the partner of round k was heard. */
struct rmai_barrier_line {
    _Alignas(RMAI_APART) struct rmai_event event;
};

struct rmai_barrier_shared {
    struct rmai_barrier_line round[RMAI_BARRIER_ROUNDS];
    _Alignas(RMAI_APART) _Atomic uint32_t
        asleep; /* 1: this PE may sleep on one of these. Apart from them, so that to look there costs nothing */
    _Alignas(RMAI_APART) _Atomic uint32_t arrived; /* of the node's PE 0: PEs in the present epoch */
    struct rmai_barrier_line gate;                 /* of the node's PE 0: newest epoch that all have reached */
};

struct rmai_barrier {
    struct rmai_barrier_shared *mine;
    struct rmai_barrier_shared *first; /* of the node's PE 0 */
    struct rmai_barrier_shared *partner[RMAI_BARRIER_ROUNDS];
    uint32_t n, me, rounds;
    const int *pes; /* the numbers in the job of the node's PEs: for who waits for one of them */
    uint32_t epoch; /* barriers that this PE has entered */
    int crowded;
    struct rmai_patience patience;
};

/* rmai_barrier_setup: shared(context, q) is the address of the part of the node's PE q, whose number in the job is
 * pes[q]. */
void rmai_barrier_setup(struct rmai_barrier *b, uint32_t n, uint32_t me, const int *pes, int crowded,
                        struct rmai_patience patience, struct rmai_barrier_shared *(*shared)(void *context, uint32_t q),
                        void *context);

/* rmai_barrier_node waits, for the public call `call`, until all PEs of the node have called it. What any of them wrote
 * before is seen by each of them after (release on arrival, acquire on departure, through every chain of rounds). */
void rmai_barrier_node(struct rmai_barrier *b, const char *call);

#endif
