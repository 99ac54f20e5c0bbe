/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of a PE of another node by messages, in records that gather in batches. */
#include "config.h"

#include "runtime/net/request.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/batch.h"
#include "runtime/net/link.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/quiet.h"
#include "runtime/net/state.h"
#include "runtime/net/window.h"

#include <string.h>

#define INLINE_MOST    ((size_t)4096) /* longer ones are sent by tag: a round trip more, two copies less */
#define INLINE_PIECE   ((size_t)3968) /* data of one record: it fits a message, with a word's record */
#define ELEMENTS_A_LOOK 32            /* added between looks for replies */

/* ---- elements into batches ---- */

/* What one element asks for. The pieces of one call share most of it. */
struct ask {
    const char *call;
    struct rmai_pending *set;
    int pe, may_fail;
    struct rmai_record r;
    struct rmai_element e;
    const void *data; /* of r.len bytes, with RMAI_RECORD_PUT */
    struct rmai_expect expect;
    size_t reply; /* bytes of data in the item, at most */
    int put;      /* it writes: a release has to wait for it */
    int now;      /* the call waits for it */
    void *buffer; /* of long data, e.value bytes; or NULL */
};

/* A record of one element with its name, and what it may bring back. */
struct need {
    size_t bytes, reply;
    unsigned expects;
};

static struct need need_of(const struct ask *a) {
    struct need need = {.bytes = sizeof a->r + rmai_wire_element_bytes(&a->r)};
    if (a->may_fail) need.bytes += rmai_padded(strlen(a->call));
    if (a->may_fail || rmai_wire_expects(&a->r)) {
        need.expects = 1;
        need.reply =
            sizeof(struct rmai_item) + rmai_padded(a->may_fail ? rmai_max(a->reply, RMAI_TEXT_MAX) : a->reply);
    }
    return need;
}

/* What n records need together. */
static struct need need_of_all(const struct ask *a, int n) {
    struct need all = need_of(a);
    for (int i = 1; i < n; i++) {
        const struct need one = need_of(&a[i]);
        all.bytes += one.bytes;
        all.reply += one.reply;
        all.expects += one.expects;
    }
    return all;
}

static int fits_batch(const struct rmai_batch *batch, const struct need *need) {
    return batch->n_expects + need->expects <= RMAI_EXPECTS && batch->bytes + need->bytes <= RMAI_MESSAGE &&
           batch->reply + need->reply <= RMAI_MESSAGE;
}

/* Begins a record of one element behind the others of the batch, with its name. */
static void begin_record(struct rmai_batch *batch, const struct ask *a) {
    struct rmai_record r = a->r;
    r.n = 1;
    r.name = (uint8_t)(a->may_fail ? strlen(a->call) : 0);
    memcpy(batch->message + batch->bytes, &r, sizeof r);
    if (r.name) memcpy(batch->message + batch->bytes + sizeof r, a->call, r.name);
    batch->last = batch->bytes;
    batch->bytes += sizeof r + rmai_padded(r.name);
    if (rmai_wire_expects(&r)) batch->reply += sizeof(struct rmai_item);
    batch->n++;
}

/* Makes the element one of the last record's, if that one is of the same kind and can be a run. Returns 0 if not. */
static int join_run(struct rmai_batch *batch, const struct ask *a) {
    struct rmai_record last, mine = a->r;
    if (a->may_fail || batch->n == 0) return 0;
    memcpy(&last, batch->message + batch->last, sizeof last);
    mine.n = last.n;
    if (memcmp(&mine, &last, sizeof mine) != 0) return 0;
    if (mine.kind != RMAI_RECORD_PUT && mine.kind != RMAI_RECORD_ATOMIC && mine.kind != RMAI_RECORD_GET) return 0;
    last.n++;
    memcpy(batch->message + batch->last, &last, sizeof last);
    return 1;
}

/* Adds the element to p's open batch. Only now p is listed as pending: while this thread waited for room, another
 * thread may have been in a quiet, which took p off the list. */
static void append_element(struct rmai_peer *p, const struct ask *a) {
    struct rmai_batch *batch = p->open;
    unsigned char *at;
    size_t operands = rmai_wire_words(&a->r) * sizeof(uint64_t);
    if (!join_run(batch, a)) begin_record(batch, a);
    at = batch->message + batch->bytes;
    memcpy(at, &a->e, operands);
    if (a->r.kind == RMAI_RECORD_PUT) memcpy(at + operands, a->data, a->r.len);
    batch->bytes += rmai_wire_element_bytes(&a->r);
    if (a->may_fail || rmai_wire_expects(&a->r)) {
        batch->reply += rmai_padded(a->may_fail ? rmai_max(a->reply, RMAI_TEXT_MAX) : a->reply);
        batch->expect[batch->n_expects++] = a->expect;
    }
    rmai_peer_list(p);
    p->asked++;
    if (a->put) rmai_pending_note_put(p->set, p->pe, a->r.kind == RMAI_RECORD_PUT);
}

/* Adds n elements to the batch that is open while another one is under way, as most of a stream do: for that the set's
 * lock is enough. Returns 0 if the net's lock is needed, since a batch has to be taken or sent. */
static int join_open_batch(struct rmai_net *net, const struct ask *a, int n) {
    struct rmai_pending *s = a->set;
    const struct need need = need_of_all(a, n);
    struct rmai_batch *batch = NULL;
    int look = 0;
    rmai_pending_lock(s);
    if (RMAI_LIKELY(s->last && s->last->pe == a->pe && s->last->under_way > 0)) batch = s->last->open;
    if (batch && batch->n && fits_batch(batch, &need)) {
        for (int i = 0; i < n; i++) append_element(s->last, &a[i]);
        look = s->last->asked % ELEMENTS_A_LOOK == 0;
    } else {
        batch = NULL;
    }
    rmai_pending_unlock(s);
    if (look) rmai_net_progress(net, 1);
    return batch != NULL;
}

/* 1 if the record can join p's open batch. Long data travel with a batch of their own. */
static int has_room(const struct rmai_peer *p, const struct ask *a, const struct need *need) {
    if (!p->open) return 0;
    if (a->buffer) return p->open->n == 0 && p->under_way < RMAI_CREDITS;
    return fits_batch(p->open, need);
}

/* Returns the peer, with an open batch that has room for the record, or NULL without memory. Both locks are held; while
 * this waits for room, the set's lock is released. */
static struct rmai_peer *make_room(struct rmai_net *net, const struct ask *a, const struct need *need) {
    struct rmai_pending *s = a->set;
    struct rmai_peer *p = rmai_peer_of(s, a->pe);
    struct rmai_net_wait wait;
    int waited = 0;
    while (p && !has_room(p, a, need)) {
        if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) {
            rmai_batch_send(net, p);
        } else if (!p->link && !(p->link = rmai_link_to(net, p->pe))) {
            p = NULL;
        } else if (!p->open && (p->open = rmai_batch_take(net)) != NULL) {
            p->open->peer = p;
        } else if (!p->open && net->n_batches == 0) {
            p = NULL;
        } else {
            rmai_pending_unlock(s);
            if (!waited++) wait = rmai_net_wait_begins(a->call, a->pe);
            rmai_net_wait_turn(net, &wait);
            rmai_pending_lock(s);
        }
    }
    if (waited) rmai_net_wait_ends(net, &wait);
    return p;
}

/* Ties the long data to the open batch. What is to be got has its receive posted before the request is sent: then the
 * target's data never arrive unexpected. */
static void attach_long_data(struct rmai_net *net, struct rmai_batch *batch, const struct ask *a) {
    batch->buffer = a->buffer;
    batch->len = (size_t)a->e.value;
    batch->get = a->r.kind == RMAI_RECORD_GET_LONG;
    if (batch->get && rmai_receive(net->transport, a->pe, rmai_long_tag(batch->id, 1), batch->buffer, batch->len,
                                   &batch->data) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

/* Adds n elements to the open batch of their peer. They go with one message; long data come alone. The net's lock is
 * held. Returns RMA_SUCCESS or RMA_ERR_NO_MEM. */
static int add_elements(struct rmai_net *net, const struct ask *a, int n) {
    struct rmai_pending *s = a->set;
    const struct need need = need_of_all(a, n);
    struct rmai_peer *p;
    int due = 0;
    rmai_pending_lock(s);
    p = make_room(net, a, &need);
    if (p) {
        if (a->buffer) attach_long_data(net, p->open, a);
        for (int i = 0; i < n; i++) append_element(p, &a[i]);
        if (a->buffer || p->under_way == 0 || (a->now && p->under_way < RMAI_CREDITS))
            rmai_batch_send(net, p);
        else
            due = p->asked % ELEMENTS_A_LOOK == 0;
    }
    rmai_pending_unlock(s);
    if (due) rmai_net_drive(net);
    return p ? RMA_SUCCESS : rmai_net_no_memory(a->call, a->pe);
}

/* Asks for a put or get, in pieces. Returns when all are asked for, or with a waiter when all are done. */
static int move_in_pieces(struct rmai_net *net, struct ask *a, char *buffer, size_t len, int get,
                          struct rmai_waiter *waiter) {
    int longs = len > INLINE_MOST, code = RMA_SUCCESS;
    size_t most = longs ? RMAI_PIECE : INLINE_PIECE;
    a->expect.waiter = waiter;
    for (size_t done = 0, n; code == RMA_SUCCESS && done < len; done += n) {
        n = rmai_min(len - done, most);
        if (waiter) waiter->left++;
        a->now = waiter && done + n == len;
        if (longs) {
            a->r.kind = get ? RMAI_RECORD_GET_LONG : RMAI_RECORD_PUT_LONG;
            a->e.value = n;
            a->buffer = buffer + done;
        } else if (get) {
            a->r.len = (uint16_t)n;
            a->reply = n;
            a->expect.dest = buffer + done;
            a->expect.len = (uint32_t)n;
        } else {
            a->r.len = (uint16_t)n;
            a->data = buffer + done;
        }
        code = add_elements(net, a, 1);
        if (waiter && code != RMA_SUCCESS) waiter->left--;
        a->e.offset += n;
    }
    /* Also after a piece that could not be asked for: the replies to the others will write to our waiter. */
    if (waiter) {
        int waited = rmai_net_wait_for(net, a->call, a->pe, waiter);
        if (code == RMA_SUCCESS) code = waited;
    }
    return code;
}

/* Asks for one element and waits for its reply, whose value goes to dest. */
static int ask_and_wait(struct rmai_net *net, struct ask *a, void *dest, size_t len) {
    struct rmai_waiter waiter = {.left = 1};
    int code;
    a->expect = (struct rmai_expect){.dest = dest, .len = (uint32_t)len, .waiter = &waiter};
    a->reply = len;
    a->now = 1;
    rmai_net_lock(net);
    code = add_elements(net, a, 1);
    if (code == RMA_SUCCESS) code = rmai_net_wait_for(net, a->call, a->pe, &waiter);
    rmai_net_unlock(net);
    return code;
}

/* Has the owner check the whole range before the first byte moves. For memory of which only the owner knows the end,
 * and for ranges of several pieces: else the first pieces would be moved before a later one is refused. */
static int look_at_whole(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                         size_t len, int get) {
    struct ask a = {.call = call,
                    .set = s,
                    .pe = pe,
                    .may_fail = 1,
                    .r = {.kind = RMAI_RECORD_LOOK, .op = !get},
                    .e = {.offset = offset, .value = len}};
    return len > INLINE_PIECE ? ask_and_wait(net, &a, NULL, 0) : RMA_SUCCESS;
}

/* 1 if the owner has to look the memory up: attached memory may be gone. */
static int is_attached(uint64_t offset) { return offset >= RMA_GPTR_ATTACHED_; }

int rmai_net_put(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                 const void *source, size_t len, enum rmai_when when) {
    struct ask a;
    struct rmai_waiter waiter;
    size_t done;
    int code;
    if (rmai_window_move(net, call, s, pe, offset, (char *)(uintptr_t)source, len, when, 0, &done, &code)) return code;
    offset += done;
    source = (const char *)source + done;
    len -= done;
    a = (struct ask){.call = call,
                     .set = s,
                     .pe = pe,
                     .may_fail = is_attached(offset),
                     .put = 1,
                     .r = {.kind = RMAI_RECORD_PUT},
                     .e = {.offset = offset}};
    waiter = (struct rmai_waiter){0};
    rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
    if (a.may_fail && (code = look_at_whole(net, call, s, pe, offset, len, 0)) != RMA_SUCCESS) return code;
    if (!a.may_fail && len <= INLINE_PIECE) {
        a.r.len = (uint16_t)len;
        a.data = source;
        if (join_open_batch(net, &a, 1)) return RMA_SUCCESS;
    }
    rmai_net_lock(net);
    code = move_in_pieces(net, &a, (char *)(uintptr_t)source, len, 0,
                          a.may_fail || (len > INLINE_MOST && when != RMAI_LATER) ? &waiter : NULL);
    rmai_net_unlock(net);
    return code;
}

int rmai_net_get(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, void *dest,
                 size_t len, enum rmai_when when) {
    struct ask a;
    struct rmai_waiter waiter;
    size_t done;
    int code;
    if (rmai_window_move(net, call, s, pe, offset, dest, len, when, 1, &done, &code)) return code;
    offset += done;
    dest = (char *)dest + done;
    len -= done;
    a = (struct ask){.call = call,
                     .set = s,
                     .pe = pe,
                     .may_fail = is_attached(offset),
                     .r = {.kind = RMAI_RECORD_GET},
                     .e = {.offset = offset}};
    waiter = (struct rmai_waiter){0};
    rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_GETS, len);
    if (a.may_fail && (code = look_at_whole(net, call, s, pe, offset, len, 1)) != RMA_SUCCESS) return code;
    rmai_net_lock(net);
    code = move_in_pieces(net, &a, dest, len, 1, a.may_fail || when == RMAI_NOW ? &waiter : NULL);
    rmai_net_unlock(net);
    return code;
}

int rmai_net_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, int op,
                    size_t len, uint64_t value, uint64_t cond, void *old, int later) {
    struct ask a = {.call = call,
                    .set = s,
                    .pe = pe,
                    .may_fail = is_attached(offset),
                    .r = {.kind = RMAI_RECORD_ATOMIC,
                          .op = (uint8_t)op,
                          .flags = old ? RMAI_RECORD_WANTED : 0,
                          .len = (uint16_t)len},
                    .e = {.offset = offset, .value = value, .cond = cond}};
    unsigned char nothing[8];
    int code;
    if (rmai_net_by_mpi(net, net->job->layout.symmetric, offset))
        return rmai_window_atomic(net, call, s, pe, offset, op, len, value, cond, old, later);
    rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    if ((old && !later) || a.may_fail) return ask_and_wait(net, &a, old ? old : nothing, len);
    a.expect = (struct rmai_expect){.dest = old, .len = (uint32_t)len};
    a.reply = old ? len : 0;
    if (join_open_batch(net, &a, 1)) return RMA_SUCCESS;
    rmai_net_lock(net);
    code = add_elements(net, &a, 1);
    rmai_net_unlock(net);
    return code;
}

int rmai_net_put_signal(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                        const void *source, size_t len, uint64_t word, int op, size_t word_len, uint64_t value,
                        enum rmai_when when, int urgent) {
    struct ask parts[2] = {{.call = call,
                            .set = s,
                            .pe = pe,
                            .put = !urgent,
                            .now = urgent,
                            .data = source,
                            .r = {.kind = RMAI_RECORD_PUT, .len = (uint16_t)len},
                            .e = {.offset = offset}},
                           {.call = call,
                            .set = s,
                            .pe = pe,
                            .now = urgent,
                            .r = {.kind = RMAI_RECORD_ATOMIC, .op = (uint8_t)op, .len = (uint16_t)word_len},
                            .e = {.offset = word, .value = value}}};
    struct ask together = {.call = call,
                           .set = s,
                           .pe = pe,
                           .put = 1,
                           .buffer = (void *)(uintptr_t)source,
                           .r = {.kind = RMAI_RECORD_PUT_LONG, .op = (uint8_t)op, .flags = RMAI_RECORD_SIGNAL},
                           .e = {.offset = offset, .value = len, .word = word, .cond = value}};
    const int first = len == 0; /* of the parts */
    struct rmai_waiter waiter = {.left = 1};
    int code = urgent ? RMA_SUCCESS : rmai_net_release(net, call, s, pe);
    if (code != RMA_SUCCESS) return code;
    rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    if (len) rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
    if (len <= INLINE_PIECE && !urgent && join_open_batch(net, &parts[first], 2 - first)) return RMA_SUCCESS;
    rmai_net_lock(net);
    if (len <= INLINE_PIECE) {
        code = add_elements(net, &parts[first], 2 - first);
    } else {
        together.expect.waiter = when == RMAI_LATER ? NULL : &waiter;
        code = add_elements(net, &together, 1);
        if (code == RMA_SUCCESS && when != RMAI_LATER) code = rmai_net_wait_for(net, call, pe, &waiter);
    }
    rmai_net_unlock(net);
    return code;
}

int rmai_net_alloc(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g) {
    struct ask a = {.call = call, .set = s, .pe = pe, .may_fail = 1, .r = {.kind = RMAI_RECORD_ALLOC}, .e = {.value = size}};
    return ask_and_wait(net, &a, g, sizeof *g);
}

int rmai_net_free(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset) {
    struct ask a = {.call = call, .set = s, .pe = pe, .may_fail = 1, .r = {.kind = RMAI_RECORD_FREE}, .e = {.offset = offset}};
    return ask_and_wait(net, &a, NULL, 0);
}

int rmai_net_extent(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, enum rmai_pool pool,
                    int fresh, size_t *extent) {
    struct ask a = {.call = call, .set = s, .pe = pe, .r = {.kind = RMAI_RECORD_EXTENTS}};
    size_t now[RMAI_POOLS];
    struct rmai_peer *p;
    int code = RMA_SUCCESS;
    if (fresh) code = ask_and_wait(net, &a, now, sizeof now);
    if (code != RMA_SUCCESS) return code;
    rmai_pending_lock(s);
    p = rmai_peer_of(s, pe);
    /* Extents only grow: an older reply may come later. */
    for (int i = 0; p && fresh && i < RMAI_POOLS; i++) p->extent[i] = rmai_max(p->extent[i], now[i]);
    *extent = p ? p->extent[pool] : 0;
    rmai_pending_unlock(s);
    return RMA_SUCCESS;
}
