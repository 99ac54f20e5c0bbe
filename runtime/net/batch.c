/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/batch.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/pattern.h"
#include "rma.h"
#include "runtime/net/op.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the pool of batches ---- */

#define FIRST_ROOM 16 /* places in net->batch; RMAI_BATCHES is a power of two times that */

/* Makes place number `id` in net->batch. Returns -1 without memory. */
static int make_place(struct rmai_net *net, unsigned id) {
    const unsigned room = net->batch_room ? 2 * net->batch_room : FIRST_ROOM;
    struct rmai_batch **batch;
    if (id < net->batch_room) return 0;
    if (!(batch = realloc(net->batch, room * sizeof *batch))) return -1;
    memset(batch + net->batch_room, 0, (room - net->batch_room) * sizeof *batch);
    net->batch = batch;
    net->batch_room = room;
    return 0;
}

/* Makes a batch with a number that no other batch has. */
static RMAI_COLD struct rmai_batch *make_batch(struct rmai_net *net) {
    unsigned id = net->n_batches;
    struct rmai_batch *batch;
    if (id < net->batch_room && net->batch[id])
        for (id = 0; net->batch[id]; id++) continue; /* batches with lower numbers have been given back */
    if (id == RMAI_BATCHES || make_place(net, id) != 0 || !(batch = malloc(sizeof *batch))) return NULL;
    batch->id = (uint16_t)id;
    net->batch[id] = batch;
    net->n_batches++;
    rmai_batches_set_side_work(net);
    return batch;
}

/* An idle batch whose `bytes` is 0 has not been used since the last call. */
void rmai_batches_give_back(struct rmai_net *net) {
    const double now = rmai_wtime();
    struct rmai_batch *batch, **i = &net->idle;
    if (now < net->give_back_due) return;
    net->give_back_due = now + RMAI_BATCH_IDLE;
    while ((batch = *i) != NULL) {
        if (batch->bytes || net->n_batches <= RMAI_BATCHES_KEPT) {
            batch->bytes = 0;
            i = &batch->next;
            continue;
        }
        *i = batch->next;
        net->batch[batch->id] = NULL;
        net->n_batches--;
        free(batch);
    }
    rmai_batches_set_side_work(net);
}

static struct rmai_batch *take_batch(struct rmai_net *net) {
    struct rmai_batch *batch = net->idle;
    if (batch)
        net->idle = batch->next;
    else if (!(batch = make_batch(net)))
        return NULL;
    batch->n = batch->n_expects = batch->n_dests = batch->to_come = batch->answered = 0;
    batch->last = 0;
    batch->run = RMAI_NO_RUN;
    batch->awaited = 0;
    batch->bytes = batch->reply = sizeof(struct rmai_envelope);
    batch->sent = batch->data = RMAI_NO_TOKEN;
    batch->buffer = NULL;
    batch->get = 0;
    batch->landings = NULL;
    batch->stream = NULL;
    return batch;
}

int rmai_batch_open(struct rmai_net *net, struct rmai_peer *p) {
    if (!p->link) p->link = rmai_link_to(net, p->pe);
    if (!p->link || !(p->open = take_batch(net))) return 0;
    p->open->peer = p;
    return 1;
}

/* ---- streams ---- */

#define NO_ORIGIN ((uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1)) /* farther from each address than anything reaches */

/* The last record, as it stands in the message. */
static struct rmai_record last_record(const struct rmai_batch *batch) {
    struct rmai_record r;
    memcpy(&r, batch->message + batch->last, sizeof r);
    return r;
}

/* Bytes of the reply for each further element of the record; 0 if it expects nothing. */
static size_t value_bytes(const struct rmai_record *r) { return rmai_wire_expects(r) ? rmai_padded(r->len) : 0; }

/* A compact record of a stream that no element has joined. */
static void drop_last_record(struct rmai_batch *batch, const struct rmai_record *r) {
    batch->bytes = batch->last;
    batch->n--;
    batch->run = RMAI_NO_RUN;
    if (!rmai_wire_expects(r)) return;
    batch->n_expects--;
    batch->to_come--;
    batch->reply -= sizeof(struct rmai_item);
}

static void count_streamed(struct rmai_traffic *t, const struct rmai_record *r, unsigned n) {
    const enum rmai_traffic_kind kind = rmai_record_traffic(r->kind);
    rmai_add(&t->streamed[kind], n);
    if (kind != RMAI_ATOMICS) rmai_add(&t->streamed[kind + 1], (uint64_t)n * r->len);
}

void rmai_batch_settle_(struct rmai_batch *batch) {
    struct rmai_stream *s = batch->stream;
    struct rmai_record r = last_record(batch);
    const size_t added = (size_t)(s->at - batch->message) - batch->bytes;
    const unsigned n = (unsigned)(added / rmai_wire_element_bytes(&r));
    batch->stream = NULL;
    if (r.kind == RMAI_RECORD_ATOMIC) batch->peer->set->streams.atomics--;
    s->stop = NULL;
    atomic_store_explicit(&s->key, 0, memory_order_relaxed);
    r.n = batch->run_n = (uint16_t)(batch->run_n + n);
    if (r.n == 0) {
        drop_last_record(batch, &r);
        return;
    }
    batch->bytes += rmai_padded(added);
    memcpy(batch->message + batch->last, &r, sizeof r);
    batch->peer->asked += n;
    batch->peer->unpolled += added;
    count_streamed(batch->peer->set->traffic, &r, n);
    if (rmai_wire_expects(&r)) {
        struct rmai_expect *x = rmai_batch_expect(batch, batch->n_expects - 1u);
        x->n = (uint16_t)(x->n + n);
        batch->n_dests = (uint16_t)(batch->n_dests + n);
        batch->reply += n * value_bytes(&r);
    }
    assert(batch->bytes <= RMAI_MESSAGE && batch->reply <= RMAI_MESSAGE &&
           rmai_batch_expect_bytes(batch) <= RMAI_EXPECT_ROOM && "the stream ended where the batch's room does");
}

/* Begins a compact record without elements. Returns 0 if there is no room for it and some elements. */
static int begin_compact(struct rmai_batch *batch, const struct rmai_stream *s, struct rmai_record *r) {
    size_t bytes, reply;
    r->flags |= RMAI_RECORD_COMPACT;
    if (s->same) r->flags |= RMAI_RECORD_SAME;
    r->n = 0;
    bytes = sizeof *r + rmai_wire_head_bytes(r);
    reply = rmai_wire_expects(r) ? sizeof(struct rmai_item) : 0;
    if (batch->bytes + bytes >= RMAI_MESSAGE || batch->reply + reply >= RMAI_MESSAGE) return 0;
    if (reply) {
        if (rmai_batch_expect_bytes(batch) + sizeof(struct rmai_expect) >= RMAI_EXPECT_ROOM) return 0;
        *rmai_batch_expect(batch, batch->n_expects++) =
            (struct rmai_expect){.first = batch->n_dests, .len = r->len, .gives = 1};
        batch->to_come++;
        batch->reply += reply;
    }
    batch->last = batch->bytes;
    batch->n++;
    batch->run = RMAI_NO_RUN;
    batch->run_n = 0;
    memcpy(batch->message + batch->last, r, sizeof *r);
    memcpy(batch->message + batch->last + sizeof *r, &s->base, sizeof s->base);
    if (s->same) memcpy(batch->message + batch->last + sizeof *r + sizeof s->base, &s->value, sizeof s->value);
    batch->bytes += bytes;
    return 1;
}

/* Finds the base of the stream, and what is in its reach, for operations like `op`. Returns whether the stream is
 * compact. If accesses are spread over more than the reach of one base, the stream is wide each time that the base
 * changes: a wide one does not end there. */
static int choose_base(struct rmai_stream *s, const struct rmai_op *op, size_t len) {
    const struct rmai_net_handlers *h = &op->set->net->handlers;
    const uint64_t before = s->base, apart = rmai_wire_compact_reach(len);
    const int may = rmai_stream_may_compact(len) && !(op->offset & (len - 1));
    unsigned char *there;
    uint64_t heap, in_heap, room;
    size_t size;
    int compact;
    h->steady(h->context, &heap, &size, &there);
    in_heap = op->offset - heap;
    if (in_heap < size && size - in_heap >= len) {
        s->base = heap + (may ? in_heap / apart * apart : 0);
        s->origin = (uintptr_t)there + (s->base - heap);
        room = size - (s->base - heap);
    } else {
        s->base = may ? op->offset / apart * apart : 0;
        s->origin = NO_ORIGIN;
        room = RMA_GPTR_ATTACHED_ - s->base;
    }
    compact = may && s->base == before && s->base <= RMA_GPTR_ATTACHED_ - apart;
    s->reach = compact ? rmai_min(room, apart) / len : room - (len - 1);
    return compact;
}

/* All atomics of a stream have the same operand if this one has the operand of the last stream of its kind: so a
 * program whose operands differ does not end a stream with each of them. Compare-and-swaps that expect what the last
 * one has not expected open no stream. */
void rmai_batch_open_stream(struct rmai_batch *batch, const struct rmai_op *op, const struct rmai_record *r,
                            size_t most) {
    const struct rmai_peer *p = batch->peer;
    struct rmai_stream *s = &p->set->streams.of[(unsigned)p->pe % RMAI_STREAMS];
    const uint64_t key = rmai_stream_key(p->pe, r->kind, r->op, r->flags, r->len);
    const int swaps = rmai_wire_is_swap(r);
    const uint64_t operand = swaps ? op->cond : r->kind == RMAI_RECORD_ATOMIC ? op->value : 0;
    struct rmai_record one = *r;
    size_t step, value, room;
    int compact;
    if (atomic_load_explicit(&s->key, memory_order_relaxed)) rmai_batch_settle_(s->batch);
    compact = choose_base(s, op, r->len);
    s->same = compact && r->kind == RMAI_RECORD_ATOMIC && s->last == (uint32_t)key && s->value == operand;
    s->last = (uint32_t)key;
    s->value = operand;
    if (swaps && !s->same) return;
    if (compact && !begin_compact(batch, s, &one)) return;
    step = rmai_wire_element_bytes(&one);
    value = value_bytes(&one);
    room = rmai_min(RMAI_MESSAGE - batch->bytes, most) / step;
    if (value)
        room = rmai_min(rmai_min(room, (RMAI_EXPECT_ROOM - rmai_batch_expect_bytes(batch)) / sizeof(void *)),
                        (RMAI_MESSAGE - batch->reply) / value);
    s->at = batch->message + batch->bytes;
    s->stop = s->at + room * step;
    s->dest = rmai_batch_dest(batch, batch->n_dests) + 1;
    s->batch = batch;
    batch->stream = s;
    if (r->kind == RMAI_RECORD_ATOMIC) p->set->streams.atomics++;
    atomic_store_explicit(&s->key, compact ? rmai_stream_best_key(key, r->len) : key, memory_order_relaxed);
}

void rmai_batches_close_atomics_(struct rmai_pending *s, int puts) {
    for (int i = 0; i < RMAI_STREAMS; i++) {
        struct rmai_stream *stream = &s->streams.of[i];
        const uint64_t key = atomic_load_explicit(&stream->key, memory_order_relaxed);
        if (rmai_stream_is_atomics(key) && puts != 1 + (int)(key >> 32)) rmai_batch_settle(stream->batch);
    }
}

/* ---- sending ---- */

/* A request without long data: it is done when the link says so, or when its own reply comes. */
static void add_to_link(struct rmai_link *link, struct rmai_batch *batch) {
    batch->sent_after = NULL;
    if (link->oldest)
        link->newest->sent_after = batch;
    else
        link->oldest = batch;
    link->newest = batch;
}

/* The batch's own reply has come. The batch is the oldest if the other PE is correct: all before it are done already.
 */
static void take_from_link(struct rmai_link *link, const struct rmai_batch *batch) {
    struct rmai_batch *before = NULL, *i = batch->buffer ? NULL : link->oldest; /* long data are in no link */
    for (; i && i != batch; i = i->sent_after) before = i;
    if (!i) return;
    if (before)
        before->sent_after = batch->sent_after;
    else
        link->oldest = batch->sent_after;
    if (link->newest == batch) link->newest = before;
}

/* A request of this PE to itself needs no transport: the batch keeps the message until it is answered. */
static void add_to_self(struct rmai_net *net, struct rmai_batch *batch) {
    batch->next = NULL;
    if (net->to_self)
        net->to_self_last->next = batch;
    else
        net->to_self = batch;
    net->to_self_last = batch;
    net->side_work = 1;
}

const void *rmai_batches_take_to_self(struct rmai_net *net, size_t *len) {
    struct rmai_batch *batch = net->to_self;
    net->to_self = batch->next;
    *len = batch->bytes;
    return batch->message;
}

void rmai_batch_send(struct rmai_net *net, struct rmai_peer *p) {
    struct rmai_batch *batch = p->open;
    rmai_batch_settle(batch);
    assert(batch->n > 0 && p->under_way < RMAI_CREDITS && "only a batch with a record leaves, and only with a credit");
    assert(rmai_net_is_locked(net) && "the caller holds the net's lock");
    const struct rmai_envelope e = {
        .kind = RMAI_WIRE_REQUEST, .batch = batch->id, .n = batch->n, .done = rmai_link_take_acks(p->link)};
    memcpy(batch->message, &e, sizeof e);
    if (!batch->buffer) add_to_link(p->link, batch);
    p->open = NULL;
    p->under_way++;
    p->set->filled += rmai_max(batch->bytes, rmai_batch_expect_bytes(batch));
    rmai_add(&net->traffic->more[RMAI_SENT], 1);
    if (RMAI_UNLIKELY(p->pe == net->job->my_pe)) {
        add_to_self(net, batch);
        return;
    }
    /* The transport has mostly copied the message by now. To find that out here takes no time while the message
     * travels; after the reply it would. */
    if (rmai_send(net->transport, p->pe, RMAI_SHORT_TAG, batch->message, batch->bytes, &batch->sent) != RMA_SUCCESS ||
        rmai_token_done(net->transport, &batch->sent) < 0)
        rmai_net_fatal(net);
}

/* Copies returned data to their places, and frees their room. */
static RMAI_COLD void land(struct rmai_batch *batch) {
    for (struct rmai_landing *l; (l = batch->landings) != NULL;) {
        const unsigned char *data = l->data;
        for (size_t i = 0; i < l->n; i++) {
            const struct rmai_landing_run *to = &l->to[i];
            rmai_move_strided(to->at, (const char *)data, to->step, (ptrdiff_t)to->len, to->len, to->n);
            data += to->len * to->n;
        }
        batch->landings = l->next;
        free(l);
    }
}

/* Puts the batch back among the idle ones, if its reply has come, and the transport is done with its message and its
 * data. Otherwise rmai_batches_advance tries again. */
static void finish_batch(struct rmai_net *net, struct rmai_batch *batch) {
    struct rmai_peer *p = batch->peer;
    int sent = rmai_token_done(net->transport, &batch->sent),
        moved = sent == 1 ? rmai_token_done(net->transport, &batch->data) : 0;
    if (sent < 0 || moved < 0) rmai_net_fatal(net);
    if (!sent || !moved || !batch->answered) {
        batch->next = net->moving;
        net->moving = batch;
        return;
    }
    if (RMAI_UNLIKELY(batch->landings != NULL)) land(batch);
    /* Not earlier: the waiter of a long record also waits for the data. */
    for (unsigned i = 0; i < batch->n_expects; i++)
        if (rmai_batch_expect(batch, i)->waiter) rmai_batch_expect(batch, i)->waiter->left--;
    batch->next = net->idle;
    net->idle = batch;
    rmai_pending_lock_inner(p->set);
    assert(p->under_way > 0 && p->listed && "the batch was under way, so its peer is among the busy ones");
    p->under_way--;
    if (rmai_peer_has_open(p) && (!p->set->session || p->open->awaited)) rmai_batch_send(net, p);
    rmai_pending_unlock_inner(p->set);
}

/* Sends the open batches of the sets that have an open session, or of those that have none. The list of sets does not
 * change meanwhile. */
static void send_open_batches(struct rmai_net *net, int session) {
    for (struct rmai_pending *s = net->sets; s; s = s->next_set) {
        /* A thread that flushes a window holds the set's lock for long; meanwhile this PE must continue to serve
         * others. */
        if (!net->biased && pthread_mutex_trylock(&s->lock) != 0) {
            if (!session) rmai_batch_gathers(net);
            continue;
        }
        for (struct rmai_peer *p = s->session == session ? s->busy : NULL; p; p = p->next) {
            if (!rmai_peer_has_open(p)) continue;
            if (p->under_way < RMAI_CREDITS)
                rmai_batch_send(net, p);
            else if (!session)
                p->open->awaited = 1;
        }
        rmai_pending_unlock_inner(s);
    }
}

void rmai_batches_send_due(struct rmai_net *net) {
    const double now = rmai_wtime();
    if (now < net->batches_due) return;
    /* A thread that holds it may wait for the progress thread, which may be here, to leave the biased lock. */
    if (pthread_mutex_trylock(&net->sets_lock) != 0) return;
    net->batches_due = now + RMAI_BATCH_WAIT;
    send_open_batches(net, 1);
    pthread_mutex_unlock(&net->sets_lock);
}

/* With the biased lock only the program's one thread changes the list of sets, and that thread is here. Another thread
 * may hold the list's lock while it flushes windows; then the next call sends. */
void rmai_batches_send_gathered(struct rmai_net *net) {
    atomic_store_explicit(&net->gathered, 0, memory_order_relaxed);
    if (!net->biased && pthread_mutex_trylock(&net->sets_lock) != 0) {
        rmai_batch_gathers(net);
        return;
    }
    send_open_batches(net, 0);
    if (!net->biased) pthread_mutex_unlock(&net->sets_lock);
}

void rmai_batches_advance(struct rmai_net *net) {
    struct rmai_batch *all = net->moving;
    net->moving = NULL;
    for (struct rmai_batch *next; all; all = next) {
        next = all->next;
        finish_batch(net, all);
    }
}

/* ---- replies ---- */

/* Returns the operation of the batch's record number `i`, counted among those that expect something. */
static RMAI_COLD const char *operation_of(const struct rmai_batch *batch, unsigned i) {
    struct rmai_wire_reader m;
    struct rmai_record r;
    const unsigned char *elements;
    char name[RMAI_NAME_MAX];
    if (!rmai_wire_open(&m, batch->message, batch->bytes)) return "request to";
    while (rmai_wire_next_record(&m, &r, name, &elements) > 0) {
        if (!rmai_wire_expects(&r)) continue;
        if (i-- == 0) return rmai_wire_operation(&r);
    }
    return "request to";
}

/* Keeps the error of a record that no call waits for, until the next quiet reports it. The record carries no text. */
static RMAI_COLD void keep_failure(const struct rmai_batch *batch, unsigned i, int code) {
    struct rmai_pending *s = batch->peer->set;
    rmai_pending_lock_inner(s);
    if (!s->failed) {
        s->failed = code;
        s->failed_pe = batch->peer->pe;
        s->failed_op = operation_of(batch, i);
    }
    rmai_pending_unlock_inner(s);
}

/* Moves the values of a record's elements to their places. */
static void take_values(struct rmai_batch *batch, const struct rmai_expect *x, const unsigned char *data) {
    void **dest = rmai_batch_dest(batch, x->first);
    if (x->len == sizeof(uint64_t))
        for (unsigned i = 0; i < x->n; i++) rma_move_(*(dest - i), data + i * sizeof(uint64_t), sizeof(uint64_t));
    else
        for (unsigned i = 0; i < x->n; i++) rma_move_(*(dest - i), data + i * rmai_padded(x->len), x->len);
}

/* Moves the data of an item to the places of its record's elements. Returns 0 if the data are not the bytes that these
 * elements have asked for. */
static int take_item(struct rmai_batch *batch, const struct rmai_item *item, const unsigned char *data) {
    struct rmai_expect *x = rmai_batch_expect(batch, item->first);
    if (item->code == RMA_SUCCESS) {
        if (RMAI_UNLIKELY(!x->gives || item->len != x->n * rmai_padded(x->len))) return 0;
        take_values(batch, x, data);
        x->gives = 0;
        batch->to_come--;
        return 1;
    }
    batch->to_come -= (uint16_t)x->gives;
    x->gives = 0;
    for (struct rmai_landing *l = batch->landings; l; l = l->next)
        if (l->record == item->first) l->n = 0; /* nothing lands */
    if (x->waiter) {
        if (x->waiter->code != RMA_SUCCESS) return 1;
        x->waiter->code = item->code;
        memcpy(x->waiter->text, data, rmai_min(item->len, sizeof x->waiter->text - 1));
        x->waiter->text[rmai_min(item->len, sizeof x->waiter->text - 1)] = 0;
    } else {
        keep_failure(batch, item->first, item->code);
    }
    return 1;
}

/* Returns the batch that a reply of PE `from` answers; NULL if no batch of that number is under way to that PE. */
static struct rmai_batch *batch_named(const struct rmai_net *net, int from, const struct rmai_envelope *e) {
    struct rmai_batch *batch = e->batch < net->batch_room ? net->batch[e->batch] : NULL;
    return batch && !batch->answered && batch->peer->pe == from && batch->peer->open != batch ? batch : NULL;
}

int rmai_batch_take_reply(struct rmai_net *net, int from, const struct rmai_envelope *e, struct rmai_wire_reader *m) {
    struct rmai_batch *batch = batch_named(net, from, e);
    struct rmai_item item;
    const unsigned char *data;
    char text[160];
    int more;
    if (RMAI_UNLIKELY(!batch)) {
        snprintf(text, sizeof text, "it answers request %u, which is not under way to that PE", e->batch);
        return rmai_net_damaged(from, text);
    }
    while ((more = rmai_wire_next_item(m, &item, &data)) > 0) {
        if (RMAI_UNLIKELY(item.first >= batch->n_expects || !take_item(batch, &item, data))) {
            snprintf(text, sizeof text,
                     "item %u of %u has %u bytes for record %u of the %u that expect any in request %u", m->next, m->n,
                     item.len, item.first + 1u, batch->n_expects, batch->id);
            return rmai_net_damaged(from, text);
        }
        if (item.code != RMA_SUCCESS && batch->get)
            rmai_token_drop(net->transport, &batch->data, 1); /* no data will come */
    }
    if (RMAI_UNLIKELY(more < 0)) return rmai_net_damaged(from, m->wrong);
    if (RMAI_UNLIKELY(batch->to_come)) {
        snprintf(text, sizeof text, "the values of %u records of request %u are missing", batch->to_come, batch->id);
        return rmai_net_damaged(from, text);
    }
    take_from_link(batch->peer->link, batch);
    batch->answered = 1;
    if (batch->data.word == 0 || batch->get) {
        /* The data of a put may still be under way; then the batch is in the list already. */
        struct rmai_batch **i = &net->moving;
        while (*i && *i != batch) i = &(*i)->next;
        if (*i) *i = batch->next;
        finish_batch(net, batch);
    }
    return RMA_SUCCESS;
}

int rmai_batches_done(struct rmai_net *net, int from, unsigned n) {
    struct rmai_link *link = rmai_link_to(net, from);
    for (; n > 0; n--) {
        struct rmai_batch *batch = link ? link->oldest : NULL;
        if (RMAI_UNLIKELY(!batch))
            return rmai_net_damaged(from, "it says that more requests are done than are under way to that PE");
        if (RMAI_UNLIKELY(batch->to_come))
            return rmai_net_damaged(from, "it says that a request is done whose values have not come");
        link->oldest = batch->sent_after;
        batch->answered = 1;
        finish_batch(net, batch);
    }
    return RMA_SUCCESS;
}

int rmai_batch_send_data(struct rmai_net *net, int from, const struct rmai_envelope *e) {
    struct rmai_batch *batch = batch_named(net, from, e);
    char text[160];
    int code;
    if (RMAI_UNLIKELY(!batch || !batch->buffer || batch->get || batch->data.word != 0)) {
        snprintf(text, sizeof text,
                 "it asks for the data of request %u, no long put to that PE that waits to send them", e->batch);
        return rmai_net_damaged(from, text);
    }
    code = rmai_send(net->transport, from, rmai_long_tag(batch->id, 0), batch->buffer, batch->len, &batch->data);
    batch->next = net->moving;
    net->moving = batch;
    return code;
}

void rmai_batches_close(struct rmai_net *net) {
    for (unsigned i = 0; i < net->batch_room; i++) free(net->batch[i]);
    free(net->batch);
}
