/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watch/liveness.h"
#include "base/error.h"
#include "runtime/net/net.h"
#include "runtime/net/wire.h"
#include "runtime/transport/transport.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_NUMBER (UINT16_MAX - 2) /* the numbers soon wrap to 0, so that this is not a rare case */

static int get_places(struct rmai_pings *pings) {
    static _Atomic unsigned opened;
    if (pings->place) return 1;
    pings->place = calloc(RMAI_PINGS, sizeof *pings->place);
    if (pings->place) pings->opened = ++opened;
    for (unsigned i = 0; pings->place && i < RMAI_PINGS; i++) pings->place[i].message.n = FIRST_NUMBER;
    return pings->place != NULL;
}

struct rmai_ping *rmai_ping_ask(struct rmai_pings *pings, int pe) {
    struct rmai_transport *t = rmai_net_transport(pings->net);
    struct rmai_ping *ping;
    unsigned i = 0;
    if (!get_places(pings)) return NULL;
    ping = pings->place;
    while (i < RMAI_PINGS && (ping[i].used || rmai_token_done(t, &ping[i].sent) != 1)) i++;
    if (i == RMAI_PINGS) return NULL;
    ping += i;
    ping->message =
        (struct rmai_envelope){.kind = RMAI_WIRE_PING, .number = (uint16_t)i, .n = (uint16_t)(ping->message.n + 1)};
    ping->used = 1;
    ping->answered = 0;
    ping->pe = pe;
    if (rmai_send(t, pe, RMAI_SHORT_TAG, &ping->message, sizeof ping->message, &ping->sent) != RMA_SUCCESS)
        rmai_net_fatal(pings->net);
    return ping;
}

/* The transport may still hold the message; until it is sent, rmai_ping_ask does not use the place again. */
void rmai_ping_forget(struct rmai_ping *ping) { ping->used = 0; }

int rmai_ping_take_answer(struct rmai_pings *pings, int from, const struct rmai_envelope *e, size_t len) {
    struct rmai_ping *ping;
    if (!pings->place || e->number >= RMAI_PINGS || len != sizeof *e + sizeof ping->sign)
        return rmai_net_damaged(from, "it is no sign of life");
    ping = &pings->place[e->number];
    if (!ping->used || ping->message.n != e->n || ping->pe != from) return RMA_SUCCESS;
    memcpy(&ping->sign, e + 1, sizeof ping->sign);
    ping->sign.in[sizeof ping->sign.in - 1] = 0;
    ping->sign.place[sizeof ping->sign.place - 1] = 0;
    ping->sign.until[sizeof ping->sign.until - 1] = 0;
    ping->answered = 1;
    return RMA_SUCCESS;
}

/* The transport may still hold a ping to a PE that no longer receives anything. Then the pings stay in memory. */
void rmai_pings_close(struct rmai_pings *pings) {
    int held = 0;
    for (unsigned i = 0; pings->place && i < RMAI_PINGS; i++) {
        struct rmai_token *sent = &pings->place[i].sent;
        if (rmai_token_done(rmai_net_transport(pings->net), sent) == 1) continue;
        rmai_token_drop(rmai_net_transport(pings->net), sent, 0);
        held = 1;
    }
    if (!held) free(pings->place);
    pings->place = NULL;
    pings->opened = 0;
}
