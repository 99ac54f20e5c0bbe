/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements into batches, and batches on their way: what a request to a PE of another node becomes. An element joins the
 * batch that gathers for its PE. The batch leaves at once if nothing else is under way to that PE or the caller waits,
 * and else when it is full or a message to that PE is answered. */
#ifndef RMAI_SUBMIT_H
#define RMAI_SUBMIT_H

#include <stddef.h>

#include "runtime/net/batch.h"
#include "runtime/net/pending.h"
#include "runtime/net/stream.h"
#include "runtime/net/wire.h"

struct rmai_net;

/* What one element asks for. */
struct rmai_ask {
    const char *call;
    struct rmai_pending *set;
    int pe, may_fail;
    int by_node; /* a short element of memory that the neighbours of pe reach: it may go to one of them (by_node.h) */
    struct rmai_record r; /* n and name are 0 */
    struct rmai_element e;
    const void *data;          /* of r.len bytes, with RMAI_RECORD_PUT */
    struct rmai_expect expect; /* where rmai_wire_expects, or the element may fail */
    size_t reply;              /* bytes of data in the item, at most */
    int put;                   /* it writes: a release has to wait for it */
    int now;                   /* the call waits for it */
    void *buffer;              /* of long data, e.value bytes; or NULL */
};

/* rmai_submit adds n elements to the open batch of their peer, and sends that if it is time. They go with one message;
 * an element with long data comes alone. It waits for room. The net's lock is held. Returns RMA_SUCCESS or
 * RMA_ERR_NO_MEM. */
int rmai_submit(struct rmai_net *net, const struct rmai_ask *a, int n);

/* rmai_submit_and_wait asks for one element and waits for its reply, whose value, of len bytes, goes to dest. */
int rmai_submit_and_wait(struct rmai_net *net, struct rmai_ask *a, void *dest, size_t len);

/* rmai_submit_short: as rmai_submit, for n of these. It takes the locks itself. */
int rmai_submit_short(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                      const struct rmai_short_ask *q, int n);

#endif
