/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: messages to PEs of other nodes, each of many records, and what their replies fill. Requests of one context
 * to one PE gather in a batch while an earlier one is under way: a lone one leaves at once, a stream goes in full
 * messages. A context has at most RMAI_CREDITS unanswered batches at a PE, and all contexts together have RMAI_BATCHES:
 * nobody can be flooded. */
#ifndef RMAI_BATCH_H
#define RMAI_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/net/pending.h"
#include "runtime/net/wire.h"

#define RMAI_RECORDS    126  /* that fit a message */
#define RMAI_BATCH_WAIT 1e-3 /* seconds between two looks after what has gathered in sessions */

/* A call that waits for one record, or for some. */
struct rmai_waiter {
    int left; /* records not yet done */
    int code; /* of the first that failed */
    char text[RMAI_TEXT_MAX];
};

/* Where a record's value goes. */
struct rmai_expect {
    void *dest;
    uint32_t len;
    struct rmai_waiter *waiter; /* or NULL: only a quiet waits for this record */
};

struct rmai_batch {
    struct rmai_peer *peer;
    struct rmai_batch *next;    /* of the free ones, or of those whose long data are under way */
    uint16_t id, n;             /* n: records */
    uint16_t answered, awaited; /* awaited: a call waits for one of its records */
    size_t bytes, reply;        /* of the message; of its reply, at most */
    struct rmai_token sent, data;
    void *buffer; /* of long data, which go in a batch of their own: len bytes, to put or to get; or NULL */
    size_t len;
    int get;
    struct rmai_expect expect[RMAI_RECORDS];
    _Alignas(8) unsigned char message[RMAI_MESSAGE];
};

static inline int rmai_peer_has_open(const struct rmai_peer *p) { return p->open && p->open->n; }

/* The net's lock is held. rmai_batch_take: an empty one, or NULL: all are under way, or there is no memory.
 * rmai_batch_send sends p's open batch; the set's lock is held, too. rmai_batches_send_due sends the open batches of
 * all sets in which a session is open, once in RMAI_BATCH_WAIT. rmai_batches_go_on looks after long data. */
struct rmai_batch *rmai_batch_take(struct rmai_net *net);
void rmai_batch_send(struct rmai_net *net, struct rmai_peer *p);
void rmai_batches_send_due(struct rmai_net *net);
void rmai_batches_go_on(struct rmai_net *net);

/* A message from PE `from` has come: a reply, whose items m reads; or a word that a long put's data may be sent. Return
 * RMA_SUCCESS, or RMA_ERR_MPI: it is none that a PE sends, or the transport has failed. */
int rmai_batch_take_reply(struct rmai_net *net, int from, const struct rmai_envelope *e, struct rmai_wire_reader *m);
int rmai_batch_send_data(struct rmai_net *net, int from, const struct rmai_envelope *e);

#endif
