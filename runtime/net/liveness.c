/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/liveness.h"
#include "base/error.h"
#include "runtime/net/state.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_NUMBER (UINT16_MAX - 2) /* soon the numbers turn to 0, so that this is no rare case */

/* Most jobs never ask: the places get memory with the first question. */
static int get_places(struct rmai_net *net) {
    if (net->ping) return 1;
    net->ping = calloc(RMAI_PINGS, sizeof *net->ping);
    for (unsigned i = 0; net->ping && i < RMAI_PINGS; i++) net->ping[i].message.n = FIRST_NUMBER;
    return net->ping != NULL;
}

struct rmai_ping *rmai_net_ping(struct rmai_net *net, int pe) {
    struct rmai_ping *ping;
    unsigned i = 0;
    if (!get_places(net)) return NULL;
    ping = net->ping;
    while (i < RMAI_PINGS && (ping[i].used || rmai_token_done(net->transport, &ping[i].sent) != 1)) i++;
    if (i == RMAI_PINGS) return NULL;
    ping += i;
    ping->message =
        (struct rmai_envelope){.kind = RMAI_WIRE_PING, .batch = (uint16_t)i, .n = (uint16_t)(ping->message.n + 1)};
    ping->used = 1;
    ping->answered = 0;
    ping->pe = pe;
    if (rmai_send(net->transport, pe, RMAI_SHORT_TAG, &ping->message, sizeof ping->message, &ping->sent) != RMA_SUCCESS)
        rmai_net_fatal(net);
    return ping;
}

/* The transport may still hold the message; until it is sent, rmai_net_ping does not use the place again. */
void rmai_net_forget_ping(struct rmai_ping *ping) { ping->used = 0; }

/* An answer to a question that was forgotten meanwhile is ignored. */
int rmai_net_take_sign_of_life(struct rmai_net *net, int from, const struct rmai_envelope *e, size_t len) {
    struct rmai_ping *ping;
    if (!net->ping || e->batch >= RMAI_PINGS || len != sizeof *e + sizeof ping->in)
        return rmai_net_damaged(from, "it is no sign of life");
    ping = &net->ping[e->batch];
    if (!ping->used || ping->message.n != e->n || ping->pe != from) return RMA_SUCCESS;
    memcpy(ping->in, e + 1, sizeof ping->in);
    ping->in[sizeof ping->in - 1] = 0;
    ping->answered = 1;
    return RMA_SUCCESS;
}

/* The transport may still hold a question, to a PE that receives nothing any more. Then the questions stay in memory.
 */
void rmai_liveness_close(struct rmai_net *net) {
    int held = 0;
    for (unsigned i = 0; net->ping && i < RMAI_PINGS; i++) {
        if (rmai_token_done(net->transport, &net->ping[i].sent) == 1) continue;
        rmai_token_drop(net->transport, &net->ping[i].sent, 0);
        held = 1;
    }
    if (!held) free(net->ping);
    net->ping = NULL;
}
