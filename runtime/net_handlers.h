/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests of other nodes want of this PE's memory, and what runtime/net asks of the layers above it. */
#ifndef RMAI_NET_HANDLERS_H
#define RMAI_NET_HANDLERS_H

struct rmai_net_handlers;
struct rmai_world;

/* rmai_net_handlers fills in *handlers for the process's world. */
void rmai_net_handlers(struct rmai_world *w, struct rmai_net_handlers *handlers);

#endif
