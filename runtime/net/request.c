/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/request.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/batch.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/quiet.h"
#include "runtime/net/state.h"
#include "runtime/net/stream.h"
#include "runtime/net/submit.h"
#include "runtime/net/window.h"

#include <string.h>

#define INLINE_MOST  ((size_t)4096) /* longer ones are sent by tag: a round trip more, two copies less */
#define INLINE_PIECE ((size_t)3968) /* data of one element: it fits a message, with a word's record */

/* ---- what streams are of ---- */

/* Begins n operations that cannot fail, and for which nobody waits. Most of a stream join the batch that is open while
 * another one is under way. Where the set's lock is the net's, a lone one leaves from here, too. */
static inline __attribute__((always_inline)) int begin_short(struct rmai_net *net, const char *call,
                                                             struct rmai_pending *s, int pe,
                                                             const struct rmai_short_ask *q, int n) {
    struct rmai_peer *p;
    uint64_t mark;
    int begun = 0, look = 0;
    rmai_pending_lock(s);
    p = rmai_peer_to(s, pe, &mark);
    if (RMAI_LIKELY(p != NULL)) {
        if (rmai_gathers(p)) {
            begun = rmai_peer_has_open(p) && rmai_join(p, q, n, mark, NULL);
            look = begun && p->asked % RMAI_ELEMENTS_A_LOOK == 0;
        } else if (net->biased && (p->open || rmai_batch_open(net, p))) {
            begun = rmai_join(p, q, n, mark, NULL);
            if (begun) rmai_batch_send(net, p);
        }
    }
    rmai_pending_unlock(s);
    if (look) rmai_net_progress(net, 1);
    return begun ? RMA_SUCCESS : rmai_submit_short(net, call, s, pe, q, n);
}

/* ---- pieces ---- */

/* Asks for a put or get, in pieces. Returns when all are asked for, or with a waiter when all are done. */
static int move_in_pieces(struct rmai_net *net, struct rmai_ask *a, char *buffer, size_t len, int get,
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
        code = rmai_submit(net, a, 1);
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

int rmai_net_look(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, size_t len,
                  int writes) {
    struct rmai_ask a = {.call = call,
                         .set = s,
                         .pe = pe,
                         .may_fail = 1,
                         .r = {.kind = RMAI_RECORD_LOOK, .op = writes != 0},
                         .e = {.offset = offset, .value = len}};
    return rmai_submit_and_wait(net, &a, NULL, 0);
}

/* Has the owner check the whole range before the first byte moves. For memory of which only the owner knows the end,
 * and for ranges of several pieces: else the first pieces would be moved before a later one is refused. */
static int look_at_whole(struct rmai_net *net, const struct rmai_transfer *t) {
    return t->len > INLINE_PIECE
               ? rmai_net_look(net, t->call, t->set, t->pe, t->offset, t->len, t->access == RMAI_ACCESS_PUT)
               : RMA_SUCCESS;
}

/* 1 if the owner has to look the memory up: attached memory may be gone. */
static int is_attached(uint64_t offset) { return offset >= RMA_GPTR_ATTACHED_; }

/* A put, or a get, of any length, by elements that may fail, or by long data, or that the caller waits for. */
static int move_by_messages(struct rmai_net *net, const struct rmai_transfer *t) {
    const int get = t->access == RMAI_ACCESS_GET;
    struct rmai_ask a = {.call = t->call,
                         .set = t->set,
                         .pe = t->pe,
                         .may_fail = is_attached(t->offset),
                         .by_node = t->len <= INLINE_MOST && !is_attached(t->offset),
                         .put = !get,
                         .r = {.kind = get ? RMAI_RECORD_GET : RMAI_RECORD_PUT},
                         .e = {.offset = t->offset}};
    const int waits = a.may_fail || (get ? t->when == RMAI_NOW : t->len > INLINE_MOST && t->when != RMAI_LATER);
    struct rmai_waiter waiter;
    int code;
    if (waits && !a.by_node) rmai_net_settle(net, t->call, t->set, t->pe);
    if (a.may_fail && (code = look_at_whole(net, t)) != RMA_SUCCESS) return code;
    rmai_waiter_begins(&waiter, 0);
    rmai_net_lock(net);
    code = move_in_pieces(net, &a, t->buffer, t->len, get, waits ? &waiter : NULL);
    rmai_net_unlock(net);
    return code;
}

/* 1 if a short put, for which MPI's window needs the target, is likely to be one of a stream. Alone, with a quiet
 * behind it, it is a little faster through the window; of a stream many go with one message, each as soon as it is
 * copied. So the last one decides: what came before the quiet that completed it. */
static int is_of_stream(struct rmai_pending *s, int pe) {
    const struct rmai_peer *p;
    uint64_t mark;
    int yes;
    rmai_pending_lock(s);
    p = rmai_peer_to(s, pe, &mark);
    yes = p && (!p->last_was_lone || p->listed || s->session);
    rmai_pending_unlock(s);
    return yes;
}

/* 1 if puts to that PE are under way by messages. A get that goes the same way comes after them, and reads what they
 * have written: nothing that the program may rely on, but many do. */
static int has_puts_in_messages(struct rmai_pending *s, int pe) {
    const struct rmai_peer *p;
    uint64_t mark;
    int yes;
    if (atomic_load_explicit(&s->puts, memory_order_relaxed) == RMAI_NO_PUTS) return 0;
    rmai_pending_lock(s);
    p = rmai_peer_to(s, pe, &mark);
    yes = p && (p->under_way > 0 || rmai_peer_has_open(p));
    rmai_pending_unlock(s);
    return yes;
}

int rmai_net_put(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                 const void *source, size_t len, enum rmai_when when) {
    const struct rmai_short_ask put = {
        .r = {.kind = RMAI_RECORD_PUT, .len = (uint16_t)len}, .e = {.offset = offset}, .data = source, .put = 1};
    struct rmai_transfer t = {call, s, offset, (char *)(uintptr_t)source, len, pe, RMAI_ACCESS_PUT, when};
    int code;
    if (len <= RMAI_STREAM_MOST && !is_attached(offset) && !rmai_window_takes_all(net, offset, len, RMAI_ACCESS_PUT) &&
        (when != RMAI_NOW || is_of_stream(s, pe))) {
        rmai_count(s->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
        return begin_short(net, call, s, pe, &put, 1);
    }
    if (rmai_window_move(net, &t, &code)) return code;
    rmai_count(s->traffic, RMA_PATH_REQUEST, RMAI_PUTS, t.len);
    if (t.len == len && len <= INLINE_PIECE && !is_attached(offset)) return begin_short(net, call, s, pe, &put, 1);
    return move_by_messages(net, &t);
}

int rmai_net_get(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, void *dest,
                 size_t len, enum rmai_when when) {
    const struct rmai_short_ask get = {.r = {.kind = RMAI_RECORD_GET, .len = (uint16_t)len},
                                       .e = {.offset = offset},
                                       .dest = dest,
                                       .value = (uint32_t)len};
    struct rmai_transfer t = {call, s, offset, dest, len, pe, RMAI_ACCESS_GET, when};
    int code;
    if (when == RMAI_LATER && len <= RMAI_STREAM_MOST && !is_attached(offset) &&
        !rmai_window_takes_all(net, offset, len, RMAI_ACCESS_GET)) {
        rmai_count(s->traffic, RMA_PATH_REQUEST, RMAI_GETS, len);
        return begin_short(net, call, s, pe, &get, 1);
    }
    if (when == RMAI_NOW && has_puts_in_messages(s, pe)) {
        rmai_count(s->traffic, RMA_PATH_REQUEST, RMAI_GETS, len);
        return move_by_messages(net, &t);
    }
    if (rmai_window_move(net, &t, &code)) return code;
    rmai_count(s->traffic, RMA_PATH_REQUEST, RMAI_GETS, t.len);
    if (t.len == len && when == RMAI_LATER && len <= INLINE_PIECE && !is_attached(offset))
        return begin_short(net, call, s, pe, &get, 1);
    return move_by_messages(net, &t);
}

/* The short way of an atomic whose caller waits: with what has gathered for its PE it leaves at once. Returns 0, with
 * nothing changed, if that PE owes too many replies, or there is no room or no memory. */
static int fetch_at_once(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                         const struct rmai_short_ask *q, int *code) {
    struct rmai_waiter waiter;
    struct rmai_peer *p;
    uint64_t mark;
    int sent = 0;
    rmai_net_lock(net);
    rmai_pending_lock_inner(s);
    p = rmai_peer_to(s, pe, &mark);
    if (RMAI_LIKELY(p && p->under_way < RMAI_CREDITS && (p->open || rmai_batch_open(net, p)))) {
        rmai_waiter_begins(&waiter, 1);
        waiter.pe = p->pe;
        sent = rmai_join(p, q, 1, mark, &waiter);
        if (RMAI_LIKELY(sent)) rmai_batch_send(net, p);
    }
    rmai_pending_unlock_inner(s);
    if (RMAI_LIKELY(sent)) *code = rmai_net_wait_for(net, call, pe, &waiter);
    rmai_net_unlock(net);
    return sent;
}

/* An atomic whose caller waits, or that may fail. */
static int atomic_by_message(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                             const struct rmai_record *r, const struct rmai_element *e, void *old) {
    const int attached = is_attached(e->offset);
    struct rmai_ask a = {
        .call = call, .set = s, .pe = pe, .may_fail = attached, .by_node = !attached, .r = *r, .e = *e};
    unsigned char nothing[8];
    if (attached) rmai_net_settle(net, call, s, pe);
    return rmai_submit_and_wait(net, &a, old ? old : nothing, r->len);
}

int rmai_net_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, int op,
                    size_t len, uint64_t value, uint64_t cond, void *old, int later) {
    const struct rmai_short_ask q = {.r = {.kind = RMAI_RECORD_ATOMIC,
                                           .op = (uint8_t)op,
                                           .flags = old ? RMAI_RECORD_WANTED : 0,
                                           .len = (uint16_t)len},
                                     .e = {.offset = offset, .value = value, .cond = cond},
                                     .dest = old,
                                     .value = (uint32_t)len};
    int code;
    rmai_count(s->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    if (old && !later && !is_attached(offset) && fetch_at_once(net, call, s, pe, &q, &code)) return code;
    if ((old && !later) || is_attached(offset)) return atomic_by_message(net, call, s, pe, &q.r, &q.e, old);
    return begin_short(net, call, s, pe, &q, 1);
}

/* A put of which the data are long, and the signal that follows them. */
static int long_put_signal(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                           const void *source, size_t len, uint64_t word, int op, uint64_t value, enum rmai_when when) {
    struct rmai_ask a = {.call = call,
                         .set = s,
                         .pe = pe,
                         .put = 1,
                         .buffer = (void *)(uintptr_t)source,
                         .r = {.kind = RMAI_RECORD_PUT_LONG, .op = (uint8_t)op, .flags = RMAI_RECORD_SIGNAL},
                         .e = {.offset = offset, .value = len, .word = word, .cond = value}};
    struct rmai_waiter waiter;
    int code;
    rmai_net_settle(net, call, s, pe);
    rmai_waiter_begins(&waiter, 1);
    a.expect.waiter = when == RMAI_LATER ? NULL : &waiter;
    rmai_net_lock(net);
    code = rmai_submit(net, &a, 1);
    if (code == RMA_SUCCESS && when != RMAI_LATER) code = rmai_net_wait_for(net, call, pe, &waiter);
    rmai_net_unlock(net);
    return code;
}

int rmai_net_put_signal(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                        const void *source, size_t len, uint64_t word, int op, size_t word_len, uint64_t value,
                        enum rmai_when when) {
    const struct rmai_short_ask parts[2] = {
        {.r = {.kind = RMAI_RECORD_PUT, .len = (uint16_t)len}, .e = {.offset = offset}, .data = source, .put = 1},
        {.r = {.kind = RMAI_RECORD_ATOMIC, .op = (uint8_t)op, .len = (uint16_t)word_len},
         .e = {.offset = word, .value = value}}};
    int code = rmai_net_release(net, call, s, pe);
    if (code != RMA_SUCCESS) return code;
    rmai_count(s->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    if (len) rmai_count(s->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
    if (len > INLINE_PIECE) return long_put_signal(net, call, s, pe, offset, source, len, word, op, value, when);
    return len ? begin_short(net, call, s, pe, parts, 2) : begin_short(net, call, s, pe, &parts[1], 1);
}

int rmai_net_alloc(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g) {
    struct rmai_ask a = {
        .call = call, .set = s, .pe = pe, .may_fail = 1, .r = {.kind = RMAI_RECORD_ALLOC}, .e = {.value = size}};
    return rmai_submit_and_wait(net, &a, g, sizeof *g);
}

int rmai_net_free(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset) {
    struct rmai_ask a = {
        .call = call, .set = s, .pe = pe, .may_fail = 1, .r = {.kind = RMAI_RECORD_FREE}, .e = {.offset = offset}};
    rmai_net_settle(net, call, s, pe);
    return rmai_submit_and_wait(net, &a, NULL, 0);
}

int rmai_net_extent(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, enum rmai_pool pool,
                    int fresh, size_t *extent) {
    const struct rmai_peer *p;
    int code = fresh ? rmai_dynamic_learn(net, call, s, pe) : RMA_SUCCESS;
    if (code != RMA_SUCCESS) return code;
    rmai_pending_lock(s);
    p = rmai_peer_of(s, pe);
    *extent = p && p->directory ? (size_t)p->directory->extent[pool] : 0;
    rmai_pending_unlock(s);
    return RMA_SUCCESS;
}
