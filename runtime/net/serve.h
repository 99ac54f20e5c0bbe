/* SPDX-License-Identifier: BSD-3-Clause */
/* The asked side: what another node wants of this PE's memory, done by whichever thread of this PE drives progress. The
 * net's lock is held in all of it. */
#ifndef RMAI_SERVE_H
#define RMAI_SERVE_H

#include "runtime/net/wire.h"

struct rmai_net;

/* rmai_serve_open: returns RMA_SUCCESS or RMA_ERR_NO_MEM. rmai_serve_close: all requests have been answered. */
int rmai_serve_open(struct rmai_net *net);
void rmai_serve_close(struct rmai_net *net);

/* rmai_serve does a request of PE `from`, whose records m is about to read, if rmai_serve_ready is 1: there is memory
 * for its reply (where that was 0 it may be 1 after rmai_serve_advance). rmai_serve_advance looks after what is under
 * way. rmai_serve_ping tells PE `from` that this one lives. They return RMA_SUCCESS, or RMA_ERR_MPI: the transport has
 * failed, or the request is none that a PE sends. */
int rmai_serve_ready(struct rmai_net *net);
int rmai_serve(struct rmai_net *net, int from, const struct rmai_envelope *request, struct rmai_wire_reader *m);
int rmai_serve_advance(struct rmai_net *net);
int rmai_serve_ping(struct rmai_net *net, int from, const struct rmai_envelope *ping);

#endif
