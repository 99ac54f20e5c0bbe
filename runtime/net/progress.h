/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: receiving messages and doing what they ask for. A thread that waits for another node drives progress
 * meanwhile; while the program computes, the progress thread does (runtime/net/progress_thread). One thread at a time
 * drives progress: the one that holds the net's lock. */
#ifndef RMAI_PROGRESS_H
#define RMAI_PROGRESS_H

#include "base/wait.h"
#include "runtime/net/transport.h"

struct rmai_net;
struct rmai_team;
struct rmai_waiter;

/* rmai_net_progress is for a thread that waits, or may: it sends what has gathered in open batches, receives one
 * message, if one has arrived, does what it asks for, and waits for nothing. Returns the number of messages received.
 * With `try` it does nothing if another thread holds the lock. Without a net (NULL) it returns 0. rmai_net_poll only
 * tries to receive: the caller is about to add to open batches; rmai_net_send_gathered only sends. */
int rmai_net_progress(struct rmai_net *net, int try);
void rmai_net_send_gathered(struct rmai_net *net);
void rmai_net_poll(struct rmai_net *net);

/* rmai_net_poll_sometimes is for calls that wait for nothing, but that a loop may make which waits by loads: it calls
 * rmai_net_poll, at most once in some hundred nanoseconds. net may be NULL. */
void rmai_net_poll_sometimes(struct rmai_net *net);

/* The lock, for threads of the program. rmai_net_visit is for the progress thread: it takes the lock, or returns 0 if
 * another thread has it; rmai_net_end_visit releases it. */
void rmai_net_lock(struct rmai_net *net);
void rmai_net_unlock(struct rmai_net *net);
int rmai_net_visit(struct rmai_net *net);
void rmai_net_end_visit(struct rmai_net *net);

/* rmai_net_drive is rmai_net_progress for a thread that holds the lock and waits for none of the messages: it receives
 * all that have arrived. */
int rmai_net_drive(struct rmai_net *net);

/* A wait of a thread that holds the lock. rmai_net_wait_turn drives progress once, and sleeps if there has been nothing
 * to do for some turns; it releases the lock meanwhile if other threads want it. */
struct rmai_net_wait {
    unsigned looks, idle;
    long nap;
    struct rmai_stall stall;
};

struct rmai_net_wait rmai_net_wait_begins(const char *call, int pe);
void rmai_net_wait_turn(struct rmai_net *net, struct rmai_net_wait *wait);
void rmai_net_wait_ends(struct rmai_net *net, struct rmai_net_wait *wait);

/* rmai_net_wait_for waits until all of the waiter's records, which are for memory of pe, are done. The caller holds the
 * lock. Returns RMA_SUCCESS, or the code of the first record that failed, whose text it records. */
int rmai_net_wait_for(struct rmai_net *net, const char *call, int pe, struct rmai_waiter *waiter);

/* rmai_net_finish waits until the token is done; then *token is RMAI_NO_TOKEN, and *arrival, if it is not NULL,
 * describes the message received. It serves other PEs meanwhile. A report about a long wait names the PEs of team or,
 * if that is NULL, the leaders of all nodes. Returns RMA_SUCCESS, or the recorded error of `call`: RMA_ERR_MPI. The
 * caller does not hold the net's lock. */
int rmai_net_finish(struct rmai_net *net, const char *call, struct rmai_token *token, struct rmai_arrival *arrival,
                    const struct rmai_team *team);

#endif
