/* SPDX-License-Identifier: BSD-3-Clause */
/* The handlers that runtime/net calls, for requests of other nodes on this PE's memory and for facts about waits. */
#ifndef RMAI_NET_HANDLERS_H
#define RMAI_NET_HANDLERS_H

struct rmai_net_handlers;
struct rmai_world;

/* rmai_net_handlers fills in *handlers for the process's world. */
void rmai_net_handlers(struct rmai_world *w, struct rmai_net_handlers *handlers);

#endif
