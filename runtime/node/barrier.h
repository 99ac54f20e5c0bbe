/* SPDX-License-Identifier: BSD-3-Clause */
/* The barrier among the PEs of a node.
 *
 * There are two algorithms; init chooses one:
 *   roomy    each PE has a processor: dissemination (D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier
 *            synchronization", 1988). ceil(log2 n) rounds; in round k PE i signals PE i + 2^k and waits for
 *            PE i - 2^k, each on a line of its own. For two PEs that is a bare handshake.
 *   crowded  PEs share processors: one counter and one event. A PE gives up its processor at once and is woken
 *            once; dissemination would have it woken in each round.
 * Where PEs of other nodes take part, a barrier is in two halves: a counter up, a flag down (rmai_barrier_gather).
 * The words are in the headers of the PEs' spaces, and are zero at the start. */
#ifndef RMAI_BARRIER_H
#define RMAI_BARRIER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/wait.h"

#define RMAI_BARRIER_ROUNDS 24

/* In each PE's header. The value of round[k] is the newest epoch in which the partner of round k has signalled. */
struct rmai_barrier_line {
    _Alignas(RMAI_APART) struct rmai_event event;
    _Atomic int code; /* in `released`: RMA_SUCCESS, or the error that PE 0 tells the others */
};

struct rmai_barrier_shared {
    struct rmai_barrier_line round[RMAI_BARRIER_ROUNDS];
    _Alignas(RMAI_APART) _Atomic uint32_t asleep; /* 1: this PE may sleep on one of the events above. It is on another
                                                     line, so that reading it costs the partners nothing */
    _Atomic(const char *) call;                   /* the name of the PE's last call that only meets, at an address of
                                                     its own process: only read for errors */
    /* In the header of the node's PE 0: how many PEs have arrived in the present epoch. */
    _Alignas(RMAI_APART) _Atomic uint32_t arrived;
    struct rmai_barrier_line gate; /* in the header of the node's PE 0: the newest epoch that all PEs have reached */
    /* In the same header: the newest gathering that all others have reached, and that PE 0 has released; and the code
     * with which it has released that. */
    struct rmai_barrier_line gathered, released;
};

struct rmai_barrier {
    struct rmai_barrier_shared *mine;
    struct rmai_barrier_shared *first; /* of the node's PE 0 */
    struct rmai_barrier_shared *partner[RMAI_BARRIER_ROUNDS];
    uint32_t n, me, rounds;
    const int *pes;     /* the node's PEs by their numbers in the job: for error texts, and to check on an awaited PE */
    uint32_t epoch;     /* barriers that this PE has entered in one, */
    uint32_t gathering; /* and in two halves */
    int crowded;
    struct rmai_patience patience;
};

/* rmai_barrier_setup: shared(context, q) is the address of the part in the header of the node's PE q, whose number in
 * the job is pes[q]. */
void rmai_barrier_setup(struct rmai_barrier *b, uint32_t n, uint32_t me, const int *pes, int crowded,
                        struct rmai_patience patience, struct rmai_barrier_shared *(*shared)(void *context, uint32_t q),
                        void *context);

/* rmai_barrier_node waits, on behalf of the public call `call`, until all PEs of the node have called it. After it
 * every PE sees what any PE wrote before it (release on arrival, acquire on departure, through every chain of rounds).
 */
void rmai_barrier_node(struct rmai_barrier *b, const char *call);

/* rmai_barrier_number returns how many barriers this PE has entered. PEs of a node that are in the same barrier have
 * the same number. */
static inline uint32_t rmai_barrier_number(const struct rmai_barrier *b) { return b->epoch + b->gathering; }

/* The same barrier in two halves, between which the node's PE 0 meets other nodes, say. rmai_barrier_gather returns on
 * PE 0 when all PEs of the node have called it; there it sees what any of them wrote before. On the others it returns
 * at once. rmai_barrier_release returns on the others when PE 0 has called it; they see what PE 0 wrote before. So all
 * PEs have met after one way up, by a counter, and one way down, by a flag. PE 0 gives the code of what it has done in
 * between; if that is not RMA_SUCCESS, the others record an error with the same code. All return it. */
void rmai_barrier_gather(struct rmai_barrier *b, const char *call);
int rmai_barrier_release(struct rmai_barrier *b, const char *call, int code);

/* rmai_neighbour_failed records that PE `pe` of this node has failed between nodes with `code`, as it has told this PE;
 * before, it gives that PE time to end the job (rmai_error_await_abort). Returns the code. */
int rmai_neighbour_failed(const char *call, int code, int pe);

#endif
