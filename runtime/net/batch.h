/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: messages to PEs of other nodes, each with many records, and the places that their replies fill. Only files
 * of this folder include this header.
 *
 * Requests of one context to one PE gather in a batch while an earlier one is under way: a lone request leaves at once,
 * and a stream of requests goes in full messages. The open batch of a peer is sent when nothing else is under way to
 * that peer, when a call waits for one of its records, when it is full, and when a reply comes back. While a session is
 * open in the set, a batch that no call waits for is sent when it is full, and when it has waited for RMAI_BATCH_WAIT.
 * A context has at most RMAI_CREDITS unanswered batches at a PE, and all contexts together have at most RMAI_BATCHES,
 * so no PE can be flooded. */
#ifndef RMAI_BATCH_H
#define RMAI_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/job/traffic.h"
#include "runtime/net/peer.h"
#include "runtime/net/stream.h"
#include "runtime/net/wire.h"

#define RMAI_EXPECT_ROOM                                                                                               \
    ((size_t)4224)             /* bytes that say where the values of a reply go: a full reply of one run, or           \
                                 176 records with one value each */
#define RMAI_BATCH_WAIT   1e-3 /* seconds after which the open batches of sessions are sent */
#define RMAI_BATCH_IDLE   1.0  /* seconds after which an idle batch may be freed, */
#define RMAI_BATCHES_KEPT 8    /* while there are more than so many: two full streams */
#define RMAI_NO_RUN       UINT64_MAX

/* A call that waits for one or more elements. */
struct rmai_waiter {
    int left; /* elements not yet done */
    int pe;   /* the PE that does them */
    int code; /* of the first element that failed */
    char text[RMAI_TEXT_MAX];
};

static inline void rmai_waiter_begin(struct rmai_waiter *waiter, int left) {
    waiter->left = left;
    waiter->pe = -1;
    waiter->code = 0;
    waiter->text[0] = 0;
}

/* Where the values of a record's elements go: its n destinations are number `first` and the following ones of the batch
 * (rmai_batch_dest). */
struct rmai_expect {
    struct rmai_waiter
        *waiter; /* or NULL: only a quiet waits for this record. A record with a waiter has one element */
    uint16_t first, n;
    uint16_t len;   /* bytes of each value */
    uint16_t gives; /* 1: the reply brings values or an error */
};

/* Data that the target of a record of kind RUNS returns, or that travel to it by tag: they have room of their own until
 * the batch is finished. Returned data are then copied to the n runs of blocks `to`. One allocation holds all three. */
struct rmai_landing {
    struct rmai_landing *next;
    unsigned record; /* among those of the batch that expect something */
    unsigned char *data;
    size_t n;
    struct rmai_landing_run {
        char *at;
        size_t len, n; /* n blocks of len bytes, */
        ptrdiff_t step;
    } to[];
};

/* What a record of kind RUNS has beside its operands: its runs as they travel, and its data unless they travel by tag.
 */
struct rmai_runs {
    uint8_t flags;
    const unsigned char *list, *data;
    size_t list_len, data_len;
    struct rmai_landing *landing; /* or NULL; the batch frees it */
};

/* In an idle batch only `next`, `id`, and whether `bytes` is 0 (rmai_batches_give_back) have a meaning; answered is 1.
 * In all others bytes <= RMAI_MESSAGE, reply <= RMAI_MESSAGE, and rmai_batch_expect_bytes <= RMAI_EXPECT_ROOM. to_come
 * counts the records whose `gives` is 1. While stream is not NULL, these and run_n do not count the elements that have
 * been added to the stream (stream.h). */
struct rmai_batch {
    struct rmai_peer *peer;
    struct rmai_batch *next;       /* in the list of free batches, of those whose long data are under way, or of this
                                      PE's requests to itself */
    struct rmai_batch *sent_after; /* the next batch of its link */
    uint16_t id, n, n_expects;     /* n: records. n_expects: records that expect something from the reply, */
    uint16_t n_dests;              /* and elements of these */
    uint16_t to_come;              /* how many of n_expects bring values */
    uint16_t answered, awaited;    /* awaited: a call waits for one of its elements */
    uint64_t run;                  /* the last record as rmai_wire_word, with name and n 0; or RMAI_NO_RUN: no element
                                      may be added to it */
    uint16_t run_n;                /* and its elements */
    size_t last;                   /* where the last record stands in the message */
    size_t bytes, reply;           /* of the message; of its reply, at most */
    struct rmai_token sent, data;
    struct rmai_stream *stream; /* it extends the last record; or NULL */
    struct rmai_landing *landings;
    void *buffer; /* len bytes of long data to put or get, which have a batch of their own; or NULL */
    size_t len;
    int get;
    union {
        struct rmai_expect expect[RMAI_EXPECT_ROOM / sizeof(struct rmai_expect)]; /* the first n_expects are used, */
        void *dest[RMAI_EXPECT_ROOM / sizeof(void *)];                            /* and the last n_dests */
    } room;
    _Alignas(8) unsigned char message[RMAI_MESSAGE];
};

/* rmai_batch_gathers notes that elements stay in an open batch: a thread that begins to wait sends it. The caller holds
 * the set's lock. */
static inline void rmai_batch_gathers(struct rmai_net *net) {
    if (!atomic_load_explicit(&net->gathered, memory_order_relaxed))
        atomic_store_explicit(&net->gathered, 1, memory_order_relaxed);
}

static inline struct rmai_expect *rmai_batch_expect(struct rmai_batch *batch, unsigned i) {
    return &batch->room.expect[i];
}
/* The place of destination i. Those that follow are before it in memory. */
static inline void **rmai_batch_dest(struct rmai_batch *batch, unsigned i) {
    return &batch->room.dest[RMAI_EXPECT_ROOM / sizeof(void *) - 1 - i];
}
static inline size_t rmai_batch_expect_bytes(const struct rmai_batch *batch) {
    return batch->n_expects * sizeof(struct rmai_expect) + batch->n_dests * sizeof(void *);
}

/* rmai_batch_open_stream: operations like `op`, whose record is r, and which is the batch's last element, may be added
 * to a stream, of `most` bytes at most. rmai_batch_settle closes the batch's stream, if it has one. The caller holds
 * the set's lock. */
struct rmai_op;
void rmai_batch_open_stream(struct rmai_batch *batch, const struct rmai_op *op, const struct rmai_record *r,
                            size_t most);
void rmai_batch_settle_(struct rmai_batch *batch);
static inline void rmai_batch_settle(struct rmai_batch *batch) {
    if (batch->stream) rmai_batch_settle_(batch);
}

/* How the operations of a record of this kind are counted: puts, gets or atomics. */
static inline enum rmai_traffic_kind rmai_record_traffic(unsigned kind) {
    return kind == RMAI_RECORD_PUT ? RMAI_PUTS : kind == RMAI_RECORD_GET ? RMAI_GETS : RMAI_ATOMICS;
}

/* rmai_pending_note_put notes a put to pe that is not complete. in_order: it goes by short messages, which a PE
 * receives and does in the order in which another one sent them; long data and windows have no such order. So it closes
 * the streams of atomics that the put could overtake. The caller holds the set's lock. */
void rmai_batches_close_atomics_(struct rmai_pending *s, int puts);
static inline void rmai_pending_note_put(struct rmai_pending *s, int pe, int in_order) {
    int before = atomic_load_explicit(&s->streams.puts, memory_order_relaxed),
        mine = in_order ? 1 + pe : RMAI_MANY_PUTS;
    if (before != RMAI_NO_PUTS && before != mine) mine = RMAI_MANY_PUTS;
    if (RMAI_LIKELY(before == mine)) return;
    atomic_store_explicit(&s->streams.puts, mine, memory_order_relaxed);
    if (s->streams.atomics) rmai_batches_close_atomics_(s, mine);
    if (before != RMAI_NO_PUTS) return;
    __atomic_store_n(s->complete, 0, __ATOMIC_RELAXED);
    __atomic_store_n(s->complete_too, 0, __ATOMIC_RELAXED);
}

static inline int rmai_peer_has_open(const struct rmai_peer *p) { return p->open && p->open->n; }

/* The caller holds the net's lock. rmai_batch_open makes an empty batch the open batch of p; it returns 0 if all
 * batches are under way, or there is no memory. rmai_batch_send sends p's open batch; the caller also holds the set's
 * lock. rmai_batches_send_due sends, every RMAI_BATCH_WAIT, the open batches of all sets that have an open session.
 * rmai_batches_send_gathered sends the open batches of all other sets; one without a credit is sent when the peer next
 * answers; only a thread of the program calls it. rmai_batches_advance tests the batches whose sends or long data are
 * under way. rmai_batches_take_to_self takes the oldest of this PE's requests to itself off their list, which is not
 * empty; the message of *len bytes stays until the request is answered. */
int rmai_batch_open(struct rmai_net *net, struct rmai_peer *p);
void rmai_batch_send(struct rmai_net *net, struct rmai_peer *p);
void rmai_batches_send_due(struct rmai_net *net);
void rmai_batches_send_gathered(struct rmai_net *net);
void rmai_batches_advance(struct rmai_net *net);
const void *rmai_batches_take_to_self(struct rmai_net *net, size_t *len);

/* Each of these handles a message that has arrived. rmai_batch_take_reply: a reply of PE `from`, whose items m reads.
 * rmai_batch_send_data: the target of a long put is ready for the data. rmai_batches_done: `n` more requests to that PE
 * are done. All return RMA_SUCCESS, or RMA_ERR_MPI: no PE sends such a message, or the transport has failed. */
int rmai_batch_take_reply(struct rmai_net *net, int from, const struct rmai_envelope *e, struct rmai_wire_reader *m);
int rmai_batch_send_data(struct rmai_net *net, int from, const struct rmai_envelope *e);
int rmai_batches_done(struct rmai_net *net, int from, unsigned n);

/* rmai_batches_give_back frees the batches that have been idle for RMAI_BATCH_IDLE to twice that, if more than
 * RMAI_BATCHES_KEPT exist. The list of idle ones is a stack: those that a program needs less often are at its end.
 * rmai_batches_set_side_work is called when the batches or the sessions have become more or fewer. */
void rmai_batches_give_back(struct rmai_net *net);
static inline void rmai_batches_set_side_work(struct rmai_net *net) {
    net->side_work = net->to_self || net->sessions > 0 || net->n_batches > RMAI_BATCHES_KEPT;
}

/* rmai_batches_close frees all batches. None is under way. */
void rmai_batches_close(struct rmai_net *net);

#endif
