/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/window.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "rma.h"
#include "runtime/net/batch.h"
#include "runtime/net/dynamic.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_PIECE       ((size_t)8 << 20)  /* bytes through the window before others are served, */
#define WINDOW_PIECE_LATER ((size_t)64 << 20) /* and of a nonblocking call */
#define DOORBELL_EVERY     64
#define PAUSE              2000000u /* ticks */

/* ---- flushes ---- */

/* The set's lock is held. A biased lock that was entered for nothing but the
 * set is left meanwhile: the progress thread serves others. */
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
 * touches next. NULL if there is none: with *code RMA_SUCCESS for lack of memory, else with the error of a flush. The
 * set's lock is held. */
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

/* ---- puts and gets ---- */

/* Where the first len bytes of a transfer go, and what their caller does next. */
struct way {
    enum rmai_window_kind window;
    uint64_t disp;
    size_t len;
    enum rmai_when when;
};

/* As rmai_dynamic_find, for a PE of another node. Looks first at the step in which something was found last: what of a
 * heap is attached stays so to the end, and the next access is often beside the last. */
static int find_in_dynamic(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t *len,
                           uint64_t *address) {
    const struct rmai_peer *p = s->last;
    if (RMAI_LIKELY(p && p->pe == pe)) {
        const uint64_t at = offset - p->step.offset;
        if (at < p->step.len && *len <= p->step.len - at) return *address = p->step.address + at, 1;
    }
    return rmai_dynamic_find(net, s, pe, offset, len, address);
}

/* Returns 1 if way->len bytes of t, or the first of them, go through a window, with the rest of *way; 0 if they go by
 * messages; -1 if the PE has to be asked first (rmai_dynamic_learn). The set's lock is held. */
static int choose_window(struct rmai_net *net, const struct rmai_transfer *t, struct way *way) {
    const size_t at = (size_t)t->offset - net->job->layout.symmetric,
                 covered = atomic_load_explicit(&net->covered, memory_order_acquire);
    if (at < covered && way->len <= covered - at) {
        way->window = RMAI_FIXED;
        way->disp = at + RMAI_PROBE_ROOM;
        return rmai_ways_window(&net->ways, RMAI_FIXED, t->access, way->len, way->when);
    }
    if (!rmai_ways_window(&net->ways, RMAI_DYNAMIC, t->access, way->len, way->when)) return 0;
    way->window = RMAI_DYNAMIC;
    return find_in_dynamic(net, t->set, t->pe, t->offset, &way->len, &way->disp);
}

/* Marks the peer as one whose transfers a quiet has to flush. */
static void touch_peer(struct rmai_peer *p, enum rmai_window_kind window) {
    p->touched |= 1u << window;
    p->asked++;
    rmai_peer_list(p);
}

/* Tells p now and then, and after each pause, that this PE uses its window. MPI does what comes through a window
 * without a word to the library; a target that does not know of it would let its progress thread sleep long, and each
 * transfer would wait for that thread. */
static void ring_doorbell(struct rmai_net *net, struct rmai_peer *p) {
    static const struct rmai_envelope doorbell = {
        .kind = RMAI_WIRE_DOORBELL}; /* may be on its way after the set has ended */
    uint64_t before = p->used;
    p->used = rmai_clock_ticks();
    if (p->used - before < PAUSE && ++p->through_window % DOORBELL_EVERY != 0) return;
    if (rmai_token_done(net->transport, &p->doorbell) != 1) return;
    if (rmai_send(net->transport, p->pe, RMAI_SHORT_TAG, &doorbell, sizeof doorbell, &p->doorbell) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

/* Unless the put is a nonblocking one, its source is the caller's again when this returns: a short source is copied,
 * since to flush it locally takes longer. */
static int put_through(struct rmai_net *net, const struct rmai_transfer *t, const struct way *way,
                       struct rmai_peer *p) {
    const char *source = t->buffer, *copy = NULL;
    int code;
    if (way->when != RMAI_LATER && way->len <= RMAI_COPY_MOST) {
        copy = keep_copy(net, t->call, t->set, source, way->len, &code);
        if (code != RMA_SUCCESS) return code;
    }
    touch_peer(p, way->window);
    rmai_pending_note_put(t->set, t->pe, 0);
    code = rmai_transport_put(net->transport, t->call, way->window, t->pe, way->disp, copy ? copy : source, way->len);
    if (code != RMA_SUCCESS || copy || way->when == RMAI_LATER) return code;
    return flush_window(net, t->call, t->set, way->window, t->pe, RMAI_FLUSH_LOCAL);
}

/* For a get that is waited for a full flush does the same as a local one, and MPICH does it some ten nanoseconds
 * faster. MPI may store a word twice: it writes a short one of these elsewhere. */
static int get_through(struct rmai_net *net, const struct rmai_transfer *t, const struct way *way,
                       struct rmai_peer *p) {
    const int is_short = way->when != RMAI_LATER && way->len <= sizeof t->set->words;
    int code;
    if (way->when == RMAI_LATER) touch_peer(p, way->window);
    code = rmai_transport_get(net->transport, t->call, way->window, t->pe, way->disp,
                              is_short ? (char *)t->set->words : t->buffer, way->len);
    if (code != RMA_SUCCESS || way->when == RMAI_LATER) return code;
    code = flush_window(net, t->call, t->set, way->window, t->pe, RMAI_FLUSH_PE);
    if (code == RMA_SUCCESS && is_short) rma_move_(t->buffer, t->set->words, way->len);
    return code;
}

/* The set's lock is held until MPI has taken the transfer. */
static int move_through(struct rmai_net *net, const struct rmai_transfer *t, const struct way *way) {
    struct rmai_peer *p = rmai_peer_of(t->set, t->pe);
    int code;
    if (!p) return rmai_net_no_memory(t->call, t->pe);
    code = t->access == RMAI_ACCESS_GET ? get_through(net, t, way, p) : put_through(net, t, way, p);
    if (code == RMA_SUCCESS && net->ways.needs_target[way->window][t->access]) ring_doorbell(net, p);
    return code;
}

/* Returns 1 if way->len bytes of t went through a window, with *code, or the PE could not be asked; else 0. This holds
 * the set's lock until MPI has taken the transfer. A thread that takes the fixed window down first sets `covered` to 0
 * and then flushes each set (rmai_window_grow), for which it needs that lock: so no transfer is in the window any more
 * when it is freed. */
static int use_window(struct rmai_net *net, const struct rmai_transfer *t, struct way *way, int *code) {
    int goes;
    for (int learned = 0;; learned = 1) {
        rmai_pending_lock(t->set);
        goes = choose_window(net, t, way);
        if (goes > 0) *code = move_through(net, t, way);
        rmai_pending_unlock(t->set);
        if (RMAI_LIKELY(goes >= 0) || learned) return goes > 0;
        *code = rmai_dynamic_learn(net, t->call, t->set, t->pe);
        if (*code != RMA_SUCCESS) return 1;
    }
}

int rmai_window_move(struct rmai_net *net, struct rmai_transfer *t, int *code) {
    const size_t most = t->when == RMAI_LATER ? WINDOW_PIECE_LATER : WINDOW_PIECE, len = t->len;
    *code = RMA_SUCCESS;
    if (t->offset >= RMA_GPTR_ATTACHED_) return 0; /* the program may detach it at any time */
    while (t->len > 0) {
        struct way way = {.len = rmai_min(t->len, most), .when = t->len > most ? RMAI_NOW : t->when};
        if (RMAI_UNLIKELY(t->len < len)) rmai_net_progress(net, 1);
        if (!use_window(net, t, &way, code)) return 0;
        if (*code != RMA_SUCCESS) return 1;
        t->offset += way.len;
        t->buffer += way.len;
        t->len -= way.len;
    }
    /* A transfer of 0 bytes sends nothing. */
    rmai_count(t->set->traffic, len ? RMA_PATH_WINDOW : RMA_PATH_REQUEST,
               t->access == RMAI_ACCESS_GET ? RMAI_GETS : RMAI_PUTS, len);
    return 1;
}
