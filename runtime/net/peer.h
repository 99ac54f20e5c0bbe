/* SPDX-License-Identifier: BSD-3-Clause */
/* What this PE keeps of the PEs of other nodes. Only files of this folder include this header.
 *
 * A *pending set* is what has been begun and quiet completes. Each context has one: its requests gather in messages of
 * their own, and what one context waits for is no other's. Threads with a context each meet only where messages leave
 * and arrive. A set knows a PE of another node as its *peer* from the first time that it has asked it for something.
 *
 * A *link* is what this PE and another one owe each other, whatever contexts the requests belong to. Messages of two
 * PEs keep their order, and requests are done in that order. So a PE acknowledges only how many more requests are done
 * (struct rmai_envelope, `done`): with its next message to that PE, or when it has heard everything that has come, or
 * after RMAI_UNACKNOWLEDGED_MOST requests. */
#ifndef RMAI_PEER_H
#define RMAI_PEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/net/by_node.h"
#include "runtime/net/flush.h"
#include "runtime/net/state.h"
#include "runtime/net/transport.h"
#include "runtime/net/wire.h"

/* ---- peers ---- */

/* under_way <= RMAI_CREDITS. listed if and only if the peer is in set->busy: so it is while open holds a record,
 * under_way > 0 or touched != 0, and on until a quiet finds that nothing is left. */
struct rmai_peer {
    int pe;        /* first: peers are entries of a rmai_pe_table */
    int under_way; /* batches that are sent and not answered */
    struct rmai_pending *set;
    struct rmai_link *link; /* from the first batch on */
    unsigned asked;         /* elements and transfers since nothing was pending */
    int last_was_lone;      /* the last quiet completed a single operation: see rmai_window_takes */
    unsigned touched; /* a bit for each of MPI's windows (enum rmai_window_kind): something there is not flushed */
    unsigned through_window; /* transfers that went through one */
    uint64_t used;           /* when the last one did, in ticks */
    struct rmai_token doorbell;
    int listed;
    struct rmai_directory *directory; /* the last that was heard of it, or NULL, */
    unsigned growths;                 /* and how often the symmetric heap had grown then */
    struct {
        uint64_t offset, len, address;
    } step; /* of the dynamic window, in which something was found last: offset in its space, address in its process.
               len 0: there is none. find_in_dynamic writes it, with the set's lock */
    struct rmai_batch *open; /* gathers records, or NULL */
    struct rmai_peer *next;  /* in set->busy */
};

/* Copies of the sources of short puts, which MPI reads until a flush, so that nobody has to wait for it. */
#define RMAI_COPY_ROOM  ((size_t)32 << 10) /* bytes that a set has for them */
#define RMAI_COPY_MOST  ((size_t)1 << 10)  /* of one put; the source of a longer put is flushed locally */
#define RMAI_COPY_ALIGN ((size_t)16)

/* *nothing_pending == (busy == NULL && failed == 0). busy == NULL implies puts == RMAI_NO_PUTS and copied == 0. */
struct rmai_pending {
    pthread_mutex_t lock; /* of all below; taken after that of struct rmai_net, never before it */
    struct rmai_net *net;
    struct rmai_traffic *traffic;                    /* counts what the set begins: the net's, or of the owner's own */
    struct rmai_pending *next_set, **link;           /* in net->sets, and what points here */
    uint32_t *nothing_pending, *nothing_pending_too; /* two places that the inlined calls read, or one twice */
    struct rmai_pe_table peers;
    struct rmai_peer *last; /* that was asked for something */
    struct rmai_peer *busy; /* peers with something open, under way or touched */
    _Atomic int puts;       /* what is not complete: RMAI_NO_PUTS, 1 + pe: only short messages to pe, RMAI_MANY_PUTS */
    int failed, failed_pe;  /* the first error that nobody waited for, until the next quiet, and where */
    const char *failed_op;  /* and what failed there */
    unsigned id;            /* no two sets of a net have the same */
    struct rmai_flush flush;
    char *copies;  /* RMAI_COPY_ROOM bytes, or NULL, */
    size_t copied; /* of which so many are in use, until the windows are flushed for all peers */
    uint64_t words[RMA_SHORT_MAX_ / sizeof(uint64_t)]; /* where MPI writes a short get that is waited for */
    int session;                                       /* records wait for company: see op.h */
    _Atomic int by_node; /* short records go by proxies (by_node.h). It changes with the lock, and only while nothing is
                            pending, so that no record overtakes one that has gone the other way */
    int many;            /* so much goes to a PE between two quiets that messages are full: rmai_pending_choose_way */
    size_t filled;       /* bytes of messages since nothing was pending, counted as rmai_batch_send does, */
    unsigned done_peers; /* and so many times a peer has had nothing pending any more */
};

#define RMAI_NO_PUTS   0
#define RMAI_MANY_PUTS (-1)

/* The set's lock, which is the net's where that one is biased: then only threads of the program may call these. Who
 * holds the net's lock, whichever thread it is, calls the other two, which do nothing there. */
static inline void rmai_pending_lock(struct rmai_pending *s) {
    if (RMAI_LIKELY(s->net->biased))
        rmai_biased_enter(&s->net->bias);
    else
        pthread_mutex_lock(&s->lock);
}
static inline void rmai_pending_unlock(struct rmai_pending *s) {
    if (RMAI_LIKELY(s->net->biased))
        rmai_biased_leave(&s->net->bias);
    else
        pthread_mutex_unlock(&s->lock);
}
static inline void rmai_pending_lock_inner(struct rmai_pending *s) {
    if (RMAI_UNLIKELY(!s->net->biased)) pthread_mutex_lock(&s->lock);
}
static inline void rmai_pending_unlock_inner(struct rmai_pending *s) {
    if (RMAI_UNLIKELY(!s->net->biased)) pthread_mutex_unlock(&s->lock);
}

/* With the set's lock. rmai_peer_of: the peer, which is made if there is none; NULL without memory; only threads of the
 * program call it. rmai_peer_list: something of p has to be completed by quiet; rmai_peer_unlist: nothing is left. */
struct rmai_peer *rmai_peer_find_(struct rmai_pending *s, int pe);
static inline struct rmai_peer *rmai_peer_of(struct rmai_pending *s, int pe) {
    return RMAI_LIKELY(s->last && s->last->pe == pe) ? s->last : rmai_peer_find_(s, pe);
}
void rmai_peer_list_(struct rmai_peer *p);
static inline void rmai_peer_list(struct rmai_peer *p) {
    if (!p->listed) rmai_peer_list_(p);
}
void rmai_peer_unlist(struct rmai_peer *p);

/* rmai_pending_publish writes the two words of nothing_pending, with the set's lock. While a failure waits for a quiet
 * to report it something is pending, so that the inlined quiet calls the library. */
void rmai_pending_publish(struct rmai_pending *s);

/* rmai_pending_by_node: any thread of the program may ask, and knows it for as long as it has something pending. */
static inline int rmai_pending_by_node(const struct rmai_pending *s) {
    return atomic_load_explicit(&s->by_node, memory_order_relaxed);
}

/* rmai_pending_choose_way: with the set's lock, when a session has begun or ended, or something is done. */
void rmai_pending_choose_way(struct rmai_pending *s);

/* rmai_pending_goes_to: the PE to which a short record for pe goes: itself, or its proxy, and *mark is for the record's
 * offsets. */
static inline int rmai_pending_goes_to(const struct rmai_pending *s, int pe, uint64_t *mark) {
    *mark = 0;
    if (RMAI_LIKELY(!rmai_pending_by_node(s))) return pe;
    return rmai_by_node_to(&s->net->by_node, pe, mark);
}

/* rmai_pending_puts_come_first: 1 if a short record for pe comes after all puts that are not complete, since they go
 * the same way. pe is -1 for what goes another way. */
static inline int rmai_pending_puts_come_first(const struct rmai_pending *s, int pe) {
    const int puts = atomic_load_explicit(&s->puts, memory_order_relaxed);
    uint64_t mark;
    return puts == RMAI_NO_PUTS || (pe >= 0 && puts == 1 + rmai_pending_goes_to(s, pe, &mark));
}

/* rmai_peer_to: the peer to which a short record for pe goes, with the set's lock; NULL without memory. *mark is for
 * the record's offsets. */
static inline struct rmai_peer *rmai_peer_to(struct rmai_pending *s, int pe, uint64_t *mark) {
    return rmai_peer_of(s, rmai_pending_goes_to(s, pe, mark));
}

/* rmai_pending_note_put: a put to pe is not complete. in_order: it goes by short messages, and messages of one PE to
 * another are heard and done in the order in which they were sent; long data and the window are apart. The set's lock
 * is held. */
static inline void rmai_pending_note_put(struct rmai_pending *s, int pe, int in_order) {
    int before = atomic_load_explicit(&s->puts, memory_order_relaxed), mine = in_order ? 1 + pe : RMAI_MANY_PUTS;
    if (before != RMAI_NO_PUTS && before != mine) mine = RMAI_MANY_PUTS;
    if (before != mine) atomic_store_explicit(&s->puts, mine, memory_order_relaxed);
}

/* ---- links ---- */

#define RMAI_UNACKNOWLEDGED_MOST 2 /* half of a context's credits (RMAI_CREDITS): a stream goes on meanwhile */

/* The net's lock guards all of it. listed if and only if the link is in net->owing: while unacknowledged > 0. */
struct rmai_link {
    int pe;                  /* first: links are entries of a rmai_pe_table */
    unsigned unacknowledged; /* requests of that PE which are done, and of which it has not been told */
    int waits;               /* an acknowledgement is delayed, or would have been: since `since`, in ticks */
    int kept;                /* it is */
    uint64_t since;
    unsigned hits, hits_needed; /* so many times one met a message soon, one after the other */
    int listed;
    struct rmai_link *next;
    struct rmai_batch *oldest, *newest; /* requests to that PE that are under way, but those of long data */
    struct rmai_envelope ack;           /* a message that says nothing else */
    struct rmai_token sent;
};

/* rmai_link_to: NULL without memory. */
static inline struct rmai_link *rmai_link_to(struct rmai_net *net, int pe) {
    if (RMAI_LIKELY(net->link && net->link->pe == pe)) return net->link;
    return net->link = rmai_pe_table_find(&net->links, pe, sizeof(struct rmai_link));
}

/* rmai_link_done: a request of that PE is done, and has to be acknowledged. rmai_link_take_acks returns how many a
 * message acknowledges that leaves now. rmai_links_acknowledge tells everybody; without `all` it leaves the PEs out to
 * which a message has always left soon after such a request, as where two PEs take turns. Those are told some
 * microseconds later, if this PE hears nothing more (none_heard). Return RMA_SUCCESS, or RMA_ERR_MPI: the transport has
 * failed. */
int rmai_link_done(struct rmai_net *net, struct rmai_link *link);
void rmai_link_end_wait_(struct rmai_link *link);
static inline uint16_t rmai_link_take_acks(struct rmai_link *link) {
    const uint16_t n = (uint16_t)link->unacknowledged;
    if (link->waits) rmai_link_end_wait_(link);
    link->unacknowledged = 0;
    return n;
}
int rmai_links_acknowledge(struct rmai_net *net, int all, int none_heard);

void rmai_links_close(struct rmai_net *net);

#endif
