/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of life: a PE pings a PE of another node, whose progress answers. The messages need neither flows nor
 * credits, which may all be in use towards a PE that does not answer. The caller holds the net's lock in all calls;
 * none waits.
 */
#ifndef RMAI_LIVENESS_H
#define RMAI_LIVENESS_H

#include <stddef.h>

#include "base/wait.h"
#include "runtime/net/wire.h"
#include "runtime/transport/transport.h"

struct rmai_net;

#define RMAI_PINGS 256 /* unanswered pings of one PE in all */

struct rmai_ping {
    struct rmai_envelope message; /* `number`: its place; `n`: uses of the place, to tell a late answer */
    struct rmai_token sent;
    int used, answered;
    int pe;
    struct rmai_sign sign; /* the answer */
};

/* All pings of one PE. Initialize it as {.net = net}, with an open net. */
struct rmai_pings {
    struct rmai_net *net;
    struct rmai_ping *place; /* RMAI_PINGS places; NULL until the first ping, which most jobs never send */
    unsigned opened;         /* 0 until then; a number that these places have, and no earlier ones of the process */
};

/* rmai_ping_ask asks pe for a sign of life. Returns NULL if all places are in use, or there is no memory for them. The
 * result tells when the answer has come, until rmai_ping_forget. */
struct rmai_ping *rmai_ping_ask(struct rmai_pings *pings, int pe);
void rmai_ping_forget(struct rmai_ping *ping);

/* rmai_ping_take_answer takes the message e of len bytes from PE `from`, of kind RMAI_WIRE_ALIVE. It ignores an answer
 * to a ping that was forgotten meanwhile. Returns RMA_SUCCESS, or records RMA_ERR_MPI: it is no answer. */
int rmai_ping_take_answer(struct rmai_pings *pings, int from, const struct rmai_envelope *e, size_t len);

/* rmai_pings_close frees all pings; call it before the net is closed. */
void rmai_pings_close(struct rmai_pings *pings);

#endif
