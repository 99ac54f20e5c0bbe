/* SPDX-License-Identifier: BSD-3-Clause */
/* How a thread of the program waits for other nodes. */
#ifndef RMAI_NET_WAIT_H
#define RMAI_NET_WAIT_H

#include "base/attributes.h"
#include "base/wait.h"
#include "runtime/net/flow.h"
#include "runtime/net/transport.h"

struct rmai_team;

/* A wait of a thread that holds the lock. rmai_net_wait_turn drives progress once, and sleeps if there has been nothing
 * to do for some turns; it releases the lock meanwhile if other threads want it. */
struct rmai_net_wait {
    unsigned looks, idle;
    int slept;
    long nap;
    struct rmai_stall stall;
};
#define RMAI_NAP_FIRST 10000 /* nanoseconds; the kernel adds some 20 us */

static inline struct rmai_net_wait rmai_net_wait_begins(const char *call, int pe) {
    return (struct rmai_net_wait){.nap = RMAI_NAP_FIRST, .stall = {.call = call, .pe = pe}};
}
void rmai_net_wait_turn(struct rmai_net *net, struct rmai_net_wait *wait);
static inline void rmai_net_wait_ends(struct rmai_net *net, struct rmai_net_wait *wait) {
    if (RMAI_UNLIKELY(wait->stall.last > 0)) net->handlers.wait_is_over(net->handlers.context, &wait->stall);
}

/* rmai_net_wait_for waits until all of the waiter's records, which are for memory of pe, are done. The caller holds the
 * lock. Returns RMA_SUCCESS, or the code of the first record that failed, whose text it records. */
int rmai_net_wait_for(struct rmai_net *net, const char *call, int pe, struct rmai_waiter *waiter);

/* rmai_flows_wait sends the open messages of s, and waits until no flow of s, or not `only` unless it is NULL, waits
 * for messages. The caller holds the lock; this releases it meanwhile, and other threads may send more. */
void rmai_flows_wait(struct rmai_net *net, const char *call, struct rmai_pending *s, const struct rmai_flow *only);

#define RMAI_SHORT_ARRIVAL 1024 /* bytes of a message that travels for no noticeable time */

/* rmai_net_finish waits until the token is done; then *token is RMAI_NO_TOKEN, and *arrival, if it is not NULL,
 * describes the message received. Before, its len is that of the message, or SIZE_MAX if messages of the caller are
 * under way beside it: where a message is short, only a call of another PE can end the wait, and not MPI alone. It
 * serves other PEs meanwhile. A report about a long wait names the PEs of team or, if that is NULL, the leaders of all
 * nodes. Returns RMA_SUCCESS, or the recorded error of `call`: RMA_ERR_MPI. The caller does not hold the net's lock. */
int rmai_net_finish(struct rmai_net *net, const char *call, struct rmai_token *token, struct rmai_arrival *arrival,
                    const struct rmai_team *team);

#endif
