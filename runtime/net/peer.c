/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/peer.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "runtime/net/messages.h"

#include <assert.h>
#include <stdlib.h>

/* ---- peers ---- */

struct rmai_peer *rmai_peer_find_(struct rmai_pending *s, int pe) {
    struct rmai_peer *p = rmai_pe_table_find(&s->peers, pe, sizeof *p);
    if (!p) return NULL;
    if (!p->set) p->set = s; /* a thread that takes a reply reads it without the set's lock */
    return s->last = p;
}

/* ---- what quiet completes ---- */

void rmai_pending_publish(struct rmai_pending *s) {
    const int puts = atomic_load_explicit(&s->streams.puts, memory_order_relaxed);
    const int streaming = rmai_pending_own_joins(s) || rmai_pending_own_busy(s);
    const uint32_t complete = !s->busy && !s->failed ? RMA_ALL_COMPLETE_
                              : puts != RMAI_NO_PUTS ? 0
                              : streaming            ? RMA_STREAMING_
                                                     : RMA_PUTS_COMPLETE_;
    /* Release: if a thread finds nothing pending after another thread's quiet, it sees what that quiet has waited for.
     * Pairs with the acquire load in rmai_quiet_default and the inlined quiet. */
    __atomic_store_n(s->complete, complete, __ATOMIC_RELEASE);
    if (s->complete_too != s->complete) __atomic_store_n(s->complete_too, complete, __ATOMIC_RELEASE);
}

void rmai_peer_list_(struct rmai_peer *p) {
    p->listed = 1;
    p->next = p->set->busy;
    p->set->busy = p;
    if (!p->next) rmai_pending_publish(p->set);
}

/* After a proxy has done a record for its neighbour the word is in the proxy's cache, and the owner misses it. So
 * proxies pay only if messages would otherwise leave half empty. */
#define FEW  RMAI_MESSAGE       /* bytes for each PE between two quiets: fewer go by proxies, */
#define MANY (2 * RMAI_MESSAGE) /* and more go to the PE itself */

void rmai_pending_choose_way(struct rmai_pending *s) {
    const struct rmai_by_node *b = &s->net->by_node;
    if (s->busy) return;
    if (b->open && s->done_peers) {
        const size_t pes = (size_t)s->done_peers * (rmai_pending_by_node(s) ? b->most : 1);
        if (s->filled < pes * FEW) s->many = 0;
        if (s->filled > pes * MANY) s->many = 1;
    }
    s->filled = s->done_peers = 0;
    atomic_store_explicit(&s->by_node, s->session && !s->many && b->open, memory_order_relaxed);
}

void rmai_peer_unlist(struct rmai_peer *p) {
    struct rmai_pending *s = p->set;
    assert(p->listed && !p->touched && !p->under_way && "it was listed, and nothing is left to complete");
    for (struct rmai_peer **i = &s->busy; *i; i = &(*i)->next)
        if (*i == p) {
            *i = p->next;
            p->listed = 0;
            s->done_peers++;
            break;
        }
    p->last_was_lone = p->asked == 1;
    p->asked = 0;
    if (s->busy) return;
    s->copied = 0;
    rmai_pending_choose_way(s);
    atomic_store_explicit(&s->streams.puts, RMAI_NO_PUTS, memory_order_relaxed);
    rmai_pending_publish(s);
}

/* ---- opening and closing ---- */

int rmai_pending_open(struct rmai_net *net, uint32_t *complete, uint32_t *complete_too, struct rmai_traffic *traffic,
                      struct rmai_pending **set) {
    struct rmai_pending *s = NULL;
    *set = NULL;
    if (net && !(s = aligned_alloc(_Alignof(struct rmai_pending), sizeof *s)))
        return rmai_error(RMA_ERR_NO_MEM, "no memory for what a context has pending, %zu bytes", sizeof *s);
    __atomic_store_n(complete, RMA_ALL_COMPLETE_, __ATOMIC_RELEASE);
    __atomic_store_n(complete_too, RMA_ALL_COMPLETE_, __ATOMIC_RELEASE);
    if (!net) return RMA_SUCCESS;
    memset(s, 0, sizeof *s);
    s->net = net;
    s->traffic = traffic;
    s->complete = complete;
    s->complete_too = complete_too;
    s->streams.lock = &net->bias;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_lock(&net->sets_lock);
    s->id = ++net->n_opened;
    s->link = &net->sets;
    s->next_set = net->sets;
    if (s->next_set) s->next_set->link = &s->next_set;
    net->sets = s;
    pthread_mutex_unlock(&net->sets_lock);
    *set = s;
    return RMA_SUCCESS;
}

struct rmai_streams *rmai_pending_streams(struct rmai_pending *s) {
    return s && s->net->biased ? &s->streams : NULL;
}

void rmai_pending_close(struct rmai_pending *s) {
    if (!s) return;
    pthread_mutex_lock(&s->net->sets_lock);
    *s->link = s->next_set;
    if (s->next_set) s->next_set->link = s->link;
    pthread_mutex_unlock(&s->net->sets_lock);
    for (unsigned i = 0; i < s->peers.room; i++) {
        struct rmai_peer *p = (struct rmai_peer *)(void *)s->peers.entry[i];
        if (!p) continue;
        rmai_token_drop(s->net->transport, &p->doorbell, 0);
        free(p->directory);
    }
    rmai_pe_table_close(&s->peers);
    free(s->copies);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- links: delayed acknowledgements ----
 *
 * Where two PEs take turns, as in a ping-pong or an exchange of borders, the next message leaves some hundred
 * nanoseconds after a request is done. An acknowledgement of its own would cost as much as that message. But if the
 * program computes instead, the other PE waits in its quiet until this PE's progress thread wakes. So an
 * acknowledgement is delayed only if the last ones would all have met a message within SOON. Each time that a delayed
 * one has waited for longer than LATE, twice as many hits are required. */

#define SOON       8000u   /* ticks: a few microseconds */
#define LATE       200000u /* ticks: more than what an interrupt takes */
#define HITS_FIRST 8u
#define HITS_MOST  65536u

/* Ends the delay: a message that carries the acknowledgement, or an acknowledgement of its own, leaves `ticks` ticks
 * after the delay began. */
static void end_wait(struct rmai_link *link, uint64_t ticks) {
    link->waits = 0;
    link->hits = ticks < SOON ? link->hits + 1 : 0;
    if (link->kept && ticks >= LATE && link->hits_needed < HITS_MOST) link->hits_needed *= 2;
    if (link->hits >= HITS_MOST) {
        link->hits_needed = link->hits_needed > HITS_FIRST ? link->hits_needed / 2 : HITS_FIRST;
        link->hits = link->hits_needed;
    }
    link->kept = 0;
}

void rmai_link_end_wait_(struct rmai_link *link) { end_wait(link, rmai_clock_ticks() - link->since); }

/* Begins a delay, or notes when it would have begun. Returns 1 if the acknowledgement is delayed. */
static int delay_ack(struct rmai_link *link) {
    if (link->waits) return link->kept;
    if (!link->hits_needed) link->hits_needed = HITS_FIRST;
    link->waits = 1;
    link->since = rmai_clock_ticks();
    return link->kept = link->hits >= link->hits_needed;
}

/* While an earlier acknowledgement is still under way, nothing is sent. Returns RMA_SUCCESS or RMA_ERR_MPI. */
static int send_ack(struct rmai_net *net, struct rmai_link *link) {
    const int free = rmai_token_done(net->transport, &link->sent);
    int code;
    if (free <= 0) return free < 0 ? RMA_ERR_MPI : RMA_SUCCESS;
    link->ack = (struct rmai_envelope){.kind = RMAI_WIRE_DONE, .done = (uint16_t)link->unacknowledged};
    link->unacknowledged = 0;
    if (link->kept) link->waits = link->kept = 0; /* more than one message has come */
    code = rmai_send(net->transport, link->pe, RMAI_SHORT_TAG, &link->ack, sizeof link->ack, &link->sent);
    if (code == RMA_SUCCESS && rmai_token_done(net->transport, &link->sent) < 0) code = RMA_ERR_MPI;
    link->since = rmai_clock_ticks(); /* excludes the time of sending, which a delayed one would have saved */
    return code;
}

int rmai_link_done(struct rmai_net *net, struct rmai_link *link) {
    if (!link->listed) {
        link->listed = 1;
        link->next = net->owing;
        net->owing = link;
    }
    return ++link->unacknowledged >= RMAI_UNACKNOWLEDGED_MOST ? send_ack(net, link) : RMA_SUCCESS;
}

int rmai_links_acknowledge(struct rmai_net *net, int all, int none_heard) {
    int code = RMA_SUCCESS;
    for (struct rmai_link *link, **i = &net->owing; code == RMA_SUCCESS && (link = *i) != NULL;) {
        /* A delayed acknowledgement is likely to meet a message, and waits some microseconds for it. */
        const int tell = all || (none_heard && !(link->kept && rmai_clock_ticks() - link->since < SOON));
        if (tell && link->kept) end_wait(link, rmai_max(rmai_clock_ticks() - link->since, SOON));
        if (link->unacknowledged && (tell || !net->helped || !delay_ack(link))) code = send_ack(net, link);
        if (link->unacknowledged) {
            i = &link->next;
            continue;
        }
        link->listed = 0;
        *i = link->next;
    }
    return code;
}

void rmai_links_close(struct rmai_net *net) {
    for (unsigned i = 0; i < net->links.room; i++) {
        struct rmai_link *link = (struct rmai_link *)(void *)net->links.entry[i];
        if (link) rmai_token_drop(net->transport, &link->sent, 0);
    }
    rmai_pe_table_close(&net->links);
    net->link = net->owing = NULL;
}

/* ---- flushes that last ---- */

int rmai_net_flush_lasts(struct rmai_net *net, struct rmai_flush_seen *seen) {
    const struct rmai_flush_seen before = *seen;
    int lasts = 0;
    *seen = (struct rmai_flush_seen){0};
    if (pthread_mutex_trylock(&net->sets_lock) != 0)
        return 0; /* a thread that replaces the window is watched in another way */
    for (struct rmai_pending *s = net->sets; s && !lasts; s = s->next_set) {
        struct rmai_flush_seen now;
        if (!rmai_flush_read(&s->flush, &now)) continue;
        now.set = s->id;
        lasts = now.set == before.set && now.version == before.version;
        if (lasts || !seen->set) *seen = now;
    }
    pthread_mutex_unlock(&net->sets_lock);
    return lasts;
}
