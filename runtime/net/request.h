/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: operations become elements of messages, their owners execute them, and the answers come back. request.c
 * adds each operation as an element to the open message of its PE's flow; serve.c executes the messages of other PEs;
 * reply.c reads the answers, and moves long data. Only files of this folder include this header. */
#ifndef RMAI_REQUEST_H
#define RMAI_REQUEST_H

#include "runtime/net/flow.h"
#include "runtime/net/op.h"

/* The caller of all functions here holds the net's lock.
 *
 * rmai_request_put, rmai_request_get and rmai_request_atomic do one operation, rmai_request_put_signal a put and then
 * an atomic. rmai_request_put_gathered leaves a short put in the open message even if nothing is under way to its PE.
 * rmai_request_move does a put or get, of any length and on any memory. rmai_request_ask sends a request of any other
 * kind and waits for the reply. All return RMA_SUCCESS or the recorded error. */
int rmai_request_put(struct rmai_net *net, const struct rmai_op *op);
int rmai_request_put_gathered(struct rmai_net *net, const struct rmai_op *op);
int rmai_request_get(struct rmai_net *net, const struct rmai_op *op);
int rmai_request_move(struct rmai_net *net, const struct rmai_op *op);
int rmai_request_atomic(struct rmai_net *net, const struct rmai_op *op);
int rmai_request_put_signal(struct rmai_net *net, const struct rmai_op *put, const struct rmai_op *signal);
int rmai_request_ask(struct rmai_net *net, const struct rmai_op *op);

/* What an operation of kind RUNS has beside its operands: its runs as they travel, and its data unless they travel by
 * tag. */
struct rmai_runs {
    uint8_t flags;
    const unsigned char *list, *data;
    size_t list_len, data_len;
    struct rmai_landing *landing; /* or NULL; once the operation is submitted, the library frees it */
};

/* rmai_request_submit adds an element of any kind, and the atomic `signal` or NULL, to the open message of its PE, and
 * sends that if it is time. It waits for room. Returns RMA_SUCCESS or RMA_ERR_NO_MEM.
 * rmai_request_complete_proxy waits until what has gone to the proxy of pe is done, so that the next record, which goes
 * to pe itself, comes after it. */
int rmai_request_submit(struct rmai_net *net, const struct rmai_op *op, const struct rmai_op *signal,
                        struct rmai_waiter *waiter);
void rmai_request_complete_proxy(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

/* rmai_stream_open: operations like `op`, whose record is r, and which is the message's last element, may be added to a
 * stream, of `most` bytes at most. */
void rmai_stream_open(struct rmai_message *m, const struct rmai_op *op, const struct rmai_record *r, size_t most);

/* ---- what comes back ---- */

/* rmai_transfer_begin makes a transfer of the flow, which has a credit for one; there are less than RMAI_TRANSFERS. It
 * returns NULL without memory. It posts the receive of a get; so the target's data never arrive unexpected. */
struct rmai_transfer *rmai_transfer_begin(struct rmai_net *net, struct rmai_flow *f, const struct rmai_op *op,
                                          struct rmai_waiter *waiter);

/* Each of these handles a message of PE `from`: the answer to the oldest request, whose items m reads; or what concerns
 * a transfer. All return RMA_SUCCESS, or RMA_ERR_MPI: no PE sends such a message, or the transport has failed.
 * rmai_transfers_advance tests the transfers whose data are under way, and returns how many have ended. */
int rmai_reply_take(struct rmai_net *net, int from, struct rmai_wire_reader *m);
int rmai_transfer_go(struct rmai_net *net, int from, unsigned number);
int rmai_transfer_landed(struct rmai_net *net, int from, unsigned number);
int rmai_transfers_advance(struct rmai_net *net);

#endif
