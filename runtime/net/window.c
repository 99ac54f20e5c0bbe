/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/window.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "rma.h"
#include "runtime/net/batch.h"
#include "runtime/net/message.h"
#include "runtime/net/peer.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/ways.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_PIECE       ((size_t)8 << 20)  /* bytes through the window before this PE serves others, */
#define WINDOW_PIECE_LATER ((size_t)64 << 20) /* and in a nonblocking call */
#define STREAM_MOST        ((size_t)1024)     /* bytes of a put that goes into a message if it is one of a stream */
#define DOORBELL_EVERY     64
#define PAUSE              2000000u /* ticks */

/* ---- one flush ---- */

/* The caller holds the set's lock. A biased lock that was entered only for the set is left meanwhile, so that the
 * progress thread can serve others. */
static int flush_window(struct rmai_net *net, const char *call, struct rmai_pending *s, enum rmai_window_kind window,
                        int pe, enum rmai_flush_kind kind) {
    const int leaves = net->biased && rmai_biased_inside(&net->bias) == 1;
    int code;
    rmai_flush_begins(&s->flush, call, pe);
    if (leaves) rmai_biased_leave(&net->bias);
    code = rmai_transport_flush(net->transport, call, window, pe, kind);
    if (leaves) rmai_biased_enter(&net->bias);
    rmai_flush_ends(&s->flush);
    return code;
}

/* ---- the dynamic window: what this PE attaches ---- */

void rmai_dynamic_open(struct rmai_net *net, struct rmai_directory *own, char *const address[RMAI_PARTS]) {
    net->dynamic.own = own;
    memset(own->attached, 0, sizeof own->attached); /* what was attached to an earlier window of this job */
    for (int i = 0; i < RMAI_PARTS; i++)
        __atomic_store_n(&own->address[i], (uint64_t)(uintptr_t)address[i], __ATOMIC_RELEASE);
}

/* Returns 1 if it is attached. After the first refusal, which is reported once, nothing more is attached: the
 * registration limit is reached. */
static int attach_memory(struct rmai_net *net, void *base, size_t size) {
    struct rmai_error_kept kept;
    int code;
    if (atomic_load_explicit(&net->dynamic.refused, memory_order_relaxed)) return 0;
    rmai_error_keep(&kept);
    code = rmai_transport_attach(net->transport, base, size);
    if (code != RMA_SUCCESS && !atomic_exchange_explicit(&net->dynamic.refused, 1, memory_order_relaxed))
        rmai_note(
            "PE %d: MPI's dynamic window takes no more memory, %zu bytes at %p are the first that it refuses; other "
            "nodes reach these, and what comes after, by messages: %s",
            net->job->my_pe, size, base, rma_last_error());
    rmai_error_restore(&kept);
    return code == RMA_SUCCESS;
}

void rmai_dynamic_detach(struct rmai_net *net, void *base) {
    struct rmai_error_kept kept;
    rmai_error_keep(&kept);
    if (rmai_transport_detach(net->transport, base) != RMA_SUCCESS)
        rmai_note("PE %d: memory at %p stays in MPI's dynamic window: %s", net->job->my_pe, (void *)base,
                  rma_last_error());
    rmai_error_restore(&kept);
}

void rmai_dynamic_grown(struct rmai_net *net) {
    atomic_fetch_add_explicit(&net->dynamic.growths, 1, memory_order_relaxed);
}

void rmai_dynamic_follow(struct rmai_net *net, enum rmai_part_kind part, size_t size, int all) {
    struct rmai_dynamic *d = &net->dynamic;
    uint64_t attached;
    if (!d->open || !d->parts[part]) return;
    pthread_mutex_lock(&d->lock);
    attached = d->own->attached[part];
    while (!d->closed[part] && attached < size) {
        const size_t end = rmai_step_end(attached), to = rmai_min(end, size);
        char *base = (char *)(uintptr_t)d->own->address[part];
        if (to < end && !all) break;
        const int taken = attach_memory(net, base + attached, to - attached);
        d->closed[part] = !taken || to < end;
        if (!taken) break;
        attached = to;
        __atomic_store_n(&d->own->attached[part], attached, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&d->lock);
}

/* ---- the dynamic window: where other PEs have what ---- */

static uint64_t load(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

/* Returns the part that has the offset; its first byte is at *start. */
static enum rmai_part_kind part_of(const struct rmai_layout *l, uint64_t offset, size_t *start) {
    if (offset >= l->guest) return *start = l->guest, RMAI_PART_GUEST;
    if (offset >= l->local) return *start = l->local, RMAI_PART_LOCAL;
    if (offset >= l->symmetric) return *start = l->symmetric, RMAI_PART_SYMMETRIC;
    return *start = l->statics, RMAI_PART_STATICS;
}

/* Finds [offset, offset + *len) of pe's space in pe's part of the window, and cuts *len at the end of a step. The
 * caller holds the set's lock. Returns 1 with *address; 0 if it is not in the window; -1 if the caller has to read pe's
 * directory first (rmai_dynamic_learn). */
static int find_in_directory(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t *len,
                             uint64_t *address) {
    const struct rmai_directory *d;
    struct rmai_peer *p;
    size_t start;
    const enum rmai_part_kind part = part_of(&net->job->layout, offset, &start);
    const uint64_t at = offset - start;
    const uint64_t end = rmai_step_end(at), begin = end - rmai_step_size(at);
    uint64_t attached;
    if (!net->dynamic.open || !net->dynamic.parts[part]) return 0;
    if (!(p = rmai_peer_of(s, pe))) return 0;
    if (!(d = p->directory)) return -1;
    attached = load(&d->attached[part]);
    if (at + *len > attached) {
        /* The symmetric heap may have grown since then; for the local heap's parts the extents are already up to date.
         */
        const unsigned growths = atomic_load_explicit(&net->dynamic.growths, memory_order_relaxed);
        return part == RMAI_PART_SYMMETRIC && p->growths != growths ? -1 : 0;
    }
    *len = rmai_min(*len, end - at);
    *address = load(&d->address[part]) + at;
    p->step.offset = start + begin;
    p->step.len = rmai_min(end, attached) - begin;
    p->step.address = *address - (at - begin);
    return 1;
}

/* As find_in_directory, but tries the step of the last access first: attached memory of a heap stays attached to the
 * end, and the next access is often close to the last. */
static int find_in_dynamic(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t *len,
                           uint64_t *address) {
    const struct rmai_peer *p = s->last;
    if (RMAI_LIKELY(p && p->pe == pe)) {
        const uint64_t at = offset - p->step.offset;
        if (at < p->step.len && *len <= p->step.len - at) return *address = p->step.address + at, 1;
    }
    return find_in_directory(net, s, pe, offset, len, address);
}

/* The PE's numbers only grow, so an older answer that arrives later changes nothing. */
static int keep_directory(const char *call, struct rmai_pending *s, int pe, const struct rmai_directory *now,
                          unsigned growths) {
    struct rmai_peer *p = rmai_peer_of(s, pe);
    if (p && !p->directory) p->directory = calloc(1, sizeof *p->directory);
    if (!p || !p->directory) return rmai_net_no_memory(call, pe);
    for (int i = 0; i < RMAI_PARTS; i++) {
        p->directory->address[i] = now->address[i];
        p->directory->attached[i] = rmai_max(p->directory->attached[i], now->attached[i]);
    }
    for (int i = 0; i < RMAI_POOLS; i++) p->directory->extent[i] = rmai_max(p->directory->extent[i], now->extent[i]);
    p->growths = growths;
    return RMA_SUCCESS;
}

/* Gets bytes `from` to `to` of pe's directory. The caller holds the set's lock. */
static int get_numbers(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                       struct rmai_directory *now, size_t from, size_t to) {
    const int code = rmai_transport_get(net->transport, call, RMAI_FIXED, pe, RMAI_DIRECTORY_AT + from,
                                        (char *)now + from, to - from);
    return code == RMA_SUCCESS ? flush_window(net, call, s, RMAI_FIXED, pe, RMAI_FLUSH_PE) : code;
}

/* Gets pe's directory if the network reads it without the PE's help. The extents come first, as in rmai_directory_read.
 */
static int get_directory(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                         struct rmai_directory *now) {
    int code;
    rmai_pending_lock(s);
    code = get_numbers(net, call, s, pe, now, offsetof(struct rmai_directory, extent), sizeof *now);
    if (code == RMA_SUCCESS) code = get_numbers(net, call, s, pe, now, 0, offsetof(struct rmai_directory, extent));
    rmai_pending_unlock(s);
    return code;
}

int rmai_dynamic_learn(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe) {
    const unsigned growths = atomic_load_explicit(&net->dynamic.growths, memory_order_relaxed);
    struct rmai_directory now = {.address = {0}};
    const struct rmai_op ask = {
        .call = call, .set = s, .pe = pe, .kind = RMAI_RECORD_EXTENTS, .buffer = &now, .len = sizeof now};
    int code = net->dynamic.by_get ? get_directory(net, call, s, pe, &now) : rmai_message_ask(net, &ask);
    if (code != RMA_SUCCESS) return code;
    rmai_pending_lock(s);
    code = keep_directory(call, s, pe, &now, growths);
    rmai_pending_unlock(s);
    return code;
}

/* ---- flushes ---- */

/* Flushes each window that has something for p. */
static int flush_touched(struct rmai_net *net, const char *call, struct rmai_peer *p) {
    int code = RMA_SUCCESS, one;
    for (int window = 0; window < RMAI_WINDOWS; window++) {
        if (!(p->touched & 1u << window)) continue;
        one = flush_window(net, call, p->set, (enum rmai_window_kind)window, p->pe, RMAI_FLUSH_PE);
        if (code == RMA_SUCCESS) code = one;
    }
    p->touched = 0;
    return code;
}

int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_peer *p) {
    int code = flush_touched(net, call, p);
    if (!p->under_way && !rmai_peer_has_open(p)) rmai_peer_unlist(p);
    return code;
}

/* The set's lock is held. */
static int flush_busy(struct rmai_net *net, const char *call, struct rmai_pending *s) {
    int code = RMA_SUCCESS, one;
    for (struct rmai_peer *p = s->busy, *next; p; p = next) {
        next = p->next;
        one = rmai_window_flush(net, call, p);
        if (code == RMA_SUCCESS) code = one;
    }
    return code;
}

int rmai_window_flush_all(struct rmai_net *net, const char *call) {
    int code = RMA_SUCCESS, one;
    pthread_mutex_lock(&net->sets_lock);
    for (struct rmai_pending *s = net->sets; s; s = s->next_set) {
        rmai_pending_lock(s);
        one = flush_busy(net, call, s);
        rmai_pending_unlock(s);
        if (code == RMA_SUCCESS) code = one;
    }
    pthread_mutex_unlock(&net->sets_lock);
    return code;
}

/* Returns a copy of the len bytes at `from` that lives until the windows are flushed for the peer that the caller
 * touches next. Returns NULL, with *code RMA_SUCCESS, if there is no memory, or with the error of a flush. The caller
 * holds the set's lock. */
static void *keep_copy(struct rmai_net *net, const char *call, struct rmai_pending *s, const void *from, size_t len,
                       int *code) {
    const size_t room = (len + RMAI_COPY_ALIGN - 1) & ~(RMAI_COPY_ALIGN - 1);
    char *copy;
    *code = RMA_SUCCESS;
    if (RMAI_UNLIKELY(!s->copies) && !(s->copies = malloc(RMAI_COPY_ROOM))) return NULL;
    if (RMAI_UNLIKELY(s->copied + room > RMAI_COPY_ROOM)) {
        *code = flush_busy(net, call, s);
        if (*code != RMA_SUCCESS) return NULL;
        s->copied = 0;
    }
    copy = s->copies + s->copied;
    s->copied += room;
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
    const struct rmai_peer *p;
    uint64_t mark;
    int yes;
    rmai_pending_lock(s);
    p = rmai_peer_to(s, pe, &mark);
    yes = p && (!p->last_was_lone || p->listed || s->session);
    rmai_pending_unlock(s);
    return yes;
}

/* 1 if puts to that PE are under way by messages. A get by messages comes after them, and reads what they have written:
 * programs may not rely on that, but many do. */
static int has_puts_in_messages(struct rmai_pending *s, int pe) {
    const struct rmai_peer *p;
    uint64_t mark;
    int yes;
    if (atomic_load_explicit(&s->streams.puts, memory_order_relaxed) == RMAI_NO_PUTS) return 0;
    rmai_pending_lock(s);
    p = rmai_peer_to(s, pe, &mark);
    yes = p && (p->under_way > 0 || rmai_peer_has_open(p));
    rmai_pending_unlock(s);
    return yes;
}

int rmai_window_takes(struct rmai_net *net, const struct rmai_op *op) {
    const size_t covered = atomic_load_explicit(&net->covered, memory_order_relaxed);
    const enum rmai_window_kind window = op->offset - net->job->layout.symmetric < covered ? RMAI_FIXED : RMAI_DYNAMIC;
    const enum rmai_access access = access_of(op);
    const int all =
        net->ways.all_by_window[window][access] && rmai_ways_window(&net->ways, window, access, op->len, RMAI_NOW);
    if (op->offset >= RMA_GPTR_ATTACHED_) return 0; /* the program may detach it at any time */
    if (!all && !rmai_ways_window(&net->ways, window, access, op->len, op->when)) return 0;
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
 * they go by messages; -1 if the caller has to read the PE's directory first (rmai_dynamic_learn). The caller holds the
 * set's lock. */
static int choose_window(struct rmai_net *net, const struct rmai_op *op, struct target *to) {
    const size_t at = (size_t)op->offset - net->job->layout.symmetric,
                 covered = atomic_load_explicit(&net->covered, memory_order_acquire);
    if (at < covered && to->len <= covered - at) {
        to->window = RMAI_FIXED;
        to->disp = at + RMAI_PROBE_ROOM;
        return rmai_ways_window(&net->ways, RMAI_FIXED, access_of(op), to->len, to->when);
    }
    if (!rmai_ways_window(&net->ways, RMAI_DYNAMIC, access_of(op), to->len, to->when)) return 0;
    to->window = RMAI_DYNAMIC;
    return find_in_dynamic(net, op->set, op->pe, op->offset, &to->len, &to->disp);
}

/* Notes that a quiet has to flush the peer's transfers. */
static void touch_peer(struct rmai_peer *p, enum rmai_window_kind window) {
    p->touched |= 1u << window;
    p->asked++;
    rmai_peer_list(p);
}

/* Tells p now and then, and after each pause, that this PE uses its window. The target's library does not notice
 * accesses through a window; without the doorbell its progress thread would sleep long, and each transfer would wait
 * for that thread. */
static void ring_doorbell(struct rmai_net *net, struct rmai_peer *p) {
    static const struct rmai_envelope doorbell = {
        .kind = RMAI_WIRE_DOORBELL}; /* may still be under way after the set has ended */
    uint64_t before = p->used;
    p->used = rmai_clock_ticks();
    if (p->used - before < PAUSE && ++p->through_window % DOORBELL_EVERY != 0) return;
    if (rmai_token_done(net->transport, &p->doorbell) != 1) return;
    if (rmai_send(net->transport, p->pe, RMAI_SHORT_TAG, &doorbell, sizeof doorbell, &p->doorbell) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

/* Unless the put is nonblocking, the caller may reuse the source when this returns: it copies a short source, since a
 * local flush takes longer. */
static int put_through(struct rmai_net *net, const struct rmai_op *op, const struct target *to, struct rmai_peer *p) {
    const char *source = op->buffer, *copy = NULL;
    int code;
    if (to->when != RMAI_LATER && to->len <= RMAI_COPY_MOST) {
        copy = keep_copy(net, op->call, op->set, source, to->len, &code);
        if (code != RMA_SUCCESS) return code;
    }
    touch_peer(p, to->window);
    rmai_pending_note_put(op->set, op->pe, 0);
    code = rmai_transport_put(net->transport, op->call, to->window, op->pe, to->disp, copy ? copy : source, to->len);
    if (code != RMA_SUCCESS || copy || to->when == RMAI_LATER) return code;
    return flush_window(net, op->call, op->set, to->window, op->pe, RMAI_FLUSH_LOCAL);
}

/* A blocking get may use a full flush instead of a local one: MPICH does it some ten nanoseconds faster. MPI may store
 * a word twice, so it writes a short blocking get to a buffer of the set's. */
static int get_through(struct rmai_net *net, const struct rmai_op *op, const struct target *to, struct rmai_peer *p) {
    const int is_short = to->when != RMAI_LATER && to->len <= sizeof op->set->words;
    int code;
    if (to->when == RMAI_LATER) touch_peer(p, to->window);
    code = rmai_transport_get(net->transport, op->call, to->window, op->pe, to->disp,
                              is_short ? (char *)op->set->words : op->buffer, to->len);
    if (code != RMA_SUCCESS || to->when == RMAI_LATER) return code;
    code = flush_window(net, op->call, op->set, to->window, op->pe, RMAI_FLUSH_PE);
    if (code == RMA_SUCCESS && is_short) rma_move_(op->buffer, op->set->words, to->len);
    return code;
}

/* Holds the set's lock until MPI has taken the transfer. */
static int move_through(struct rmai_net *net, const struct rmai_op *op, const struct target *to) {
    struct rmai_peer *p = rmai_peer_of(op->set, op->pe);
    int code;
    if (!p) return rmai_net_no_memory(op->call, op->pe);
    code = op->kind == RMAI_RECORD_GET ? get_through(net, op, to, p) : put_through(net, op, to, p);
    if (code == RMA_SUCCESS && net->ways.needs_target[to->window][access_of(op)]) ring_doorbell(net, p);
    return code;
}

/* Returns 1, with *code, if to->len bytes of *op went through a window, or the PE's directory could not be read; else
 * 0. This holds the set's lock until MPI has taken the transfer. A thread that frees the fixed window first sets
 * `covered` to 0 and then flushes each set (rmai_window_grow), for which it needs that lock: so no transfer is in the
 * window when it is freed. */
static int use_window(struct rmai_net *net, const struct rmai_op *op, struct target *to, int *code) {
    int goes;
    for (int learned = 0;; learned = 1) {
        rmai_pending_lock(op->set);
        goes = choose_window(net, op, to);
        if (goes > 0) *code = move_through(net, op, to);
        rmai_pending_unlock(op->set);
        if (RMAI_LIKELY(goes >= 0) || learned) return goes > 0;
        *code = rmai_dynamic_learn(net, op->call, op->set, op->pe);
        if (*code != RMA_SUCCESS) return 1;
    }
}

/* Does the operation in pieces; those that no window covers go by messages. */
static inline int move_by_windows(struct rmai_net *net, const struct rmai_op *op,
                                  int (*by_messages)(struct rmai_net *net, const struct rmai_op *op)) {
    const size_t most = op->when == RMAI_LATER ? WINDOW_PIECE_LATER : WINDOW_PIECE;
    struct rmai_op rest = *op;
    int code = RMA_SUCCESS;
    while (rest.len > 0) {
        struct target to = {.len = rmai_min(rest.len, most), .when = rest.len > most ? RMAI_NOW : rest.when};
        if (RMAI_UNLIKELY(rest.len < op->len)) rmai_net_progress(net, 1);
        if (!use_window(net, &rest, &to, &code)) {
            rmai_add(&op->set->traffic->path[RMA_PATH_WINDOW][rmai_record_traffic(op->kind) + 1], op->len - rest.len);
            return by_messages(net, &rest);
        }
        if (code != RMA_SUCCESS) return code;
        rest.offset += to.len;
        rest.buffer = (char *)rest.buffer + to.len;
        rest.len -= to.len;
    }
    rmai_count(op->set->traffic, RMA_PATH_WINDOW, rmai_record_traffic(op->kind), op->len);
    return code;
}

int rmai_window_put(struct rmai_net *net, const struct rmai_op *op) {
    return move_by_windows(net, op, rmai_message_put);
}

int rmai_window_get(struct rmai_net *net, const struct rmai_op *op) {
    return move_by_windows(net, op, rmai_message_get);
}
