/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of life: a question to a PE of another node, which its progress answers. It goes beyond batches and credits:
 * those may all be in use towards a PE that does not answer. The net's lock is held in all of it; nothing waits. */
#ifndef RMAI_LIVENESS_H
#define RMAI_LIVENESS_H

#include "base/wait.h"
#include "runtime/net/transport.h"
#include "runtime/net/wire.h"

#define RMAI_PINGS 256 /* unanswered questions for a sign of life, of one PE in all */

struct rmai_net;

struct rmai_ping {
    struct rmai_envelope message; /* `batch`: its place; `n`: how often the place has been used, so that no late answer
                                     is taken for another's */
    struct rmai_token sent;
    int used, answered;
    int pe;
    char in[RMAI_WAITING_TEXT]; /* with the answer: the call in which that PE waits, or "" */
};

void rmai_liveness_close(struct rmai_net *net);

/* rmai_net_ping asks pe for a sign of life; NULL if all places are in use, or there is no memory for them. The result
 * says when it has come (answered), until rmai_net_forget_ping. */
struct rmai_ping *rmai_net_ping(struct rmai_net *net, int pe);
void rmai_net_forget_ping(struct rmai_ping *ping);

/* rmai_net_take_sign_of_life: a message of len bytes from PE `from` is one. Returns RMA_SUCCESS, or RMA_ERR_MPI if it
 * is none. */
int rmai_net_take_sign_of_life(struct rmai_net *net, int from, const struct rmai_envelope *e, size_t len);

#endif
