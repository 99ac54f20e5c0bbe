/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of a PE of another node by messages, in records that gather in batches. */
#include "config.h"

#include "runtime/net/request.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/batch.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/quiet.h"
#include "runtime/net/state.h"
#include "runtime/net/window.h"

#include <string.h>

#define INLINE_MOST    ((size_t)4096) /* longer ones are sent by tag: a round trip more, two copies less */
#define INLINE_PIECE   ((size_t)3968) /* data of one record: it fits a message, with a word's record */
#define RECORDS_A_LOOK 16             /* added between looks for replies */

/* ---- records into batches ---- */

/* What one record asks for. The pieces of one call share most of it. */
struct ask {
    const char *call;
    struct rmai_pending *set;
    int pe, may_fail;
    struct rmai_record r;
    const void *data; /* of r.len bytes, with RMAI_RECORD_PUT, RMAI_RECORD_PUT_LONG */
    struct rmai_expect expect;
    size_t reply; /* bytes of data in the item, at most */
    int put;      /* it writes: a release has to wait for it */
    int now;      /* the call waits for it */
    int hold;     /* the next record goes with it */
    void *buffer; /* of long data, r.value bytes; or NULL */
};

/* The record with its name and data, and what it may bring back. */
struct need {
    size_t name, bytes, reply;
};

static struct need need_of(const struct ask *a) {
    struct need need = {.name = a->may_fail ? strlen(a->call) : 0};
    need.bytes = sizeof a->r + rmai_padded(need.name) + rmai_padded(rmai_data_after(&a->r));
    need.reply = sizeof(struct rmai_item) + rmai_padded(a->may_fail ? rmai_max(a->reply, RMAI_TEXT_MAX) : a->reply);
    return need;
}

static int fits_batch(const struct rmai_batch *batch, const struct need *need) {
    return batch->n < RMAI_RECORDS && batch->bytes + need->bytes <= RMAI_MESSAGE &&
           batch->reply + need->reply <= RMAI_MESSAGE;
}

/* Adds the record to p's open batch. Only now p is listed as pending: while this thread waited for room, another thread
 * may have been in a quiet, which took p off the list. */
static void append_record(struct rmai_peer *p, const struct ask *a, const struct need *need) {
    struct rmai_batch *batch = p->open;
    unsigned char *at = batch->message + batch->bytes;
    struct rmai_record r = a->r;
    size_t data = rmai_data_after(&r);
    r.name = (uint8_t)need->name;
    memcpy(at, &r, sizeof r);
    if (need->name) memcpy(at + sizeof r, a->call, need->name);
    if (data) memcpy(at + sizeof r + rmai_padded(need->name), a->data, data);
    batch->bytes += need->bytes;
    batch->reply += need->reply;
    batch->expect[batch->n++] = a->expect;
    if (a->now) batch->awaited = 1;
    rmai_peer_list(p);
    if (a->put) rmai_pending_note_put(p->set, p->pe, r.kind == RMAI_RECORD_PUT);
}

/* Adds the record to the batch that is open while another one is under way, or in a session, as most records of a
 * stream do: for that the set's lock is enough. Returns 0 if the net's lock is needed, since a batch has to be taken or
 * sent. */
static int join_open_batch(struct rmai_net *net, const struct ask *a) {
    struct rmai_pending *s = a->set;
    const struct need need = need_of(a);
    struct rmai_batch *batch = NULL;
    int look = 0;
    rmai_pending_lock(s);
    if (RMAI_LIKELY(s->last && s->last->pe == a->pe && (s->last->under_way > 0 || s->session))) batch = s->last->open;
    if (batch && batch->n && fits_batch(batch, &need)) {
        append_record(s->last, a, &need);
        look = batch->n % RECORDS_A_LOOK == 0;
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

/* Ties the long data to the batch. What is to be got has its receive posted before the request is sent: then the
 * target's data never arrive unexpected. */
static void attach_long_data(struct rmai_net *net, struct rmai_batch *batch, const struct ask *a) {
    batch->buffer = a->buffer;
    batch->len = (size_t)a->r.value;
    batch->get = a->r.kind == RMAI_RECORD_GET_LONG;
    if (batch->get && rmai_receive(net->transport, a->pe, rmai_long_tag(batch->id, 1), batch->buffer, batch->len,
                                   &batch->data) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

/* Adds the record to the peer's open batch. The net's lock is held. Returns RMA_SUCCESS or RMA_ERR_NO_MEM. */
static int add_record(struct rmai_net *net, const struct ask *a) {
    struct rmai_pending *s = a->set;
    const struct need need = need_of(a);
    struct rmai_peer *p;
    int due = 0;
    rmai_pending_lock(s);
    p = make_room(net, a, &need);
    if (p) {
        if (a->buffer) attach_long_data(net, p->open, a);
        append_record(p, a, &need);
        if (a->buffer || (!a->hold && ((p->under_way == 0 && !s->session) || (a->now && p->under_way < RMAI_CREDITS))))
            rmai_batch_send(net, p);
        else
            due = !a->hold && p->open->n % RECORDS_A_LOOK == 0;
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
            a->r.value = n;
            a->buffer = buffer + done;
        } else if (get) {
            a->r.value = a->reply = n;
            a->expect.dest = buffer + done;
            a->expect.len = (uint32_t)n;
        } else {
            a->r.len = (uint32_t)n;
            a->data = buffer + done;
        }
        code = add_record(net, a);
        if (waiter && code != RMA_SUCCESS) waiter->left--;
        a->r.offset += n;
    }
    /* Also after a piece that could not be asked for: the replies to the others will write to our waiter. */
    if (waiter) {
        int waited = rmai_net_wait_for(net, a->call, a->pe, waiter);
        if (code == RMA_SUCCESS) code = waited;
    }
    return code;
}

/* Asks for one record and waits for its reply, whose value goes to dest. */
static int ask_and_wait(struct rmai_net *net, struct ask *a, void *dest, size_t len) {
    struct rmai_waiter waiter = {.left = 1};
    int code;
    a->expect = (struct rmai_expect){.dest = dest, .len = (uint32_t)len, .waiter = &waiter};
    a->reply = len;
    a->now = 1;
    rmai_net_lock(net);
    code = add_record(net, a);
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
                    .r = {.kind = RMAI_RECORD_LOOK, .op = !get, .offset = offset, .value = len}};
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
                     .r = {.kind = RMAI_RECORD_PUT, .offset = offset}};
    waiter = (struct rmai_waiter){0};
    rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
    if (a.may_fail && (code = look_at_whole(net, call, s, pe, offset, len, 0)) != RMA_SUCCESS) return code;
    if (!a.may_fail && len <= INLINE_PIECE) {
        a.r.len = (uint32_t)len;
        a.data = source;
        if (join_open_batch(net, &a)) return RMA_SUCCESS;
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
                     .r = {.kind = RMAI_RECORD_GET, .offset = offset}};
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
                          .len = (uint32_t)len,
                          .offset = offset,
                          .value = value,
                          .cond = cond}};
    unsigned char nothing[8];
    int code;
    if (rmai_net_by_mpi(net, net->job->layout.symmetric, offset))
        return rmai_window_atomic(net, call, s, pe, offset, op, len, value, cond, old, later);
    rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    if ((old && !later) || a.may_fail) return ask_and_wait(net, &a, old ? old : nothing, len);
    a.expect = (struct rmai_expect){.dest = old, .len = (uint32_t)len};
    a.reply = old ? len : 0;
    if (join_open_batch(net, &a)) return RMA_SUCCESS;
    rmai_net_lock(net);
    code = add_record(net, &a);
    rmai_net_unlock(net);
    return code;
}

int rmai_net_put_signal(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                        const void *source, size_t len, uint64_t word, int op, size_t word_len, uint64_t value,
                        enum rmai_when when, int urgent) {
    struct ask put = {.call = call,
                      .set = s,
                      .pe = pe,
                      .put = !urgent,
                      .hold = 1,
                      .data = source,
                      .r = {.kind = RMAI_RECORD_PUT, .len = (uint32_t)len, .offset = offset}};
    struct ask signal = {
        .call = call,
        .set = s,
        .pe = pe,
        .now = urgent,
        .r = {
            .kind = RMAI_RECORD_ATOMIC, .op = (uint8_t)op, .len = (uint32_t)word_len, .offset = word, .value = value}};
    struct ask together = {.call = call,
                           .set = s,
                           .pe = pe,
                           .put = 1,
                           .data = &word,
                           .buffer = (void *)(uintptr_t)source,
                           .r = {.kind = RMAI_RECORD_PUT_LONG,
                                 .op = (uint8_t)op,
                                 .flags = RMAI_RECORD_SIGNAL,
                                 .len = sizeof word,
                                 .offset = offset,
                                 .value = len,
                                 .cond = value}};
    struct rmai_waiter waiter = {.left = 1};
    int code = urgent ? RMA_SUCCESS : rmai_net_release(net, call, s, pe);
    if (code != RMA_SUCCESS) return code;
    rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    if (len) rmai_count(net->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
    rmai_net_lock(net);
    if (len <= INLINE_PIECE) {
        code = len ? add_record(net, &put) : RMA_SUCCESS;
        if (code == RMA_SUCCESS) code = add_record(net, &signal);
    } else {
        together.expect.waiter = when == RMAI_LATER ? NULL : &waiter;
        code = add_record(net, &together);
        if (code == RMA_SUCCESS && when != RMAI_LATER) code = rmai_net_wait_for(net, call, pe, &waiter);
    }
    rmai_net_unlock(net);
    return code;
}

int rmai_net_alloc(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g) {
    struct ask a = {.call = call, .set = s, .pe = pe, .may_fail = 1, .r = {.kind = RMAI_RECORD_ALLOC, .value = size}};
    return ask_and_wait(net, &a, g, sizeof *g);
}

int rmai_net_free(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset) {
    struct ask a = {.call = call, .set = s, .pe = pe, .may_fail = 1, .r = {.kind = RMAI_RECORD_FREE, .offset = offset}};
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
