/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: receives messages and does what they ask for. A thread that waits for another node drives progress
 * meanwhile; while the program computes, the progress thread does (runtime/net/progress_thread). One thread at a time
 * drives progress: the one that holds the net's lock. */
#ifndef RMAI_PROGRESS_H
#define RMAI_PROGRESS_H

struct rmai_envelope;
struct rmai_net;
struct rmai_wire_reader;

/* rmai_net_progress is for a thread that waits, or may: it sends what has gathered in open messages, receives one
 * message, if one has arrived, does what it asks for, and waits for nothing. Returns how many messages were received,
 * transfers ended, and messages of this PE to itself were served.
 * With `try` it does nothing if another thread holds the lock. Without a net (NULL) it returns 0. rmai_net_poll only
 * tries to receive: the caller is about to add to open messages; rmai_net_send_gathered only sends. */
int rmai_net_progress(struct rmai_net *net, int try);
void rmai_net_send_gathered(struct rmai_net *net);
void rmai_net_poll(struct rmai_net *net);

/* rmai_net_poll_sometimes is for calls that wait for nothing, but that a loop may make which waits by loads: it calls
 * rmai_net_poll, at most once in some hundred nanoseconds. net may be NULL. */
void rmai_net_poll_sometimes(struct rmai_net *net);

/* rmai_inbox_open posts the receives of messages. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI. rmai_inbox_close
 * also closes what open has made in part. */
int rmai_inbox_open(struct rmai_net *net);
void rmai_inbox_close(struct rmai_net *net);

/* rmai_net_drive is for a thread that holds the lock and waits for none of the messages: it receives those that have
 * arrived, a few dozen at most, and sends nothing that has gathered. */
int rmai_net_drive(struct rmai_net *net);

/* For waits (wait.h): rmai_net_drive_once receives at most one message; rmai_net_await_message only tests, at most so
 * many times, whether another message has arrived. The caller holds the lock. */
int rmai_net_drive_once(struct rmai_net *net);
void rmai_net_await_message(struct rmai_net *net, int tests);

/* ---- the target's side (serve.c) ----
 *
 * The thread that drives progress executes the requests of other nodes. They concern this PE's memory. The caller of
 * each function holds the lock. */

/* rmai_serve_open: returns RMA_SUCCESS or RMA_ERR_NO_MEM. rmai_serve_close: all requests have been answered. */
int rmai_serve_open(struct rmai_net *net);
void rmai_serve_close(struct rmai_net *net);

/* rmai_serve does a request of PE `from`, whose records m is about to read. It may be called only if rmai_serve_ready
 * has returned 1: there is memory for the reply. After a 0, rmai_serve_advance may free some. rmai_serve_advance
 * advances replies and long data that are under way. rmai_serve_ping answers the ping of PE `from`. They return
 * RMA_SUCCESS, or RMA_ERR_MPI: the transport has failed, or no PE sends such a request. */
int rmai_serve_ready(struct rmai_net *net);
int rmai_serve(struct rmai_net *net, int from, struct rmai_wire_reader *m);
int rmai_serve_advance(struct rmai_net *net);
int rmai_serve_ping(struct rmai_net *net, int from, const struct rmai_envelope *ping);

#endif
