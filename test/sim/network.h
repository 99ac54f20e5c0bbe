/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated network: N PEs in one process, each a coroutine with a struct rmai_net of its own, on a transport whose
 * messages take virtual time. One thread runs them all, and a seed decides every delay and whose turn it is: so a run
 * can be repeated to the step. Messages of one PE to another arrive in the order in which they were sent, as MPI keeps
 * them; all others may overtake each other. There is no window. */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attributes.h"
#include "runtime/net/net.h"
#include "runtime/net/pending.h"
#include "runtime/net/state.h"

struct sim;

struct sim_pe {
    struct rmai_transport transport; /* first: its operations get this struct */
    struct sim *sim;
    int me;
    struct rmai_job job;
    struct rmai_traffic traffic;
    struct rmai_net net;
    struct rmai_pending set;
    uint32_t nothing_pending;
    unsigned char *memory; /* what others may reach: `memory` bytes of the options, all 0 at first */
    uint64_t free_blocks;  /* bit i: block i is free */
    struct sim_coroutine *coroutine;
    unsigned n_receives;
    struct sim_operation *posted;   /* receives that wait for a message, oldest first */
    struct sim_message *unexpected; /* messages that wait for a receive, oldest first */
    unsigned n_unread;              /* messages to this PE that it has not received, on their way or there */
    struct sim_link *links;         /* to the PEs that this one has sent to */
    size_t n_links;
    struct sim_operation *operations; /* sends and receives whose tokens are not none, */
    int n_operations;                 /* and how many */
};

/* What each PE does. It returns with nothing of its own under way. */
typedef void sim_program(struct sim_pe *pe, void *context);

#define SIM_BLOCK  ((size_t)64)
#define SIM_BLOCKS 64

struct sim_options {
    int n_pes;
    uint64_t seed;
    uint64_t latency, jitter; /* a message takes latency + [0, jitter] units of virtual time */
    int failing_pe;           /* of this PE, */
    unsigned failing_receive; /* this receive fails, counted from 1; 0: none does */
    size_t memory; /* bytes of each PE; the last SIM_BLOCKS blocks of SIM_BLOCK bytes are for rmai_net_alloc */
    FILE *log;     /* or NULL: each event gets a line */
    size_t eager;  /* longer messages wait for their receive, and their sender with them */
};

struct sim_report {
    uint64_t time;     /* when the last PE was through */
    uint64_t messages; /* that were sent, */
    uint64_t bytes;    /* and their bytes */
    unsigned unread;   /* messages to one PE that it had not received, at most */
    int stuck;         /* PEs that wait for what nobody will send */
    int left;          /* operations that are not done, and messages that nobody has received, in the end */
    uint64_t steps;    /* turns of PEs, and messages that have arrived */
    char failure[512]; /* what sim_fail has said, or "": then the run has ended there, and what follows counts for
                          nothing */
};

/* sim_run runs program on each PE to its end, or until nobody can go on. Memory that is not there ends the process. */
struct sim_report sim_run(const struct sim_options *options, sim_program *program, void *context);

/* sim_fail ends the run, which has shown a fault. sim_log writes a line into the log, if there is one. sim_sleep: the
 * PE computes for `units` of virtual time, and does not serve others meanwhile. */
_Noreturn void sim_fail(struct sim_pe *pe, const char *format, ...) RMAI_PRINTF(2, 3);
void sim_log(struct sim_pe *pe, const char *format, ...) RMAI_PRINTF(2, 3);
void sim_sleep(struct sim_pe *pe, uint64_t units);

/* sim_random: the next number of a generator; *state is its seed (splitmix64, Steele, Lea, Flood 2014). */
uint64_t sim_random(uint64_t *state);

#endif
