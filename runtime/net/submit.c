/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/submit.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/link.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"

#include <assert.h>
#include <string.h>

static int expects_reply(const struct rmai_ask *a) { return a->may_fail || rmai_wire_expects(&a->r); }

static struct rmai_need need_of(const struct rmai_ask *a) {
    struct rmai_need need = {.bytes = sizeof a->r + rmai_wire_element_bytes(&a->r)};
    if (a->may_fail) need.bytes += rmai_padded(strlen(a->call));
    if (!expects_reply(a)) return need;
    need.expects = 1;
    need.reply = sizeof(struct rmai_item) + rmai_padded(a->may_fail ? rmai_max(a->reply, RMAI_TEXT_MAX) : a->reply);
    return need;
}

/* What n elements need together. */
static struct rmai_need need_of_all(const struct rmai_ask *a, int n) {
    struct rmai_need all = {0};
    for (int i = 0; i < n; i++) {
        const struct rmai_need one = need_of(&a[i]);
        all.bytes += one.bytes;
        all.reply += one.reply;
        all.expects += one.expects;
    }
    return all;
}

/* Adds the element to p's open batch. Only now p is listed as pending: while this thread waited for room, another
 * thread may have been in a quiet, which took p off the list. */
static void append_element(struct rmai_peer *p, const struct rmai_ask *a, uint64_t mark) {
    const struct rmai_need need = need_of(a);
    struct rmai_element e = a->e;
    e.offset |= mark;
    rmai_batch_append(p->open, &a->r, &e, a->data, a->may_fail ? a->call : NULL, &need,
                      expects_reply(a) ? &a->expect : NULL);
    if (a->now) p->open->awaited = 1;
    if (a->expect.waiter) a->expect.waiter->pe = p->pe;
    rmai_peer_list(p);
    p->asked++;
    if (a->put) rmai_pending_note_put(p->set, p->pe, a->r.kind == RMAI_RECORD_PUT);
}

/* 1 if the elements can join p's open batch. Long data travel with a batch of their own. */
static int has_room(const struct rmai_peer *p, const struct rmai_ask *a, const struct rmai_need *need) {
    if (!p->open) return 0;
    if (a->buffer) return p->open->n == 0 && p->under_way < RMAI_CREDITS;
    return rmai_batch_fits(p->open, need);
}

static struct rmai_peer *peer_for(const struct rmai_ask *a, uint64_t *mark) {
    *mark = 0;
    return a->by_node ? rmai_peer_to(a->set, a->pe, mark) : rmai_peer_of(a->set, a->pe);
}

/* Returns the peer, with an open batch that has room for the record, or NULL without memory. Both locks are held; while
 * this waits for room, the set's lock is released, and the way may become another one. */
static struct rmai_peer *make_room(struct rmai_net *net, const struct rmai_ask *a, const struct rmai_need *need,
                                   uint64_t *mark) {
    struct rmai_pending *s = a->set;
    struct rmai_peer *p = peer_for(a, mark);
    struct rmai_net_wait wait;
    int waited = 0;
    while (p && !has_room(p, a, need)) {
        if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) {
            rmai_batch_send(net, p);
        } else if (!p->open && rmai_batch_open(net, p)) {
            continue;
        } else if (!p->open && (net->n_batches == 0 || !p->link)) {
            p = NULL; /* no end of another request will help */
        } else {
            rmai_pending_unlock_inner(s);
            if (!waited++) wait = rmai_net_wait_begins(a->call, p->pe);
            rmai_net_wait_turn(net, &wait);
            rmai_pending_lock_inner(s);
            p = peer_for(a, mark);
        }
    }
    if (waited) rmai_net_wait_ends(net, &wait);
    return p;
}

/* Ties the long data to the open batch. What is to be got has its receive posted before the request is sent: then the
 * target's data never arrive unexpected. */
static void attach_long_data(struct rmai_net *net, struct rmai_batch *batch, const struct rmai_ask *a) {
    batch->buffer = a->buffer;
    batch->len = (size_t)a->e.value;
    batch->get = a->r.kind == RMAI_RECORD_GET_LONG;
    if (batch->get && rmai_receive(net->transport, a->pe, rmai_long_tag(batch->id, 1), batch->buffer, batch->len,
                                   &batch->data) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

int rmai_submit(struct rmai_net *net, const struct rmai_ask *a, int n) {
    struct rmai_pending *s = a->set;
    const struct rmai_need need = need_of_all(a, n);
    struct rmai_peer *p;
    uint64_t mark;
    int due = 0;
    rmai_pending_lock_inner(s);
    p = make_room(net, a, &need, &mark);
    if (p) {
        if (a->buffer) attach_long_data(net, p->open, a);
        for (int i = 0; i < n; i++) append_element(p, &a[i], mark);
        if (a->buffer || (p->under_way == 0 && !s->session) || (a->now && p->under_way < RMAI_CREDITS))
            rmai_batch_send(net, p);
        else
            due = p->asked % RMAI_ELEMENTS_A_LOOK == 0;
    }
    rmai_pending_unlock_inner(s);
    if (due) rmai_net_drive(net);
    return p ? RMA_SUCCESS : rmai_net_no_memory(a->call, a->pe);
}

int rmai_submit_and_wait(struct rmai_net *net, struct rmai_ask *a, void *dest, size_t len) {
    struct rmai_waiter waiter;
    int code;
    rmai_waiter_begins(&waiter, 1);
    a->expect = (struct rmai_expect){.dest = dest, .len = (uint32_t)len, .waiter = &waiter};
    a->reply = len;
    a->now = 1;
    rmai_net_lock(net);
    code = rmai_submit(net, a, 1);
    if (code == RMA_SUCCESS) code = rmai_net_wait_for(net, a->call, a->pe, &waiter);
    rmai_net_unlock(net);
    return code;
}

int rmai_submit_short(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                      const struct rmai_short_ask *q, int n) {
    struct rmai_ask a[2];
    int code;
    assert(n <= 2 && "a put, and a signal");
    for (int i = 0; i < n; i++)
        a[i] = (struct rmai_ask){.call = call,
                                 .set = s,
                                 .pe = pe,
                                 .by_node = 1,
                                 .r = q[i].r,
                                 .e = q[i].e,
                                 .data = q[i].data,
                                 .expect = {.dest = q[i].dest, .len = q[i].value},
                                 .reply = q[i].value,
                                 .put = q[i].put};
    rmai_net_lock(net);
    code = rmai_submit(net, a, n);
    rmai_net_unlock(net);
    return code;
}
