/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/window.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "rma.h"
#include "runtime/net/progress.h"
#include "runtime/net/request.h"
#include "runtime/net/way.h"
#include "runtime/net/wait.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_PIECE       ((size_t)8 << 20)  /* bytes through the window before this PE serves others, */
#define WINDOW_PIECE_LATER ((size_t)64 << 20) /* and in a nonblocking call */
#define STREAM_MOST        ((size_t)1024)     /* bytes of a put that goes into a message if it is one of a stream */
#define DOORBELL_EVERY     64
#define PAUSE              2000000u /* ticks */

/* ---- flushes ---- */

/* What is begun meanwhile touches the flow again. */
int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_flow *f, int for_others) {
    const unsigned touched = f->touched;
    struct rmai_flow_flush mine = {f->flushing, f->touched_age}, **i = &f->flushing;
    int code = RMA_SUCCESS, one;
    f->touched = 0;
    f->flushing = &mine;
    for (int window = 0; window < RMAI_WINDOWS; window++) {
        if (!(touched & 1u << window)) continue;
        one = rmai_net_flush(net, call, (enum rmai_window_kind)window, f->pe, RMAI_FLUSH_PE);
        if (code == RMA_SUCCESS) code = one;
    }
    while (*i != &mine) i = &(*i)->next;
    *i = mine.next;
    f->set->touched -= !f->touched && !f->flushing;
    if (RMAI_UNLIKELY(code != RMA_SUCCESS) && for_others)
        rmai_pending_fail(f->set, f->pe, "transfer through MPI's window, to", code);
    return code;
}

struct rmai_flow *rmai_window_touched(struct rmai_flow *f, const struct rmai_flow *only, uint64_t age) {
    while (f && !(f->touched && f->touched_age <= age && (!only || f == only))) f = f->next;
    return f;
}

static struct rmai_flow *touched_in_fixed(const struct rmai_net *net) {
    for (const struct rmai_pending *s = net->sets; s; s = s->next_set)
        for (struct rmai_flow *f = s->busy; f; f = f->next)
            if (f->touched & 1u << RMAI_FIXED) return f;
    return NULL;
}

/* Other threads may flush at the same time, and use the dynamic window. */
int rmai_window_flush_fixed(struct rmai_net *net, const char *call) {
    struct rmai_net_wait wait;
    struct rmai_flow *f;
    int code = RMA_SUCCESS, one;
    rmai_net_wait_begins(&wait, call, -1);
    while ((f = touched_in_fixed(net)) != NULL || rmai_net_flushes(net, RMAI_FIXED)) {
        if (!f) {
            rmai_net_wait_turn(net, &wait);
            continue;
        }
        one = rmai_window_flush(net, call, f, 1);
        if (code == RMA_SUCCESS) code = one;
    }
    rmai_net_wait_ends(net, &wait);
    return code;
}

static int is_copied(enum rmai_when when, size_t len) { return when != RMAI_LATER && len <= RMAI_COPY_MOST; }

static size_t copy_room(size_t len) { return (len + RMAI_COPY_ALIGN - 1) & ~(RMAI_COPY_ALIGN - 1); }

/* Frees the copies of s, by flushes, if there is no room for one more of len bytes. The caller chooses a window only
 * after that, since this releases the lock. */
static int make_copy_room(struct rmai_net *net, const char *call, struct rmai_pending *s, size_t len) {
    struct rmai_flow *f;
    int code = RMA_SUCCESS;
    uint64_t age;
    if (RMAI_LIKELY(s->copied + copy_room(len) <= RMAI_COPY_ROOM)) return code;
    age = s->age++;
    while (code == RMA_SUCCESS && (f = rmai_window_touched(s->busy, NULL, age)) != NULL)
        code = rmai_window_flush(net, call, f, 1);
    if (code == RMA_SUCCESS && !s->touched) s->copied = 0; /* else another thread's copies may be in use */
    return code;
}

/* Returns a copy of the len bytes at `from` that lives until the windows are flushed for the flow that the caller
 * touches next, or NULL: there is no room or no memory. */
static void *keep_copy(struct rmai_pending *s, const void *from, size_t len) {
    char *copy;
    if (RMAI_UNLIKELY(!s->copies) && !(s->copies = malloc(RMAI_COPY_ROOM))) return NULL;
    if (RMAI_UNLIKELY(s->copied + copy_room(len) > RMAI_COPY_ROOM)) return NULL;
    copy = s->copies + s->copied;
    s->copied += copy_room(len);
    return memcpy(copy, from, len);
}

/* ---- which puts and gets go through a window ---- */

static enum rmai_access access_of(const struct rmai_op *op) {
    return op->kind == RMAI_RECORD_GET ? RMAI_ACCESS_GET : RMAI_ACCESS_PUT;
}

/* 1 if a short put, for which MPI's window needs the target, is likely to be one of a stream. A lone put, followed by a
 * quiet, is a little faster through the window; many puts of a stream share one message, and each returns as soon as it
 * is copied. So the last quiet decides: whether it completed one put or several. */
static int is_of_stream(struct rmai_pending *s, int pe) {
    uint64_t mark;
    const struct rmai_flow *f = rmai_flow_to(s, pe, &mark);
    return f && (!f->last_was_lone || f->listed || s->session);
}

/* 1 if puts to that PE are under way by messages. A get by messages comes after them, and reads what they have written:
 * programs may not rely on that, but many do. */
static int has_puts_in_messages(struct rmai_pending *s, int pe) {
    const struct rmai_flow *f;
    uint64_t mark;
    if (atomic_load_explicit(&s->streams.puts, memory_order_relaxed) == RMAI_NO_PUTS) return 0;
    f = rmai_flow_to(s, pe, &mark);
    return f && rmai_flow_waits(f);
}

int rmai_window_takes(struct rmai_net *net, const struct rmai_op *op) {
    const size_t covered = net->covered;
    const enum rmai_window_kind window = op->offset - net->job->layout.symmetric < covered ? RMAI_FIXED : RMAI_DYNAMIC;
    const struct rmai_route *way = &net->ways.way[window];
    const enum rmai_access access = access_of(op);
    const int all = way->all[access] && rmai_route_takes(way, access, op->len, RMAI_NOW);
    if (op->offset >= RMA_GPTR_ATTACHED_) return 0; /* the program may detach it at any time */
    if (!all && !rmai_route_takes(way, access, op->len, op->when)) return 0;
    if (access == RMAI_ACCESS_GET && op->when == RMAI_NOW) return !has_puts_in_messages(op->set, op->pe);
    return all || op->len > STREAM_MOST || (op->when == RMAI_NOW && !is_of_stream(op->set, op->pe));
}

/* ---- puts and gets ---- */

/* The way of the first len bytes of an operation, and what the caller does next. */
struct target {
    enum rmai_window_kind window;
    uint64_t disp;
    size_t len;
    enum rmai_when when;
};

/* Returns 1, with the rest of *to, if the first to->len bytes of *op, which it may reduce, go through a window; 0 if
 * they go by messages; -1 if the caller has to read the PE's directory first (rmai_dynamic_learn). */
static int choose_window(struct rmai_net *net, const struct rmai_op *op, struct target *to) {
    const size_t at = (size_t)op->offset - net->job->layout.symmetric, covered = net->covered;
    if (RMAI_UNLIKELY(op->set->words_used) && op->kind == RMAI_RECORD_GET) return 0; /* another thread's get */
    if (at < covered && to->len <= covered - at) {
        to->window = RMAI_FIXED;
        to->disp = at + RMAI_PROBE_ROOM;
        return rmai_route_takes(&net->ways.way[RMAI_FIXED], access_of(op), to->len, to->when);
    }
    if (!rmai_route_takes(&net->ways.way[RMAI_DYNAMIC], access_of(op), to->len, to->when)) return 0;
    to->window = RMAI_DYNAMIC;
    return rmai_dynamic_find(net, op->set, op->pe, op->offset, &to->len, &to->disp);
}

/* Notes that a quiet has to flush what goes to the flow's PE. */
static void touch_flow(struct rmai_flow *f, enum rmai_window_kind window) {
    f->set->touched += !f->touched && !f->flushing;
    if (!f->touched) f->touched_age = f->set->age;
    f->touched |= 1u << window;
    f->asked++;
    rmai_flow_list(f);
}

/* Tells the flow's PE now and then, and after each pause, that this PE uses its window. The target's library does not
 * notice accesses through a window; without the doorbell its progress thread would sleep long, and each transfer would
 * wait for that thread. */
static void ring_doorbell(struct rmai_net *net, struct rmai_flow *f) {
    static const struct rmai_envelope doorbell = {
        .kind = RMAI_WIRE_DOORBELL}; /* may still be under way after the set has ended */
    struct rmai_map *map = f->map;
    const uint64_t before = map->used;
    int done;
    map->used = rmai_clock_ticks();
    if (map->used - before < PAUSE && ++map->through_window % DOORBELL_EVERY != 0) return;
    done = rmai_token_done(net->transport, &map->doorbell);
    if (done == 0) return;
    if (done < 0 ||
        rmai_send(net->transport, f->pe, RMAI_SHORT_TAG, &doorbell, sizeof doorbell, &map->doorbell) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

/* Unless the put is nonblocking, the caller may reuse the source when this returns: it copies a short source, since a
 * local flush takes longer. */
static int put_through(struct rmai_net *net, const struct rmai_op *op, const struct target *to, struct rmai_flow *f) {
    const char *source = op->buffer, *copy = NULL;
    int code;
    if (is_copied(to->when, to->len)) copy = keep_copy(op->set, source, to->len);
    touch_flow(f, to->window);
    rmai_pending_note_put(op->set, op->pe, 0);
    code = rmai_transport_put(net->transport, op->call, to->window, op->pe, to->disp, copy ? copy : source, to->len);
    if (code != RMA_SUCCESS || copy || to->when == RMAI_LATER) return code;
    return rmai_net_flush(net, op->call, to->window, op->pe, RMAI_FLUSH_LOCAL);
}

/* A blocking get may use a full flush instead of a local one: MPICH does it some ten nanoseconds faster. MPI may store
 * a word twice, so it writes a short blocking get to a buffer of the set's. */
static int get_through(struct rmai_net *net, const struct rmai_op *op, const struct target *to, struct rmai_flow *f) {
    const int is_short = to->when != RMAI_LATER && to->len <= sizeof op->set->words;
    int code;
    if (to->when == RMAI_LATER) touch_flow(f, to->window);
    code = rmai_transport_get(net->transport, op->call, to->window, op->pe, to->disp,
                              is_short ? (char *)op->set->words : op->buffer, to->len);
    if (code != RMA_SUCCESS || to->when == RMAI_LATER) return code;
    op->set->words_used += is_short;
    code = rmai_net_flush(net, op->call, to->window, op->pe, RMAI_FLUSH_PE);
    op->set->words_used -= is_short;
    if (code == RMA_SUCCESS && is_short) rma_move_(op->buffer, op->set->words, to->len);
    return code;
}

static int move_through(struct rmai_net *net, const struct rmai_op *op, const struct target *to) {
    struct rmai_flow *f = rmai_flow_of(op->set, op->pe);
    int code;
    if (!f || !rmai_flow_map(f)) return rmai_net_no_memory(op->call, op->pe);
    code = op->kind == RMAI_RECORD_GET ? get_through(net, op, to, f) : put_through(net, op, to, f);
    if (code == RMA_SUCCESS && net->ways.way[to->window].needs_target[access_of(op)]) ring_doorbell(net, f);
    return code;
}

/* Returns 1, with *code, if to->len bytes of *op went through a window, or something has failed before; else 0. The
 * lock is held from the choice of the window until MPI has taken the transfer and, if it is flushed at once, until the
 * flush is noted. A thread that replaces the fixed window first sets `covered` to 0, and then waits until no flow is
 * touched in it and nobody flushes it (rmai_window_flush_fixed): so nobody uses the window when it is freed. */
static int use_window(struct rmai_net *net, const struct rmai_op *op, struct target *to, int *code) {
    int goes;
    *code = RMA_SUCCESS;
    if (op->kind != RMAI_RECORD_GET && is_copied(to->when, to->len))
        *code = make_copy_room(net, op->call, op->set, to->len);
    if (RMAI_UNLIKELY(*code != RMA_SUCCESS)) return 1;
    goes = choose_window(net, op, to);
    if (RMAI_UNLIKELY(goes < 0)) {
        *code = rmai_dynamic_learn(net, op->call, op->set, op->pe);
        if (*code != RMA_SUCCESS) return 1;
        goes = choose_window(net, op, to);
    }
    if (goes <= 0) return 0;
    *code = move_through(net, op, to);
    return 1;
}

/* Does the operation in pieces; those that no window covers go by messages. */
int rmai_window_move(struct rmai_net *net, const struct rmai_op *op) {
    const size_t most = op->when == RMAI_LATER ? WINDOW_PIECE_LATER : WINDOW_PIECE;
    struct rmai_op rest = *op;
    int code = RMA_SUCCESS;
    while (rest.len > 0) {
        struct target to = {.len = rmai_min(rest.len, most), .when = rest.len > most ? RMAI_NOW : rest.when};
        if (RMAI_UNLIKELY(rest.len < op->len)) {
            rmai_flows_send_gathered(net);
            rmai_net_drive_once(net);
            rmai_net_yield_lock(net);
        }
        if (!use_window(net, &rest, &to, &code)) {
            rmai_add(&op->set->traffic->path[RMA_PATH_WINDOW][rmai_record_traffic(op->kind) + 1], op->len - rest.len);
            return rmai_request_move(net, &rest);
        }
        if (code != RMA_SUCCESS) return code;
        rest.offset += to.len;
        rest.buffer = (char *)rest.buffer + to.len;
        rest.len -= to.len;
    }
    rmai_count(op->set->traffic, RMA_PATH_WINDOW, rmai_record_traffic(op->kind), op->len);
    return code;
}
