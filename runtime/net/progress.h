/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: receiving messages and doing what they ask for. A thread that waits for another node drives progress
 * meanwhile; while the program computes, the progress thread does (runtime/net/progress_thread). One thread at a time
 * drives it: the one that holds the net's lock. */
#ifndef RMAI_PROGRESS_H
#define RMAI_PROGRESS_H

#include "base/wait.h"
#include "runtime/net/transport.h"

struct rmai_net;
struct rmai_team;
struct rmai_waiter;

/* rmai_net_progress hears one message, if there is one, does what is to do, and waits for nothing. Returns the number
 * of messages heard. With `try` it does nothing if somebody else is at it. Without a net (NULL): 0. */
int rmai_net_progress(struct rmai_net *net, int try);

/* The lock, for threads of the program. rmai_net_visit is for the progress thread: it returns 0 if somebody else has
 * the lock; rmai_net_end_visit releases it. */
void rmai_net_lock(struct rmai_net *net);
void rmai_net_unlock(struct rmai_net *net);
int rmai_net_visit(struct rmai_net *net);
void rmai_net_end_visit(struct rmai_net *net);

/* rmai_net_drive is rmai_net_progress for a thread that holds the lock and waits for none of the messages: all that
 * have come are heard. */
int rmai_net_drive(struct rmai_net *net);

/* A wait of a thread that holds the lock. rmai_net_wait_turn drives progress once, and sleeps if there has been nothing
 * to do for some turns; it releases the lock meanwhile where other threads want it. */
struct rmai_net_wait {
    unsigned looks, idle;
    long nap;
    struct rmai_stall stall;
};

struct rmai_net_wait rmai_net_wait_begins(const char *call, int pe);
void rmai_net_wait_turn(struct rmai_net *net, struct rmai_net_wait *wait);
void rmai_net_wait_ends(struct rmai_net *net, struct rmai_net_wait *wait);

/* rmai_net_wait_for waits until all of the waiter's records, for memory of pe, are done, with the lock. Returns the
 * code of the first that failed, with its text recorded. */
int rmai_net_wait_for(struct rmai_net *net, const char *call, int pe, struct rmai_waiter *waiter);

/* rmai_net_finish waits until the token is done; then it is RMAI_NO_TOKEN, and *arrival, if it is not NULL, tells what
 * a receive has got. It serves other PEs meanwhile. A report about a long wait names the PEs of team, or with NULL the
 * leaders of all nodes. Returns RMA_SUCCESS, or the recorded error of `call`: RMA_ERR_MPI. The caller does not hold the
 * net's lock. */
int rmai_net_finish(struct rmai_net *net, const char *call, struct rmai_token *token, struct rmai_arrival *arrival,
                    const struct rmai_team *team);

#endif
