/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations by messages: each becomes an element of a record in the batch that is open for its PE (batch.h). Only
 * files of this folder include this header. */
#ifndef RMAI_MESSAGE_H
#define RMAI_MESSAGE_H

#include "runtime/net/op.h"
#include "runtime/net/peer.h"

/* rmai_message_put, rmai_message_get, rmai_message_atomic do one operation. rmai_message_put_signal does a put, then an
 * atomic. rmai_message_ask sends a request of any other kind and waits for the reply. The caller holds no lock. All
 * return RMA_SUCCESS or the recorded error. rmai_message_put_gathered leaves a short put in the open batch even if
 * nothing is under way to its PE. */
int rmai_message_put_gathered(struct rmai_net *net, const struct rmai_op *op);
int rmai_message_put(struct rmai_net *net, const struct rmai_op *op);
int rmai_message_get(struct rmai_net *net, const struct rmai_op *op);
int rmai_message_atomic(struct rmai_net *net, const struct rmai_op *op);
int rmai_message_put_signal(struct rmai_net *net, const struct rmai_op *put, const struct rmai_op *signal);
int rmai_message_ask(struct rmai_net *net, const struct rmai_op *op);

/* rmai_message_submit adds an element of any kind, and the atomic `signal` or NULL, to the open batch of its PE, and
 * sends the batch if it is time. It waits for room. The caller holds the net's lock. Returns RMA_SUCCESS or
 * RMA_ERR_NO_MEM. rmai_message_complete_proxy waits until what has gone to the proxy of pe is done, so that the next
 * record, which goes to pe itself, comes after it; the caller holds no lock. */
struct rmai_waiter;
int rmai_message_submit(struct rmai_net *net, const struct rmai_op *op, const struct rmai_op *signal,
                        struct rmai_waiter *waiter);
void rmai_message_complete_proxy(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

/* rmai_message_complete waits until all requests that went to p by messages are done. The caller holds the net's lock.
 * Other threads may send more requests meanwhile. */
void rmai_message_complete(struct rmai_net *net, const char *call, struct rmai_peer *p);

#endif
