/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a stream after an element that others may follow. */
#include "config.h"

#include "base/attributes.h"
#include "runtime/net/flow.h"
#include "runtime/net/request.h"

#include <string.h>

#define NO_ORIGIN ((uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1)) /* farther from each address than anything reaches */

/* Begins a compact record without elements. Returns 0 if there is no room for it and some elements. */
static int begin_compact(struct rmai_message *m, const struct rmai_stream *s, struct rmai_record *r) {
    size_t bytes, reply;
    r->flags |= RMAI_RECORD_COMPACT;
    if (s->same) r->flags |= RMAI_RECORD_SAME;
    r->n = 0;
    bytes = sizeof *r + rmai_wire_head_bytes(r);
    reply = rmai_wire_expects(r) ? sizeof(struct rmai_item) : 0;
    if (m->bytes + bytes >= RMAI_MESSAGE || m->reply + reply >= RMAI_MESSAGE) return 0;
    if (reply) {
        if (rmai_message_ask_bytes(m) + sizeof(struct rmai_ask) >= RMAI_ASK_ROOM) return 0;
        *rmai_message_ask(m, m->n_asks++) = (struct rmai_ask){.first = m->n_dests, .len = r->len, .gives = 1};
        m->to_come++;
        m->reply += reply;
    }
    m->last = m->bytes;
    m->n++;
    m->run = RMAI_NO_RUN;
    m->run_n = 0;
    memcpy(m->body + m->last, r, sizeof *r);
    memcpy(m->body + m->last + sizeof *r, &s->base, sizeof s->base);
    if (s->same) memcpy(m->body + m->last + sizeof *r + sizeof s->base, &s->value, sizeof s->value);
    m->bytes += bytes;
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
    h->direct(h->context, &heap, &size, &there);
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
void rmai_stream_open(struct rmai_message *m, const struct rmai_op *op, const struct rmai_record *r, size_t most) {
    struct rmai_flow *f = m->flow;
    struct rmai_stream *s = rmai_stream_at(&f->set->streams, f->pe);
    const uint64_t key = rmai_stream_key(f->pe, r->kind, r->op, r->flags, r->len);
    const int swaps = rmai_wire_is_swap(r);
    const uint64_t operand = swaps ? op->cond : r->kind == RMAI_RECORD_ATOMIC ? op->value : 0;
    struct rmai_record one = *r;
    size_t step, value, room;
    int compact;
    if (atomic_load_explicit(&s->key, memory_order_relaxed)) rmai_stream_settle_(s->message);
    compact = choose_base(s, op, r->len);
    s->same = compact && r->kind == RMAI_RECORD_ATOMIC && s->last == (uint32_t)key && s->value == operand;
    s->last = (uint32_t)key;
    s->value = operand;
    if (swaps && !s->same) return;
    if (compact && !begin_compact(m, s, &one)) return;
    step = rmai_wire_element_bytes(&one);
    value = rmai_wire_value_bytes(&one);
    room = rmai_min(RMAI_MESSAGE - m->bytes, most) / step;
    if (value)
        room = rmai_min(rmai_min(room, (RMAI_ASK_ROOM - rmai_message_ask_bytes(m)) / sizeof(void *)),
                        (RMAI_MESSAGE - m->reply) / value);
    s->at = m->body + m->bytes;
    s->stop = s->at + room * step;
    s->dest = rmai_message_dest(m, m->n_dests) + 1;
    s->message = m;
    m->stream = s;
    if (r->kind == RMAI_RECORD_ATOMIC) f->set->streams.atomics++;
    atomic_store_explicit(&s->key, compact ? rmai_stream_best_key(key, r->len) : key, memory_order_relaxed);
}
