/* SPDX-License-Identifier: BSD-3-Clause */
/* What this PE keeps of the PEs of other nodes. Only files of this folder include this header.
 *
 * A *pending set* has the operations that have begun and that quiet completes. Each context has one: its requests
 * gather in messages of their own, and a quiet waits for the operations of its own context only. Threads that use
 * different contexts share a lock only where messages leave and arrive. A set has a *peer* for each PE of another node
 * to which it has ever sent a request.
 *
 * A *link* has the requests and acknowledgements between this PE and another one, for all contexts. Messages between
 * two PEs keep their order, and requests are done in that order. So an acknowledgement is only the number of further
 * requests that are done (struct rmai_envelope, `done`). A PE sends it with its next message to that PE, or when it has
 * received everything that has arrived, or after RMAI_UNACKNOWLEDGED_MOST requests. */
#ifndef RMAI_PEER_H
#define RMAI_PEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/net/by_node.h"
#include "runtime/net/flush.h"
#include "runtime/net/state.h"
#include "runtime/net/stream.h"
#include "runtime/net/transport.h"
#include "runtime/net/wire.h"

/* ---- peers ---- */

/* under_way <= RMAI_CREDITS. listed is 1 if and only if the peer is in set->busy: while open has a record, under_way >
 * 0 or touched != 0, and afterwards until a quiet finds that nothing is left. */
struct rmai_peer {
    int pe;        /* first: peers are entries of a rmai_pe_table */
    int under_way; /* batches that were sent and are not answered */
    struct rmai_pending *set;
    struct rmai_link *link;  /* from the first batch on */
    unsigned asked;          /* elements and transfers since nothing was pending */
    unsigned alone;          /* messages of a single element that nobody waited for, so far */
    size_t unpolled;         /* bytes of elements since a call that added one has polled for replies */
    int last_was_lone;       /* the last quiet completed a single operation: see rmai_window_takes */
    unsigned touched;        /* a bit for each of MPI's windows (enum rmai_window_kind): 1 while it needs a flush */
    unsigned through_window; /* transfers that went through a window */
    uint64_t used;           /* when the last one did, in ticks */
    struct rmai_token doorbell;
    int listed;
    struct rmai_directory *directory; /* its last known directory, or NULL, */
    unsigned growths;                 /* and how often the symmetric heap had grown then */
    struct {
        uint64_t offset, len, address;
    } step; /* the step of the dynamic window that the last access used: its offset in the peer's space, its address in
               the peer's process. len 0: none. find_in_dynamic writes it, under the set's lock */
    struct rmai_batch *open; /* gathers records, or NULL */
    struct rmai_peer *next;  /* in set->busy */
};

/* Copies of the sources of short puts, which MPI reads until a flush, so that nobody has to wait for it. */
#define RMAI_COPY_ROOM  ((size_t)32 << 10) /* bytes that a set has for them */
#define RMAI_COPY_MOST  ((size_t)1 << 10)  /* of one put; a longer put ends with a local flush */
#define RMAI_COPY_ALIGN ((size_t)16)

/* *complete == RMA_ALL_COMPLETE_ if busy == NULL && failed == 0; else 0 if puts != RMAI_NO_PUTS; else RMA_STREAMING_ in
 * a session with streams, or while the own peer is busy; else RMA_PUTS_COMPLETE_. It may be RMA_STREAMING_ for longer.
 * busy == NULL implies puts == RMAI_NO_PUTS and copied == 0. */
struct rmai_pending {
    pthread_mutex_t lock; /* guards all fields below; taken after the lock of struct rmai_net, never before it */
    struct rmai_net *net;
    struct rmai_traffic *traffic;          /* counts the set's operations: the net's, or the owner's own */
    struct rmai_pending *next_set, **link; /* the next set in net->sets, and the pointer to this one */
    uint32_t *complete, *complete_too;     /* the inlined calls read them; they may be equal */
    struct rmai_pe_table peers;
    struct rmai_peer *last; /* the last one that was used */
    struct rmai_peer *own;  /* this PE, if it has been a peer of itself (rmai_net_loops_back) */
    struct rmai_peer *busy; /* peers with something open, under way or touched */
    int failed, failed_pe;  /* the first error that nobody waited for, until the next quiet, and the PE */
    const char *failed_op;  /* and what failed there */
    unsigned id;            /* no two sets of a net have the same */
    struct rmai_flush flush;
    char *copies;  /* RMAI_COPY_ROOM bytes, or NULL, */
    size_t copied; /* bytes of it in use, until the windows are flushed for all peers */
    uint64_t words[RMA_SHORT_MAX_ / sizeof(uint64_t)]; /* MPI writes short blocking gets here */
    int session;                                       /* a session is open: see op.h */
    _Atomic int by_node; /* short records go by proxies (by_node.h). It changes under the lock, and only while nothing
                            is pending, so that no record overtakes another one on the other path */
    int many;            /* between two quiets, enough goes to one PE to fill messages: rmai_pending_choose_way */
    size_t filled;       /* bytes of messages since nothing was pending, as rmai_batch_send counts them, */
    unsigned done_peers; /* and how often a peer became idle in that time */
    struct rmai_streams streams; /* their `puts` is the set's */
};

/* The set's lock. If the net's lock is biased, it is the set's lock as well: then only threads of the program may call
 * the first two functions. A thread that holds the net's lock calls the last two, which then do nothing. */
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

/* The caller holds the set's lock. rmai_peer_of returns the peer, which it makes if there is none, or NULL without
 * memory; only threads of the program call it. rmai_peer_list: quiet has something of p to complete. rmai_peer_unlist:
 * nothing is left. */
struct rmai_peer *rmai_peer_find_(struct rmai_pending *s, int pe);
static inline struct rmai_peer *rmai_peer_of(struct rmai_pending *s, int pe) {
    return RMAI_LIKELY(s->last && s->last->pe == pe) ? s->last : rmai_peer_find_(s, pe);
}
void rmai_peer_list_(struct rmai_peer *p);
static inline void rmai_peer_list(struct rmai_peer *p) {
    if (!p->listed) rmai_peer_list_(p);
}
void rmai_peer_unlist(struct rmai_peer *p);

/* rmai_pending_publish writes the two words `complete`; the caller holds the set's lock. A failure that no
 * quiet has reported yet counts as pending, so that the inlined quiet calls the library. */
void rmai_pending_publish(struct rmai_pending *s);

/* rmai_pending_by_node: any thread of the program may call it. The answer holds while the thread has something pending.
 */
static inline int rmai_pending_by_node(const struct rmai_pending *s) {
    return atomic_load_explicit(&s->by_node, memory_order_relaxed);
}

/* Operations on this PE's own words that travel as those to other nodes do (rmai_net_loops_back).
 * rmai_pending_own_busy: 1 if some are under way. rmai_pending_own_joins: 1 if those that no call waits for do so while
 * anything is under way. The caller holds the set's lock. */
static inline int rmai_pending_own_busy(const struct rmai_pending *s) { return s->own && s->own->listed; }
static inline int rmai_pending_own_joins(const struct rmai_pending *s) {
    return s->session && s->net->biased && !rmai_pending_by_node(s);
}

/* rmai_pending_choose_way decides whether records go by proxies. It is called, with the set's lock, after a session has
 * begun or ended, or an operation is done. */
void rmai_pending_choose_way(struct rmai_pending *s);

/* rmai_pending_goes_to returns the PE to which a short record for pe goes: pe, or its proxy. The caller sets *mark in
 * the record's offsets. */
static inline int rmai_pending_goes_to(const struct rmai_pending *s, int pe, uint64_t *mark) {
    *mark = 0;
    if (RMAI_LIKELY(!rmai_pending_by_node(s))) return pe;
    return rmai_by_node_to(&s->net->by_node, pe, mark);
}

/* rmai_pending_puts_come_first: 1 if a short record for pe arrives after all puts that are not complete, since they use
 * the same path. pe is -1 for an operation that uses another path. */
static inline int rmai_pending_puts_come_first(const struct rmai_pending *s, int pe) {
    const int puts = atomic_load_explicit(&s->streams.puts, memory_order_relaxed);
    uint64_t mark;
    return puts == RMAI_NO_PUTS || (pe >= 0 && puts == 1 + rmai_pending_goes_to(s, pe, &mark));
}

/* rmai_peer_to returns the peer to which a short record for pe goes, or NULL without memory; the caller holds the set's
 * lock, and sets *mark in the record's offsets. */
static inline struct rmai_peer *rmai_peer_to(struct rmai_pending *s, int pe, uint64_t *mark) {
    return rmai_peer_of(s, rmai_pending_goes_to(s, pe, mark));
}

/* ---- links ---- */

#define RMAI_UNACKNOWLEDGED_MOST 2 /* half of a context's credits (RMAI_CREDITS), so that a stream does not stop */

/* The net's lock guards all of it. listed is 1 if and only if the link is in net->owing: while unacknowledged > 0. */
struct rmai_link {
    int pe;                  /* first: links are entries of a rmai_pe_table */
    unsigned unacknowledged; /* requests of that PE that are done and not acknowledged */
    int waits;               /* an acknowledgement is delayed, or would have been: since `since`, in ticks */
    int kept;                /* it is */
    uint64_t since;
    unsigned hits, hits_needed; /* delays in a row that soon met a message to ride on */
    int listed;
    struct rmai_link *next;
    struct rmai_batch *oldest, *newest; /* requests to that PE that are under way, except those of long data */
    struct rmai_envelope ack;           /* a message with nothing but an acknowledgement */
    struct rmai_token sent;
};

/* rmai_link_to returns the link to pe, which it makes if there is none, or NULL without memory. */
static inline struct rmai_link *rmai_link_to(struct rmai_net *net, int pe) {
    if (RMAI_LIKELY(net->link && net->link->pe == pe)) return net->link;
    return net->link = rmai_pe_table_find(&net->links, pe, sizeof(struct rmai_link));
}

/* rmai_link_done: a request of that PE is done and has to be acknowledged. rmai_link_take_acks returns how many
 * requests a message that leaves now acknowledges. rmai_links_acknowledge sends the acknowledgements of all links.
 * Without `all` it delays them for PEs to which a message has always left soon after a request, as where two PEs take
 * turns; it sends those some microseconds later, if this PE receives nothing more (none_heard). Both return
 * RMA_SUCCESS, or RMA_ERR_MPI: the transport has failed. */
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
