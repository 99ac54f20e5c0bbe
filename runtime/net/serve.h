/* SPDX-License-Identifier: BSD-3-Clause */
/* The target's side: the thread that drives progress executes the requests of other nodes. They concern this PE's
 * memory. The caller of each function holds the net's lock. */
#ifndef RMAI_SERVE_H
#define RMAI_SERVE_H

#include "runtime/net/wire.h"

struct rmai_net;

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
