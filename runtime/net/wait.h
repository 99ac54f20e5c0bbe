/* SPDX-License-Identifier: BSD-3-Clause */
/* How a thread of the program waits for other nodes. */
#ifndef RMAI_NET_WAIT_H
#define RMAI_NET_WAIT_H

#include "base/attributes.h"
#include "base/wait.h"
#include "runtime/net/flow.h"
#include "runtime/transport/transport.h"

struct rmai_team;

/* A wait of a thread that holds the lock. rmai_net_wait_turn drives progress once, and sleeps if there has been nothing
 * to do for some turns; it releases the lock meanwhile if other threads want it. Most waits end within a few turns: so
 * `stall` is filled in only when the wait has lasted for a while, or by the caller, which then sets `told`. */
struct rmai_net_wait {
    const char *call;
    int pe; /* that is waited for, or -1; the caller may change it between two turns */
    unsigned looks, idle;
    int slept, told;
    long nap;
    struct rmai_stall stall;
};
#define RMAI_NAP_FIRST 10000 /* nanoseconds; the kernel adds some 20 us */

static inline void rmai_net_wait_begins(struct rmai_net_wait *wait, const char *call, int pe) {
    wait->call = call;
    wait->pe = pe;
    wait->looks = wait->idle = 0;
    wait->slept = wait->told = 0;
    wait->nap = RMAI_NAP_FIRST;
}
void rmai_net_wait_turn(struct rmai_net *net, struct rmai_net_wait *wait);
static inline void rmai_net_wait_ends(struct rmai_net *net, struct rmai_net_wait *wait) {
    if (RMAI_UNLIKELY(wait->told) && wait->stall.last > 0)
        net->handlers.wait_is_over(net->handlers.context, &wait->stall);
}

/* rmai_net_wait_for waits until all of the waiter's records, which are for memory of pe, are done. The caller holds the
 * lock. Returns RMA_SUCCESS, or the code of the first record that failed, whose text it records. */
int rmai_net_wait_for(struct rmai_net *net, const char *call, int pe, struct rmai_waiter *waiter);

/* rmai_flows_wait sends the open messages of s, and what is added to them meanwhile; it waits until no flow of s waits
 * for messages, or for another thread's flush, that are at most `age` old (flow.h), and takes idle flows off the list.
 * rmai_flow_wait waits for one flow. The caller holds the lock; these release it meanwhile. */
void rmai_flows_wait(struct rmai_net *net, const char *call, struct rmai_pending *s, uint64_t age);
void rmai_flow_wait(struct rmai_net *net, const char *call, struct rmai_flow *f, uint64_t age);

#define RMAI_SHORT_ARRIVAL 1024 /* bytes of a message that travels for no noticeable time */

/* rmai_net_finish waits until the token is done; then *token is RMAI_NO_TOKEN, and *arrival, if it is not NULL,
 * describes the message received. Before, its len is that of the message, or SIZE_MAX if messages of the caller are
 * under way beside it: where a message is short, only a call of another PE can end the wait, and not MPI alone. It
 * serves other PEs meanwhile. A report about a long wait names the PEs of team or, if that is NULL, the leaders of all
 * nodes. Returns RMA_SUCCESS, or the recorded error of `call`: RMA_ERR_MPI. The caller does not hold the net's lock. */
int rmai_net_finish(struct rmai_net *net, const char *call, struct rmai_token *token, struct rmai_arrival *arrival,
                    const struct rmai_team *team);

#endif
