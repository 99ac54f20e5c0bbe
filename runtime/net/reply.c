/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of other nodes at the origin: values, errors and long data reach the operations that wait for them. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "base/pattern.h"
#include "runtime/net/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tells the call that waits, or the next quiet, of an error; the text is not ended by a 0. */
static RMAI_COLD void tell_failure(struct rmai_pending *s, int pe, struct rmai_waiter *waiter, const char *operation,
                                   int code, const unsigned char *text, size_t len) {
    if (!waiter) {
        rmai_pending_fail(s, pe, operation, code);
        return;
    }
    if (waiter->code != RMA_SUCCESS) return;
    len = rmai_min(len, sizeof waiter->text - 1);
    waiter->code = code;
    memcpy(waiter->text, text, len);
    waiter->text[len] = 0;
}

/* ---- transfers ---- */

#define FIRST_ROOM 16 /* places in net->transfer; RMAI_TRANSFERS is a power of two times that */

/* Returns a place for one more transfer, or NULL without memory. */
static struct rmai_transfer **find_place(struct rmai_net *net) {
    const unsigned room = net->transfer_room ? 2 * net->transfer_room : FIRST_ROOM;
    struct rmai_transfer **all;
    unsigned i = 0;
    while (i < net->transfer_room && net->transfer[i]) i++;
    if (i < net->transfer_room) return &net->transfer[i];
    assert(i < RMAI_TRANSFERS && "the caller has waited for a transfer to end");
    if (!(all = realloc(net->transfer, room * sizeof(*all)))) return NULL;
    memset(all + i, 0, (room - i) * sizeof(*all));
    net->transfer = all;
    net->transfer_room = room;
    return &all[i];
}

struct rmai_transfer *rmai_transfer_begin(struct rmai_net *net, struct rmai_flow *f, const struct rmai_op *op,
                                          struct rmai_waiter *waiter) {
    struct rmai_transfer **place = find_place(net), *t = place ? malloc(sizeof *t) : NULL;
    const struct rmai_record r = {.kind = op->kind, .op = op->atomic};
    const int runs = op->kind == RMAI_RECORD_RUNS;
    if (!t) return NULL;
    assert(f->transfers < RMAI_CREDITS && "the caller has waited for a credit");
    *t =
        (struct rmai_transfer){.next = net->transfers,
                               .flow = f,
                               .waiter = waiter,
                               .operation = rmai_wire_operation(&r),
                               .number = (uint16_t)(place - net->transfer),
                               .age = f->set->age,
                               .get = op->kind == RMAI_RECORD_GET_LONG || (runs && op->runs->flags & RMAI_RECORD_TAKES),
                               .buffer = op->buffer,
                               .len = runs ? (size_t)op->value : op->len,
                               .landing = runs ? op->runs->landing : NULL};
    if (t->get && waiter) waiter->left++; /* it also waits for the reply: then nothing is under way any more */
    *place = net->transfers = t;
    net->n_transfers++;
    f->transfers++;
    if (t->get &&
        rmai_receive(net->transport, f->pe, rmai_long_tag(t->number, 1), t->buffer, t->len, &t->token) != RMA_SUCCESS)
        rmai_net_fatal(net);
    return t;
}

/* Ends the transfer: its data have come, or nothing will. */
static void end_transfer(struct rmai_net *net, struct rmai_transfer *t) {
    struct rmai_transfer **i = &net->transfers;
    while (*i != t) i = &(*i)->next;
    *i = t->next;
    net->transfer[t->number] = NULL;
    net->n_transfers--;
    if (t->landing) rmai_landing_end(t->landing);
    if (t->waiter) t->waiter->left--;
    t->flow->transfers--;
    free(t);
}

/* Returns the transfer of this number, if there is one with PE `from`. */
static struct rmai_transfer *transfer_with(const struct rmai_net *net, int from, unsigned number) {
    struct rmai_transfer *t = number < net->transfer_room ? net->transfer[number] : NULL;
    return t && t->flow->pe == from ? t : NULL;
}

/* The target has refused the record: nothing moves, and nothing lands. */
static RMAI_COLD void fail_transfer(struct rmai_net *net, int from, unsigned number, int code,
                                    const unsigned char *text, size_t len) {
    struct rmai_transfer *t = transfer_with(net, from, number);
    if (!t || t->went) return;
    if (t->get) rmai_token_drop(net->transport, &t->token, 1);
    if (t->landing) t->landing->n = 0;
    tell_failure(t->flow->set, t->flow->pe, t->waiter, t->operation, code, text, len);
    end_transfer(net, t);
}

int rmai_transfer_go(struct rmai_net *net, int from, unsigned number) {
    struct rmai_transfer *t = transfer_with(net, from, number);
    char text[100];
    if (RMAI_UNLIKELY(!t || t->get || t->went)) {
        snprintf(text, sizeof text,
                 "it asks for the data of transfer %u, no long put to that PE that waits to send them", number);
        return rmai_net_damaged(from, text);
    }
    t->went = 1;
    return rmai_send(net->transport, from, rmai_long_tag(number, 0), t->buffer, t->len, &t->token);
}

int rmai_transfer_landed(struct rmai_net *net, int from, unsigned number) {
    struct rmai_transfer *t = transfer_with(net, from, number);
    char text[100];
    if (RMAI_UNLIKELY(!t || t->get || !t->went || t->landed)) {
        snprintf(text, sizeof text, "it has the data of transfer %u, no long put to that PE whose data are under way",
                 number);
        return rmai_net_damaged(from, text);
    }
    t->landed = 1;
    return RMA_SUCCESS;
}

int rmai_transfers_advance(struct rmai_net *net) {
    int ended = 0;
    for (struct rmai_transfer *next, *t = net->transfers; t; t = next) {
        const int done = rmai_token_done(net->transport, &t->token);
        next = t->next;
        if (done < 0) rmai_net_fatal(net);
        if (!done || !(t->get || t->landed)) continue;
        end_transfer(net, t);
        ended++;
    }
    return ended;
}

/* ---- replies ---- */

/* Returns the operation of the message's record that makes ask `i`. */
static RMAI_COLD const char *operation_of(const struct rmai_message *m, unsigned i) {
    struct rmai_wire_reader reader;
    struct rmai_record r;
    const unsigned char *elements;
    char name[RMAI_NAME_MAX];
    if (!rmai_wire_open(&reader, m->body, m->bytes)) return "request to";
    while (rmai_wire_next_record(&reader, &r, name, &elements) > 0) {
        if (!rmai_wire_expects(&r)) continue;
        if (i-- == 0) return rmai_wire_operation(&r);
    }
    return "request to";
}

/* Moves the values of a record's elements to their places. */
static void take_values(struct rmai_message *m, const struct rmai_ask *ask, const unsigned char *data) {
    void **dest = rmai_message_dest(m, ask->first);
    if (ask->len == sizeof(uint64_t))
        for (unsigned i = 0; i < ask->n; i++) rma_move_(*(dest - i), data + i * sizeof(uint64_t), sizeof(uint64_t));
    else
        for (unsigned i = 0; i < ask->n; i++) rma_move_(*(dest - i), data + i * rmai_padded(ask->len), ask->len);
}

/* The record of ask `number` has failed. */
static RMAI_COLD void take_failure(struct rmai_net *net, struct rmai_message *m, unsigned number, int code,
                                   const unsigned char *text, size_t len) {
    struct rmai_ask *ask = rmai_message_ask(m, number);
    m->to_come = (uint16_t)(m->to_come - ask->gives);
    ask->gives = 0;
    if (ask->moves) {
        fail_transfer(net, m->flow->pe, ask->len, code, text, len);
        return;
    }
    for (struct rmai_landing *l = m->landings; l; l = l->next)
        if (l->ask == number) l->n = 0; /* nothing lands */
    tell_failure(m->flow->set, m->flow->pe, ask->waiter, ask->waiter ? NULL : operation_of(m, number), code, text, len);
}

/* Does what an item says. Returns 0 if its data are not the bytes that the record has asked for. */
static inline int take_item(struct rmai_net *net, struct rmai_message *m, const struct rmai_item *item,
                            const unsigned char *data) {
    struct rmai_ask *ask;
    if (RMAI_UNLIKELY(item->first >= m->n_asks)) return 0;
    ask = rmai_message_ask(m, item->first);
    if (RMAI_UNLIKELY(item->code != RMA_SUCCESS)) {
        take_failure(net, m, item->first, item->code, data, item->len);
        return 1;
    }
    if (RMAI_UNLIKELY(!ask->gives || item->len != ask->n * rmai_padded(ask->len))) return 0;
    take_values(m, ask, data);
    ask->gives = 0;
    m->to_come--;
    return 1;
}

int rmai_reply_take(struct rmai_net *net, int from, struct rmai_wire_reader *reader) {
    struct rmai_link *link = rmai_link_to(net, from);
    struct rmai_message *m = link ? link->oldest : NULL;
    struct rmai_item item;
    const unsigned char *data;
    char text[160];
    int more;
    if (RMAI_UNLIKELY(!m)) return rmai_net_damaged(from, "it answers a request, and none is under way to that PE");
    while ((more = rmai_wire_next_item(reader, &item, &data)) > 0)
        if (RMAI_UNLIKELY(!take_item(net, m, &item, data))) {
            snprintf(text, sizeof text, "item %u of %u has %u bytes for record %u of the %u that ask for any",
                     reader->next, reader->n, item.len, item.first + 1u, m->n_asks);
            return rmai_net_damaged(from, text);
        }
    if (RMAI_UNLIKELY(more < 0)) return rmai_net_damaged(from, reader->wrong);
    if (RMAI_UNLIKELY(m->to_come)) {
        snprintf(text, sizeof text, "the values of %u records of a request are missing", m->to_come);
        return rmai_net_damaged(from, text);
    }
    rmai_link_answered(net, link);
    return RMA_SUCCESS;
}
