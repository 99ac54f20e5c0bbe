/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/flow.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/pattern.h"

#include <stdlib.h>
#include <string.h>

/* ---- flows ---- */

struct rmai_flow *rmai_flow_find_(struct rmai_pending *s, int pe) {
    struct rmai_flow *f = rmai_pe_table_find(&s->flows, pe, sizeof *f);
    if (!f) return NULL;
    f->set = s;
    return s->last = f;
}

static inline void publish_complete(struct rmai_pending *s) {
    const int puts = atomic_load_explicit(&s->streams.puts, memory_order_relaxed);
    const uint32_t complete = !s->busy && !s->failed                                  ? RMA_ALL_COMPLETE_
                              : puts != RMAI_NO_PUTS                                  ? 0
                              : rmai_pending_own_joins(s) || rmai_pending_own_busy(s) ? RMA_STREAMING_
                                                                                      : RMA_PUTS_COMPLETE_;
    /* Release: if a thread finds nothing pending after another thread's quiet, it sees what that quiet has waited for.
     * Pairs with the acquire load in rmai_quiet_default and the inlined quiet. */
    __atomic_store_n(s->complete, complete, __ATOMIC_RELEASE);
    __atomic_store_n(s->complete_too, complete, __ATOMIC_RELEASE);
}

void rmai_pending_publish(struct rmai_pending *s) { publish_complete(s); }

int rmai_flow_waits_beside_messages_(const struct rmai_flow *f, uint64_t age) {
    for (const struct rmai_flow_flush *i = f->flushing; i; i = i->next)
        if (i->age <= age) return 1;
    for (const struct rmai_transfer *t = f->transfers ? f->set->net->transfers : NULL; t; t = t->next)
        if (t->flow == f && t->age <= age) return 1;
    return 0;
}

void rmai_flow_list_(struct rmai_flow *f) {
    f->listed = 1;
    f->next = f->set->busy;
    f->set->busy = f;
    if (!f->next) publish_complete(f->set);
}

void rmai_flows_unlist(struct rmai_pending *s) {
    struct rmai_flow *f, **i = &s->busy;
    while ((f = *i) != NULL) {
        assert(f->listed && "only listed flows are in the list");
        if (f->touched || rmai_flow_waits(f)) {
            i = &f->next;
            continue;
        }
        *i = f->next;
        f->listed = 0;
        s->done_flows++;
        f->last_was_lone = f->asked == 1;
        f->asked = 0;
    }
    if (s->busy) return;
    s->copied = 0;
    if (RMAI_UNLIKELY(s->net->by_node.open)) rmai_pending_choose_way(s);
    atomic_store_explicit(&s->streams.puts, RMAI_NO_PUTS, memory_order_relaxed);
    publish_complete(s);
}

void rmai_pending_fail(struct rmai_pending *s, int pe, const char *operation, int code) {
    if (!s->failed) {
        s->failed = code;
        s->failed_pe = pe;
        s->failed_op = operation;
    }
}

/* After a proxy has done a record for its neighbour the word is in the proxy's cache, and the owner misses it. So
 * proxies pay only if messages would otherwise leave half empty. */
#define FEW  RMAI_MESSAGE       /* bytes for each PE between two quiets: fewer go by proxies, */
#define MANY (2 * RMAI_MESSAGE) /* and more go to the PE itself */

void rmai_pending_choose_way(struct rmai_pending *s) {
    const struct rmai_by_node *b = &s->net->by_node;
    if (s->busy) return;
    if (b->open && s->done_flows) {
        const size_t pes = (size_t)s->done_flows * (s->by_node ? b->most : 1);
        if (s->filled < pes * FEW) s->many = 0;
        if (s->filled > pes * MANY) s->many = 1;
    }
    s->filled = s->done_flows = 0;
    s->by_node = s->session && !s->many && b->open;
}

/* ---- messages ---- */

static RMAI_COLD struct rmai_message *make_message(struct rmai_net *net) {
    struct rmai_message *m = net->n_messages < RMAI_MESSAGES_MOST ? malloc(sizeof *m) : NULL;
    net->n_messages += m != NULL;
    return m;
}

/* Nobody needs the message any more. Its `bytes` is not 0: it has been used. */
static inline void free_message(struct rmai_net *net, struct rmai_message *m) {
    m->next = net->idle;
    net->idle = m;
    net->n_idle++;
}

/* The list of idle messages is a stack: those that a program needs less often are at its end. */
void rmai_messages_give_back(struct rmai_net *net) {
    const double now = rmai_wtime();
    struct rmai_message *m, **i = &net->idle;
    if (now < net->give_back_due) return;
    net->give_back_due = now + RMAI_MESSAGES_IDLE;
    while ((m = *i) != NULL) {
        if (m->bytes || net->n_messages <= RMAI_MESSAGES_KEPT) {
            m->bytes = 0;
            i = &m->next;
            continue;
        }
        *i = m->next;
        net->n_messages--;
        net->n_idle--;
        free(m);
    }
}

int rmai_flow_begin(struct rmai_net *net, struct rmai_flow *f) {
    struct rmai_message *m = net->idle;
    assert(!f->open && "a flow fills one message at a time");
    if (RMAI_UNLIKELY(!f->link) && !(f->link = rmai_link_to(net, f->pe))) return 0;
    if (RMAI_LIKELY(m != NULL)) {
        net->idle = m->next;
        net->n_idle--;
    } else if (!(m = make_message(net))) {
        return 0;
    }
    m->flow = f;
    m->n = m->n_asks = m->n_dests = m->to_come = 0;
    m->awaited = 0;
    m->age = f->set->age;
    m->run = RMAI_NO_RUN;
    m->bytes = m->reply = sizeof(struct rmai_envelope);
    m->stream = NULL;
    m->landings = NULL;
    f->open = m;
    return 1;
}

/* ---- streams: what a message learns of its stream ---- */

/* The last record, as it stands in the message. */
static struct rmai_record last_record(const struct rmai_message *m) {
    struct rmai_record r;
    memcpy(&r, m->body + m->last, sizeof r);
    return r;
}

/* A compact record of a stream that no element has joined. */
static void drop_last_record(struct rmai_message *m, const struct rmai_record *r) {
    m->bytes = m->last;
    m->n--;
    m->run = RMAI_NO_RUN;
    if (!rmai_wire_expects(r)) return;
    m->n_asks--;
    m->to_come--;
    m->reply -= sizeof(struct rmai_item);
}

static void count_streamed(struct rmai_traffic *t, const struct rmai_record *r, unsigned n) {
    const enum rmai_traffic_kind kind = rmai_record_traffic(r->kind);
    rmai_add(&t->streamed[kind], n);
    if (kind != RMAI_ATOMICS) rmai_add(&t->streamed[kind + 1], (uint64_t)n * r->len);
}

void rmai_stream_settle_(struct rmai_message *m) {
    struct rmai_stream *s = m->stream;
    struct rmai_record r = last_record(m);
    const size_t added = (size_t)(s->at - m->body) - m->bytes;
    const unsigned n = (unsigned)(added / rmai_wire_element_bytes(&r));
    m->stream = NULL;
    if (r.kind == RMAI_RECORD_ATOMIC) m->flow->set->streams.atomics--;
    s->stop = NULL;
    atomic_store_explicit(&s->key, 0, memory_order_relaxed);
    r.n = m->run_n = (uint16_t)(m->run_n + n);
    s->vain = n == 0 ? s->vain + 1 : 0;
    if (r.n == 0) {
        drop_last_record(m, &r);
        return;
    }
    m->bytes += rmai_padded(added);
    memcpy(m->body + m->last, &r, sizeof r);
    m->flow->asked += n;
    m->flow->unpolled += added;
    count_streamed(m->flow->set->traffic, &r, n);
    if (rmai_wire_expects(&r)) {
        struct rmai_ask *ask = rmai_message_ask(m, m->n_asks - 1u);
        ask->n = (uint16_t)(ask->n + n);
        m->n_dests = (uint16_t)(m->n_dests + n);
        m->reply += n * rmai_wire_value_bytes(&r);
    }
    assert(m->bytes <= RMAI_MESSAGE && m->reply <= RMAI_MESSAGE && rmai_message_ask_bytes(m) <= RMAI_ASK_ROOM &&
           "the stream ended where the message's room does");
}

void rmai_streams_close_atomics_(struct rmai_pending *s, int puts) {
    for (int i = 0; i < RMAI_STREAMS; i++) {
        struct rmai_stream *stream = &s->streams.of[i];
        const uint64_t key = atomic_load_explicit(&stream->key, memory_order_relaxed);
        if (rmai_stream_is_atomics(key) && puts != 1 + (int)(key >> 32)) rmai_stream_settle(stream->message);
    }
}

/* ---- sending and being answered ---- */

void rmai_flow_give_up(struct rmai_net *net, struct rmai_flow *f) {
    if (!f->open || f->open->n) return;
    free_message(net, f->open);
    f->open = NULL;
}

void rmai_flow_send(struct rmai_net *net, struct rmai_flow *f) {
    struct rmai_message *m = f->open;
    struct rmai_link *link = f->link;
    rmai_stream_settle(m);
    assert(m->n > 0 && rmai_flow_has_credit(f) && "only a message with a record leaves, and only with a credit");
    assert(rmai_net_is_locked(net) && "the caller holds the net's lock");
    const struct rmai_envelope e = {
        .kind = RMAI_WIRE_REQUEST, .number = (uint16_t)link->slept, .n = m->n, .done = rmai_link_take_acks(link)};
    memcpy(m->body, &e, sizeof e);
    link->slept = 0;
    m->next = NULL;
    if (link->oldest)
        link->newest->next = m;
    else
        link->oldest = m;
    link->newest = m;
    f->open = NULL;
    f->ages[f->sent++ % RMAI_CREDITS] = m->age;
    if (RMAI_UNLIKELY(net->by_node.open)) f->set->filled += rmai_max(m->bytes, rmai_message_ask_bytes(m));
    rmai_add(&net->traffic->more[RMAI_SENT], 1);
    m->sent = RMAI_NO_TOKEN;
    if (RMAI_UNLIKELY(f->pe == net->job->my_pe)) { /* this PE serves it in place, in a turn of progress */
        net->self = link;
        return;
    }
    /* The transport has mostly copied the message by now. To find that out here takes no time while the message
     * travels; after the reply it would. */
    if (rmai_send(net->transport, f->pe, RMAI_SHORT_TAG, m->body, m->bytes, &m->sent) != RMA_SUCCESS ||
        rmai_token_done(net->transport, &m->sent) < 0)
        rmai_net_fatal(net);
}

void rmai_landing_end(struct rmai_landing *l) {
    const unsigned char *data = l->data;
    for (size_t i = 0; i < l->n; i++) {
        const struct rmai_landing_run *to = &l->to[i];
        rmai_move_strided(to->at, (const char *)data, to->step, (ptrdiff_t)to->len, to->len, to->n);
        data += to->len * to->n;
    }
    free(l);
}

/* Copies returned data to their places, and frees their room. */
static RMAI_COLD void land_all(struct rmai_message *m) {
    for (struct rmai_landing *l; (l = m->landings) != NULL;) {
        m->landings = l->next;
        rmai_landing_end(l);
    }
}

static inline void end_oldest(struct rmai_net *net, struct rmai_link *link) {
    struct rmai_message *m = link->oldest;
    struct rmai_flow *f = m->flow;
    assert(rmai_flow_under_way(f) > 0 && f->listed && "the message was under way, so its flow is busy");
    link->oldest = m->next;
    if (RMAI_UNLIKELY(m->landings != NULL)) land_all(m);
    for (unsigned i = 0; i < m->n_asks; i++) {
        struct rmai_ask *ask = rmai_message_ask(m, i);
        if (ask->waiter) ask->waiter->left--;
    }
    if (RMAI_LIKELY(m->sent.word == 0)) {
        free_message(net, m);
    } else {
        m->next = net->in_transport;
        net->in_transport = m;
    }
    f->acked++;
    if (rmai_flow_has_open(f) && (!f->set->session || f->open->awaited)) rmai_flow_send(net, f);
}

void rmai_link_answered(struct rmai_net *net, struct rmai_link *link) { end_oldest(net, link); }

int rmai_link_done(struct rmai_net *net, int from, unsigned n) {
    struct rmai_link *link = rmai_link_to(net, from);
    for (; n > 0; n--) {
        if (RMAI_UNLIKELY(!link || !link->oldest))
            return rmai_net_damaged(from, "it says that more requests are done than are under way to that PE");
        if (RMAI_UNLIKELY(link->oldest->to_come))
            return rmai_net_damaged(from, "it says that a request is done whose values have not come");
        end_oldest(net, link);
    }
    return RMA_SUCCESS;
}

void rmai_messages_advance(struct rmai_net *net) {
    struct rmai_message *m, **i = &net->in_transport;
    while ((m = *i) != NULL) {
        const int done = rmai_token_done(net->transport, &m->sent);
        if (done < 0) rmai_net_fatal(net);
        if (!done) {
            i = &m->next;
            continue;
        }
        *i = m->next;
        free_message(net, m);
    }
}

/* ---- sets ---- */

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
    rmai_net_enter(net);
    s->link = &net->sets;
    s->next_set = net->sets;
    if (s->next_set) s->next_set->link = &s->next_set;
    net->sets = s;
    rmai_net_leave(net);
    *set = s;
    return RMA_SUCCESS;
}

struct rmai_streams *rmai_pending_streams(struct rmai_pending *s) {
    return s && s->net->biased ? &s->streams : NULL;
}

void rmai_pending_close(struct rmai_pending *s) {
    if (!s) return;
    rmai_net_enter(s->net);
    *s->link = s->next_set;
    if (s->next_set) s->next_set->link = s->link;
    for (unsigned i = 0; i < s->flows.room; i++) {
        struct rmai_flow *f = (struct rmai_flow *)(void *)s->flows.entry[i];
        if (!f) continue;
        if (f->map) rmai_token_drop(s->net->transport, &f->map->doorbell, 0);
        free(f->map);
        if (!f->open) continue;
        assert(f->open->n == 0 && !f->flushing && "the set is quiet");
        free_message(s->net, f->open);
    }
    rmai_net_leave(s->net);
    rmai_pe_table_close(&s->flows);
    free(s->copies);
    free(s);
}

/* ---- when open messages leave ---- */

void rmai_flows_send_open(struct rmai_net *net, struct rmai_pending *s) {
    for (struct rmai_flow *f = s->busy; f; f = f->next) rmai_flow_send_open(net, f);
}

/* Sends the open messages of the sets that have an open session, or of those that have none. */
static void send_open_messages(struct rmai_net *net, int session) {
    for (struct rmai_pending *s = net->sets; s; s = s->next_set)
        if (s->session == session) rmai_flows_send_open(net, s);
}

void rmai_flows_send_due(struct rmai_net *net) {
    const double now = rmai_wtime();
    if (now < net->session_due) return;
    net->session_due = now + RMAI_SESSION_WAIT;
    send_open_messages(net, 1);
}

void rmai_flows_send_gathered_(struct rmai_net *net) {
    atomic_store_explicit(&net->gathered, 0, memory_order_relaxed);
    send_open_messages(net, 0);
}

/* ---- links: delayed acknowledgements ----
 *
 * Where two PEs take turns, as in a ping-pong or an exchange of borders, the next message leaves some hundred
 * nanoseconds after a request is done. An acknowledgement of its own would cost as much as that message. But if the
 * program computes instead, the other PE's quiet lasts until this PE's progress thread wakes. So an acknowledgement is
 * delayed only if the last ones would all have met a message within SOON. If a delayed one has waited for longer than
 * LATE, and the other PE says in its next request that it slept until then, twice as many hits are required. HITS_MOST
 * in a row, which have saved what such a sleep costs, halve that number again. */

#define SOON       8000u   /* ticks: a few microseconds */
#define LATE       200000u /* ticks: more than what an interrupt takes */
#define HITS_FIRST 8u
#define HITS_MOST  512u

/* Ends the delay: a message that carries the acknowledgement, or an acknowledgement of its own, leaves `ticks` ticks
 * after the delay began. */
static void end_wait(struct rmai_link *link, uint64_t ticks) {
    link->waits = 0;
    link->hits = ticks < SOON ? link->hits + 1 : 0;
    link->late = link->kept && ticks >= LATE;
    if (link->hits >= HITS_MOST) {
        link->hits_needed = link->hits_needed > HITS_FIRST ? link->hits_needed / 2 : HITS_FIRST;
        link->hits = link->hits_needed;
    }
    link->kept = 0;
}

void rmai_link_end_wait_(struct rmai_link *link) { end_wait(link, rmai_clock_ticks() - link->since); }

void rmai_link_slept(struct rmai_net *net, int from) {
    struct rmai_link *link = rmai_link_to(net, from);
    if (!link || !link->late) return;
    link->late = 0;
    if (link->hits_needed < HITS_MOST) link->hits_needed *= 2;
}

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

int rmai_link_owe(struct rmai_net *net, struct rmai_link *link) {
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

void rmai_flows_close(struct rmai_net *net) {
    for (unsigned i = 0; i < net->links.room; i++) {
        struct rmai_link *link = (struct rmai_link *)(void *)net->links.entry[i];
        if (link) rmai_token_drop(net->transport, &link->sent, 0);
    }
    rmai_pe_table_close(&net->links);
    net->link = net->owing = net->self = NULL;
    for (struct rmai_message *m; (m = net->in_transport) != NULL; free(m)) {
        net->in_transport = m->next;
        rmai_token_drop(net->transport, &m->sent, 0);
    }
    for (struct rmai_message *m; (m = net->idle) != NULL; free(m)) net->idle = m->next;
    net->n_messages -= net->n_idle;
    net->n_idle = 0;
}
