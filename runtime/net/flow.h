/* SPDX-License-Identifier: BSD-3-Clause */
/* What is under way between this PE and the PEs of other nodes. Only files of this folder include this header. The
 * caller of all its functions holds the net's lock.
 *
 *     set       the operations of one context that have begun, and that a quiet of it completes
 *     flow      the traffic of one set with one PE
 *     message   records for one PE: its flow fills it, or it is under way
 *     transfer  long data, which travel beside the messages
 *     link      this PE and another one, for all sets: the messages under way to that PE, and the acknowledgements that
 *               this PE owes it
 *
 * A PE executes the messages of another one in the order in which they were sent, and answers them in that order: by a
 * reply, if the message asks for something, or else by counting it (`done` of struct rmai_envelope). So each answer
 * concerns the oldest message of the link, and names none.
 *
 * The equations, which hold whenever nobody holds the net's lock:
 *
 *   flow      under way = sent - acked <= RMAI_CREDITS, and transfers <= RMAI_CREDITS
 *             idle  <=>  sent == acked, transfers == 0, touched == 0, flushing == NULL, and `open` has no record
 *             not idle  =>  listed, that is in set->busy, until a quiet or a wait finds it idle
 *   set       touched = flows with touched != 0 or flushing != NULL
 *             busy == NULL  =>  all its flows are idle, streams.puts == RMAI_NO_PUTS, copied == 0
 *             *complete == RMA_ALL_COMPLETE_  <=>  busy == NULL and failed == 0
 *   link      its messages, oldest to newest, are those under way of all flows to that PE, in the order of sending
 *   net       n_messages = idle ones + open ones + those under way + those that the transport still reads
 *                       <= RMAI_MESSAGES_MOST
 */
#ifndef RMAI_FLOW_H
#define RMAI_FLOW_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/job/by_node.h"
#include "runtime/job/traffic.h"
#include "runtime/net/state.h"
#include "runtime/net/stream.h"
#include "runtime/net/wire.h"
#include "runtime/transport/transport.h"

#define RMAI_CREDITS       4    /* messages of one flow under way, and transfers */
#define RMAI_MESSAGES_MOST 1024 /* messages of this PE in all */
#define RMAI_MESSAGES_KEPT 8    /* two full flows; more are freed */
#define RMAI_MESSAGES_IDLE 1.0  /* seconds after which an idle message may be freed */
#define RMAI_SESSION_WAIT  1e-3 /* seconds after which the open messages of sessions are sent */

/* ---- what a reply brings ---- */

/* A call that waits for one or more elements or transfers. */
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

/* What a record asks of the reply: values, or the error if it fails. The destinations of its n elements are number
 * `first` and the following ones of the message (rmai_message_dest). A record with a waiter has one element. */
struct rmai_ask {
    struct rmai_waiter *waiter; /* or NULL: only a quiet waits for it, or a transfer does */
    uint16_t first, n;
    uint16_t len;  /* bytes of each value; of a record that begins a transfer: the transfer's number */
    uint8_t gives; /* 1: the reply brings values or an error; 0: nothing, or an error */
    uint8_t moves; /* 1: the record begins a transfer */
};

/* Room of their own for data of blocks: those that a record asks for, and those of a transfer. When they have come they
 * are copied to the n runs of blocks `to`. One allocation holds all three. */
struct rmai_landing {
    struct rmai_landing *next;
    unsigned ask; /* of the message */
    unsigned char *data;
    size_t n;
    struct rmai_landing_run {
        char *at;
        size_t len, n; /* n blocks of len bytes, */
        ptrdiff_t step;
    } to[];
};

/* ---- messages ---- */

#define RMAI_ASK_ROOM                                                                                                  \
    ((size_t)4224) /* bytes that say where the values of a reply go: a full reply of one run, or 176 records with one  \
                      value each */
#define RMAI_NO_RUN UINT64_MAX

/* In an idle message only `next`, and whether `bytes` is 0 (rmai_messages_give_back) have a meaning. In all others
 * bytes <= RMAI_MESSAGE, reply <= RMAI_MESSAGE, and rmai_message_ask_bytes <= RMAI_ASK_ROOM; to_come counts the asks
 * whose `gives` is 1. While stream is not NULL, these and run_n do not count the elements that have been added to the
 * stream (stream.h). */
struct rmai_message {
    struct rmai_flow *flow;
    struct rmai_message *next; /* the next one of its link; or in a list of the net's */
    uint16_t n, n_asks;        /* records, and those that ask for something, */
    uint16_t n_dests;          /* and the elements of these */
    uint16_t to_come;
    int awaited; /* it leaves as soon as there is a credit: a call waits for one of its elements, it begins a transfer,
                    or somebody has tried to send it */
    uint16_t run_n; /* elements of the last record */
    uint64_t age;   /* the set's, when the message was begun */
    uint64_t run;   /* the last record as rmai_wire_word, with name and n 0; or RMAI_NO_RUN: no element may be added
                       to it */
    size_t last;    /* where the last record stands */
    size_t bytes;   /* of the message */
    size_t reply;   /* and of its reply, at most */
    struct rmai_token sent;
    struct rmai_stream *stream; /* it extends the last record; or NULL */
    struct rmai_landing *landings;
    union {
        struct rmai_ask ask[RMAI_ASK_ROOM / sizeof(struct rmai_ask)]; /* the first n_asks are used, */
        void *dest[RMAI_ASK_ROOM / sizeof(void *)];                   /* and the last n_dests */
    } room;
    _Alignas(8) unsigned char body[RMAI_MESSAGE];
};

static inline struct rmai_ask *rmai_message_ask(struct rmai_message *m, unsigned i) { return &m->room.ask[i]; }
/* The place of destination i. Those that follow are before it in memory. */
static inline void **rmai_message_dest(struct rmai_message *m, unsigned i) {
    return &m->room.dest[RMAI_ASK_ROOM / sizeof(void *) - 1 - i];
}
static inline size_t rmai_message_ask_bytes(const struct rmai_message *m) {
    return m->n_asks * sizeof(struct rmai_ask) + m->n_dests * sizeof(void *);
}

/* rmai_landing_end copies data that have come to their places, and frees their room. */
void rmai_landing_end(struct rmai_landing *l);

/* ---- flows and sets ---- */

/* What this PE knows of the memory of a flow's PE in MPI's windows (dynamic.c, window.c). */
struct rmai_map {
    int known;                       /* the directory has been read, */
    unsigned growths;                /* when the symmetric heap had grown so often; */
    struct rmai_directory directory; /* its last state that this PE has read */
    struct {
        uint64_t offset, len, address;
    } step; /* the step of the dynamic window that the last access used: its offset in the PE's space, its address in
               the PE's process. len 0: none */
    unsigned through_window; /* transfers that went through a window, */
    uint64_t used;           /* and when the last one did, in ticks */
    struct rmai_token doorbell;
};

/* A flush of the windows that a thread makes for a flow, on its stack. */
struct rmai_flow_flush {
    struct rmai_flow_flush *next;
    uint64_t age; /* touched_age of the flow at its beginning */
};

struct rmai_flow {
    int pe;               /* first: flows are entries of a rmai_pe_table */
    unsigned sent, acked; /* messages */
    unsigned transfers;   /* under way */
    unsigned touched;     /* a bit for each of MPI's windows (enum rmai_window_kind): 1 if it needs a flush */
    struct rmai_flow_flush *flushing; /* those that are under way */
    int listed;                       /* in set->busy */
    struct rmai_pending *set;
    struct rmai_flow *next;      /* in set->busy */
    struct rmai_link *link;      /* from the first message on */
    struct rmai_message *open;   /* the message that it fills, or NULL */
    struct rmai_map *map;        /* what is known of the PE's memory in the windows, or NULL */
    uint64_t ages[RMAI_CREDITS]; /* of the messages under way: message number i has ages[i % RMAI_CREDITS] */
    uint64_t touched_age;        /* the set's, when the flow was touched first since its last flush */
    size_t unpolled;             /* bytes of elements since a call that added one has polled for replies */
    unsigned asked;              /* elements and transfers since it was idle */
    unsigned alone : 8;          /* messages of a single element that nobody waited for, so far */
    unsigned last_was_lone : 1;  /* it became idle after a single operation: see rmai_window_takes */
};

static inline unsigned rmai_flow_under_way(const struct rmai_flow *f) { return f->sent - f->acked; }
static inline int rmai_flow_has_open(const struct rmai_flow *f) { return f->open && f->open->n; }
static inline int rmai_flow_has_credit(const struct rmai_flow *f) { return rmai_flow_under_way(f) < RMAI_CREDITS; }
/* 1 if it waits for messages, or for another thread's flush; a window may still need one. */
static inline int rmai_flow_waits(const struct rmai_flow *f) {
    return f->sent != f->acked || f->transfers || rmai_flow_has_open(f) || f->flushing;
}

/* Ages. A quiet completes what has begun before it, while other threads may begin more without end. So each set has an
 * age, which every quiet increases: what is under way is of a quiet's concern if it is not younger than that quiet. The
 * messages of a flow are done in the order of their ages. rmai_flow_waits_until: 1 if the flow waits for something that
 * is at most `age` old, by rmai_flow_waits. */
int rmai_flow_waits_beside_messages_(const struct rmai_flow *f, uint64_t age);
static inline int rmai_flow_waits_until(const struct rmai_flow *f, uint64_t age) {
    if (f->sent != f->acked && f->ages[f->acked % RMAI_CREDITS] <= age) return 1;
    if (rmai_flow_has_open(f) && f->open->age <= age) return 1;
    return RMAI_UNLIKELY(f->transfers || f->flushing) && rmai_flow_waits_beside_messages_(f, age);
}

/* Long data under way, of one record of a message. A put sends them when the target is ready (GO), and ends when they
 * are in their places there (LANDED). A get ends when they have come. */
struct rmai_transfer {
    struct rmai_transfer *next; /* in net->transfers */
    struct rmai_flow *flow;
    struct rmai_waiter *waiter; /* or NULL: only a quiet waits */
    const char *operation;      /* for the error that a quiet reports */
    uint64_t age;               /* the set's, when it was begun */
    uint16_t number;            /* no other transfer of this PE has it */
    uint8_t get, went, landed;  /* went: GO has come */
    struct rmai_token token;
    void *buffer;
    size_t len;
    struct rmai_landing *landing; /* or NULL */
};

/* Copies of the sources of short puts, which MPI reads until a flush, so that nobody has to wait for it. */
#define RMAI_COPY_ROOM  ((size_t)32 << 10) /* bytes that a set has for them */
#define RMAI_COPY_MOST  ((size_t)1 << 10)  /* of one put; a longer put ends with a local flush */
#define RMAI_COPY_ALIGN ((size_t)16)

/* *complete is RMA_ALL_COMPLETE_ as above; else 0 if puts != RMAI_NO_PUTS; else RMA_STREAMING_ in a session with
 * streams, or while the flow to this PE itself is listed; else RMA_PUTS_COMPLETE_. It may be RMA_STREAMING_ for longer.
 */
struct rmai_pending {
    struct rmai_net *net;
    struct rmai_traffic *traffic;          /* counts the set's operations: the net's, or the owner's own */
    struct rmai_pending *next_set, **link; /* the next set in net->sets, and the pointer to this one */
    uint32_t *complete, *complete_too;     /* the inlined calls read them; they may be equal */
    struct rmai_pe_table flows;
    struct rmai_flow *last; /* the last one that was used */
    struct rmai_flow *own;  /* the one to this PE itself, if there is one (rmai_net_loops_back) */
    struct rmai_flow *busy;
    uint64_t age;          /* grows with each quiet, and each wait of a part of the set */
    unsigned touched;      /* flows that need a flush, or are being flushed */
    int failed, failed_pe; /* the first error that nobody waited for, until the next quiet, and the PE */
    const char *failed_op; /* and what failed there */
    char *copies;          /* RMAI_COPY_ROOM bytes, or NULL, */
    size_t copied;         /* bytes of it in use, until the windows are flushed for all flows */
    uint64_t words[RMA_SHORT_MAX_ / sizeof(uint64_t)]; /* MPI writes short blocking gets here: */
    int words_used;                                    /* one at a time */
    int session;                                       /* a session is open: see op.h */
    int by_node; /* short records go by proxies (runtime/job/by_node). It changes only while nothing is pending, so that
                    no record overtakes another one on the other path */
    int many;    /* between two quiets, enough goes to one PE to fill messages: rmai_pending_choose_way */
    size_t filled;               /* bytes of messages since nothing was pending, where there are proxies, */
    unsigned done_flows;         /* and how often a flow became idle in that time */
    struct rmai_streams streams; /* their `puts` is the set's */
};

/* rmai_flow_of returns the flow to pe, which it makes if there is none, or NULL without memory; only threads of the
 * program call it. rmai_flow_busy returns the listed flow to pe, or NULL. rmai_flow_list: quiet has something of the
 * flow to complete. rmai_flows_unlist takes those off the list that are idle. */
struct rmai_flow *rmai_flow_find_(struct rmai_pending *s, int pe);
static inline struct rmai_flow *rmai_flow_of(struct rmai_pending *s, int pe) {
    return RMAI_LIKELY(s->last && s->last->pe == pe) ? s->last : rmai_flow_find_(s, pe);
}
static inline struct rmai_flow *rmai_flow_busy(const struct rmai_pending *s, int pe) {
    struct rmai_flow *f = s->busy;
    while (f && f->pe != pe) f = f->next;
    return f;
}
void rmai_flow_list_(struct rmai_flow *f);
static inline void rmai_flow_list(struct rmai_flow *f) {
    if (!f->listed) rmai_flow_list_(f);
}
void rmai_flows_unlist(struct rmai_pending *s);

/* rmai_flow_map returns what is known of the flow's PE's memory, and makes it if there is none; NULL without memory. */
static inline struct rmai_map *rmai_flow_map(struct rmai_flow *f) {
    if (RMAI_UNLIKELY(!f->map)) f->map = calloc(1, sizeof *f->map);
    return f->map;
}

/* rmai_flow_begin gives the flow an empty open message; returns 0 if all messages are in use, or there is no memory.
 * rmai_flow_give_up takes back an open message without records, which nobody would send. rmai_flow_send sends the open
 * message, which has a record; there is a credit. rmai_flows_note_gathered notes that elements stay in an open message:
 * progress for a waiting thread, a wait for room and the set's next quiet send it. */
int rmai_flow_begin(struct rmai_net *net, struct rmai_flow *f);
void rmai_flow_give_up(struct rmai_net *net, struct rmai_flow *f);
void rmai_flow_send(struct rmai_net *net, struct rmai_flow *f);
static inline void rmai_flows_note_gathered(struct rmai_net *net) {
    if (!atomic_load_explicit(&net->gathered, memory_order_relaxed))
        atomic_store_explicit(&net->gathered, 1, memory_order_relaxed);
}

/* rmai_flow_send_open sends the flow's open message if it has a record; without a credit it is sent when the PE next
 * answers. rmai_flows_send_open sends those of all flows of s. */
static inline void rmai_flow_send_open(struct rmai_net *net, struct rmai_flow *f) {
    if (!rmai_flow_has_open(f)) return;
    if (rmai_flow_has_credit(f))
        rmai_flow_send(net, f);
    else
        f->open->awaited = 1;
}
void rmai_flows_send_open(struct rmai_net *net, struct rmai_pending *s);

/* rmai_pending_publish writes the two words `complete`. A failure that no quiet has reported yet counts as pending, so
 * that the inlined quiet calls the library. rmai_pending_fail keeps the error of an element that no call waits for. */
void rmai_pending_publish(struct rmai_pending *s);
void rmai_pending_fail(struct rmai_pending *s, int pe, const char *operation, int code);

/* How the operations of a record of this kind are counted: puts, gets or atomics. */
static inline enum rmai_traffic_kind rmai_record_traffic(unsigned kind) {
    return kind == RMAI_RECORD_PUT ? RMAI_PUTS : kind == RMAI_RECORD_GET ? RMAI_GETS : RMAI_ATOMICS;
}

/* rmai_stream_settle closes the message's stream, if it has one: then the message knows of the stream's elements. */
void rmai_stream_settle_(struct rmai_message *m);
static inline void rmai_stream_settle(struct rmai_message *m) {
    if (m->stream) rmai_stream_settle_(m);
}

/* rmai_pending_note_put notes a put to pe that is not complete. in_order: it goes by short messages, which a PE
 * receives and does in the order in which another one sent them; long data and windows have no such order. So it closes
 * the streams of atomics that the put could overtake. */
void rmai_streams_close_atomics_(struct rmai_pending *s, int puts);
static inline void rmai_pending_note_put(struct rmai_pending *s, int pe, int in_order) {
    int before = atomic_load_explicit(&s->streams.puts, memory_order_relaxed),
        mine = in_order ? 1 + pe : RMAI_MANY_PUTS;
    if (before != RMAI_NO_PUTS && before != mine) mine = RMAI_MANY_PUTS;
    if (RMAI_LIKELY(before == mine)) return;
    atomic_store_explicit(&s->streams.puts, mine, memory_order_relaxed);
    if (s->streams.atomics) rmai_streams_close_atomics_(s, mine);
    if (before != RMAI_NO_PUTS) return;
    __atomic_store_n(s->complete, 0, __ATOMIC_RELAXED);
    __atomic_store_n(s->complete_too, 0, __ATOMIC_RELAXED);
}

/* ---- where a record goes ---- */

/* Operations on this PE's own words that travel as those to other nodes do (rmai_net_loops_back).
 * rmai_pending_own_busy: 1 if some are under way. rmai_pending_own_joins: 1 if those that no call waits for do so while
 * anything is under way. */
static inline int rmai_pending_own_busy(const struct rmai_pending *s) { return s->own && s->own->listed; }
static inline int rmai_pending_own_joins(const struct rmai_pending *s) {
    return s->session && s->net->biased && !s->by_node;
}

/* rmai_pending_choose_way decides whether records go by proxies. It is called after a session has begun or ended, or an
 * operation is done. */
void rmai_pending_choose_way(struct rmai_pending *s);

/* rmai_pending_goes_to returns the PE to which a short record for pe goes: pe, or its proxy. The caller sets *mark in
 * the record's offsets. */
static inline int rmai_pending_goes_to(const struct rmai_pending *s, int pe, uint64_t *mark) {
    *mark = 0;
    if (RMAI_LIKELY(!s->by_node)) return pe;
    return rmai_by_node_to(&s->net->by_node, pe, mark);
}

/* rmai_pending_puts_come_first: 1 if a short record for pe arrives after all puts that are not complete, since they use
 * the same path. pe is -1 for an operation that uses another path. */
static inline int rmai_pending_puts_come_first(const struct rmai_pending *s, int pe) {
    const int puts = atomic_load_explicit(&s->streams.puts, memory_order_relaxed);
    uint64_t mark;
    return puts == RMAI_NO_PUTS || (pe >= 0 && puts == 1 + rmai_pending_goes_to(s, pe, &mark));
}

/* rmai_flow_to returns the flow of a short record for pe, or NULL without memory. The caller sets *mark in the record's
 * offsets. */
static inline struct rmai_flow *rmai_flow_to(struct rmai_pending *s, int pe, uint64_t *mark) {
    return rmai_flow_of(s, rmai_pending_goes_to(s, pe, mark));
}

/* ---- links ---- */

#define RMAI_UNACKNOWLEDGED_MOST 2 /* half of a flow's credits (RMAI_CREDITS), so that a stream does not stop */

/* listed is 1 if and only if the link is in net->owing. It is there if unacknowledged > 0, and may be for longer. */
struct rmai_link {
    int pe;                               /* first: links are entries of a rmai_pe_table */
    unsigned unacknowledged;              /* messages of that PE that are done and not acknowledged */
    struct rmai_message *oldest, *newest; /* under way to that PE */
    int waits; /* an acknowledgement is delayed, or would have been: since `since`, in ticks */
    int kept;  /* it is */
    uint64_t since;
    unsigned hits, hits_needed; /* delays in a row that soon met a message to ride on */
    int late;                   /* the last delay was long */
    int slept;                  /* this PE has slept until a message was acknowledged, and has not said so */
    int listed;
    struct rmai_link *next;
    struct rmai_envelope ack; /* a message with nothing but an acknowledgement */
    struct rmai_token sent;
};

/* rmai_link_to returns the link to pe, which it makes if there is none, or NULL without memory. */
static inline struct rmai_link *rmai_link_to(struct rmai_net *net, int pe) {
    if (RMAI_LIKELY(net->link && net->link->pe == pe)) return net->link;
    return net->link = rmai_pe_table_find(&net->links, pe, sizeof(struct rmai_link));
}

/* rmai_link_answered: the oldest message of the link, which brings all that it was asked for, is done. rmai_link_done:
 * `n` more of the oldest messages are done, and ask for nothing; returns RMA_SUCCESS, or RMA_ERR_MPI: no PE sends that.
 */
void rmai_link_answered(struct rmai_net *net, struct rmai_link *link);
int rmai_link_done(struct rmai_net *net, int from, unsigned n);

/* rmai_link_owe: a message of that PE is done and has to be acknowledged. rmai_link_take_acks returns how many messages
 * one that leaves now acknowledges. rmai_links_acknowledge sends the acknowledgements of all links. Without `all` it
 * delays them for PEs to which a message has always left soon after a request, as where two PEs take turns; it sends
 * those some microseconds later, if this PE receives nothing more (none_heard). rmai_link_slept: that PE says that it
 * slept until this one acknowledged. Those that return a code return RMA_SUCCESS, or RMA_ERR_MPI: the transport has
 * failed. */
int rmai_link_owe(struct rmai_net *net, struct rmai_link *link);
void rmai_link_slept(struct rmai_net *net, int from);
void rmai_link_end_wait_(struct rmai_link *link);
static inline uint16_t rmai_link_take_acks(struct rmai_link *link) {
    const uint16_t n = (uint16_t)link->unacknowledged;
    if (link->waits) rmai_link_end_wait_(link);
    link->unacknowledged = 0;
    return n;
}
int rmai_links_acknowledge(struct rmai_net *net, int all, int none_heard);

/* ---- what progress looks after ---- */

/* rmai_flows_send_due sends, every RMAI_SESSION_WAIT, the open messages of all sets that have an open session.
 * rmai_flows_send_gathered sends the open messages of all other sets; one without a credit is sent when the PE next
 * answers. rmai_messages_advance frees the messages that the transport no longer
 * reads. rmai_messages_give_back frees the memory of those that have been idle for RMAI_MESSAGES_IDLE to twice that, if
 * more than RMAI_MESSAGES_KEPT exist. */
void rmai_flows_send_due(struct rmai_net *net);
void rmai_flows_send_gathered_(struct rmai_net *net);
static inline void rmai_flows_send_gathered(struct rmai_net *net) {
    if (RMAI_UNLIKELY(atomic_load_explicit(&net->gathered, memory_order_relaxed))) rmai_flows_send_gathered_(net);
}
void rmai_messages_advance(struct rmai_net *net);
void rmai_messages_give_back(struct rmai_net *net);

/* rmai_flows_close frees links and messages; none is under way. */
void rmai_flows_close(struct rmai_net *net);

#endif
