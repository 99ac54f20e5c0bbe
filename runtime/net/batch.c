/* SPDX-License-Identifier: BSD-3-Clause */
/* The asking side's messages. A batch is a message under way, with the places that its reply will fill. A peer has one
 * more batch open, in which records gather. The open batch is sent when nothing else is under way to its peer, when a
 * call waits for one of its records, when it is full, and when a reply comes back. So a lone record never waits, and a
 * stream of records sends in one message what has gathered during a round trip. While a session is open in the set, a
 * batch that no call waits for is sent when it is full, and when it has waited for RMAI_BATCH_WAIT. */
#include "config.h"

#include "runtime/net/batch.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "runtime/net/pending.h"
#include "runtime/net/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rmai_batch *rmai_batch_take(struct rmai_net *net) {
    struct rmai_batch *batch = net->idle;
    if (batch) {
        net->idle = batch->next;
    } else {
        if (net->n_batches == RMAI_BATCHES || !(batch = malloc(sizeof *batch))) return NULL;
        batch->id = (uint16_t)net->n_batches;
        net->batch[net->n_batches++] = batch;
    }
    batch->n = batch->answered = 0;
    batch->awaited = 0;
    batch->bytes = batch->reply = sizeof(struct rmai_envelope);
    batch->sent = batch->data = RMAI_NO_TOKEN;
    batch->buffer = NULL;
    batch->get = 0;
    return batch;
}

void rmai_batch_send(struct rmai_net *net, struct rmai_peer *p) {
    struct rmai_batch *batch = p->open;
    const struct rmai_envelope e = {.kind = RMAI_WIRE_REQUEST, .batch = batch->id, .n = batch->n};
    memcpy(batch->message, &e, sizeof e);
    p->open = NULL;
    p->under_way++;
    rmai_add(&net->traffic->more[RMAI_SENT], 1);
    if (rmai_send(net->transport, p->pe, RMAI_SHORT_TAG, batch->message, batch->bytes, &batch->sent) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

/* Puts the batch back among the idle ones, if it is over: its reply has come, and the transport is done with its
 * message and its data. Else rmai_batches_go_on looks again. */
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
    /* Only now: the waiter of a long record waits for the data too. */
    for (unsigned i = 0; i < batch->n; i++)
        if (batch->expect[i].waiter) batch->expect[i].waiter->left--;
    batch->next = net->idle;
    net->idle = batch;
    rmai_pending_lock(p->set);
    p->under_way--;
    if (rmai_peer_has_open(p) && (!p->set->session || p->open->awaited)) rmai_batch_send(net, p);
    rmai_pending_unlock(p->set);
}

void rmai_batches_send_due(struct rmai_net *net) {
    const double now = rmai_wtime();
    if (now < net->batches_due) return;
    net->batches_due = now + RMAI_BATCH_WAIT;
    pthread_mutex_lock(&net->sets_lock);
    for (struct rmai_pending *s = net->sets; s; s = s->next_set) {
        rmai_pending_lock(s);
        for (struct rmai_peer *p = s->session ? s->busy : NULL; p; p = p->next)
            if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) rmai_batch_send(net, p);
        rmai_pending_unlock(s);
    }
    pthread_mutex_unlock(&net->sets_lock);
}

void rmai_batches_go_on(struct rmai_net *net) {
    struct rmai_batch *all = net->moving;
    net->moving = NULL;
    for (struct rmai_batch *next; all; all = next) {
        next = all->next;
        finish_batch(net, all);
    }
}

/* ---- replies ---- */

/* Keeps the error of a record that no call waits for, until the next quiet reports it. The record carries no text;
 * rmai_net_failed_there words it. */
static void keep_failure(struct rmai_peer *p, int code) {
    rmai_pending_lock(p->set);
    if (!p->set->failed) {
        p->set->failed = code;
        p->set->failed_pe = p->pe;
    }
    rmai_pending_unlock(p->set);
}

/* Moves a reply's item to where its record wants it. Returns 0 if the item has more bytes than the record asked for. */
static int take_item(struct rmai_peer *p, struct rmai_expect *x, const struct rmai_item *item,
                     const unsigned char *data) {
    if (item->code == RMA_SUCCESS) {
        if (RMAI_UNLIKELY(item->len > x->len)) return 0;
        if (item->len) memcpy(x->dest, data, item->len);
    } else if (x->waiter) {
        if (x->waiter->code != RMA_SUCCESS) return 1;
        x->waiter->code = item->code;
        memcpy(x->waiter->text, data, rmai_min(item->len, sizeof x->waiter->text - 1));
        x->waiter->text[rmai_min(item->len, sizeof x->waiter->text - 1)] = 0;
    } else {
        keep_failure(p, item->code);
    }
    return 1;
}

/* The batch that a reply of PE `from` is for; NULL if no batch of that number is under way to that PE. */
static struct rmai_batch *batch_named(const struct rmai_net *net, int from, const struct rmai_envelope *e) {
    struct rmai_batch *batch = e->batch < net->n_batches ? net->batch[e->batch] : NULL;
    return batch && !batch->answered && batch->peer->pe == from && batch->peer->open != batch ? batch : NULL;
}

int rmai_batch_take_reply(struct rmai_net *net, int from, const struct rmai_envelope *e, struct rmai_wire_reader *m) {
    struct rmai_batch *batch = batch_named(net, from, e);
    struct rmai_item item;
    const unsigned char *data;
    char text[128];
    int more;
    if (RMAI_UNLIKELY(!batch)) {
        snprintf(text, sizeof text, "it answers request %u, which is not under way to that PE", e->batch);
        return rmai_net_damaged(from, text);
    }
    while ((more = rmai_wire_next_item(m, &item, &data)) > 0) {
        struct rmai_expect *x = &batch->expect[item.record < batch->n ? item.record : 0];
        if (RMAI_UNLIKELY(item.record >= batch->n || !take_item(batch->peer, x, &item, data))) {
            snprintf(text, sizeof text, "item %u of %u has %u bytes for record %u of the %u in request %u", m->next,
                     m->n, item.len, item.record + 1u, batch->n, batch->id);
            return rmai_net_damaged(from, text);
        }
        if (item.code != RMA_SUCCESS && batch->get)
            rmai_token_drop(net->transport, &batch->data, 1); /* no data will come */
    }
    if (RMAI_UNLIKELY(more < 0)) return rmai_net_damaged(from, m->wrong);
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

int rmai_batch_send_data(struct rmai_net *net, int from, const struct rmai_envelope *e) {
    struct rmai_batch *batch = batch_named(net, from, e);
    char text[128];
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
