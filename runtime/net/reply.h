/* SPDX-License-Identifier: BSD-3-Clause */
/* The asked side: what another node wants of this PE's memory, done by whichever thread of this PE drives progress. The
 * net's lock is held in all of it. */
#ifndef RMAI_REPLY_H
#define RMAI_REPLY_H

#include "runtime/net/wire.h"

struct rmai_net;

/* rmai_reply_open: returns RMA_SUCCESS or RMA_ERR_NO_MEM. rmai_reply_close: all requests have been answered. */
int rmai_reply_open(struct rmai_net *net);
void rmai_reply_close(struct rmai_net *net);

/* rmai_reply does a request of PE `from`, whose records m is about to read, if rmai_reply_ready is 1: there is memory
 * for its reply (where that was 0 it may be 1 after rmai_reply_go_on). rmai_reply_go_on looks after what is under way.
 * rmai_reply_ping tells PE `from` that this one lives. They return RMA_SUCCESS, or RMA_ERR_MPI: the transport has
 * failed, or the request is none that a PE sends. */
int rmai_reply_ready(struct rmai_net *net);
int rmai_reply(struct rmai_net *net, int from, const struct rmai_envelope *request, struct rmai_wire_reader *m);
int rmai_reply_go_on(struct rmai_net *net);
int rmai_reply_ping(struct rmai_net *net, int from, const struct rmai_envelope *ping);

#endif
