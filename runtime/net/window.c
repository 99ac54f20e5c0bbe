/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/window.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/wait.h"
#include "base/word.h"
#include "rma.h"
#include "runtime/net/batch.h"
#include "runtime/net/dynamic.h"
#include "runtime/net/borrow.h"
#include "runtime/net/lease.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_PIECE       ((size_t)8 << 20)  /* bytes through the window before others are served, */
#define WINDOW_PIECE_LATER ((size_t)64 << 20) /* and of a nonblocking call */
#define DOORBELL_EVERY     64
#define DOORBELL_ATOMICS   4        /* most are waited for, one by one */
#define PAUSE              2000000u /* ticks */

/* ---- flushes ---- */

/* kind: RMAI_FLUSH_ALL where pe is -1. The set's lock is held. A biased lock that was entered for nothing but the
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
static void ring_doorbell(struct rmai_net *net, struct rmai_peer *p, unsigned every) {
    static const struct rmai_envelope doorbell = {
        .kind = RMAI_WIRE_DOORBELL}; /* may be on its way after the set has ended */
    uint64_t before = p->used;
    p->used = rmai_ticks();
    if (p->used - before < PAUSE && ++p->through_window % every != 0) return;
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
    uint64_t words[RMA_SHORT_MAX_ / sizeof(uint64_t)];
    const int is_short = way->when != RMAI_LATER && way->len <= sizeof words;
    int code;
    if (way->when == RMAI_LATER) touch_peer(p, way->window);
    code = rmai_transport_get(net->transport, t->call, way->window, t->pe, way->disp,
                              is_short ? (char *)words : t->buffer, way->len);
    if (code != RMA_SUCCESS || way->when == RMAI_LATER) return code;
    code = flush_window(net, t->call, t->set, way->window, t->pe, RMAI_FLUSH_PE);
    if (code == RMA_SUCCESS && is_short) rma_move_(t->buffer, words, way->len);
    return code;
}

/* The set's lock is held until MPI has taken the transfer. */
static int move_through(struct rmai_net *net, const struct rmai_transfer *t, const struct way *way) {
    struct rmai_peer *p = rmai_peer_of(t->set, t->pe);
    int code;
    if (!p) return rmai_net_no_memory(t->call, t->pe);
    code = t->access == RMAI_ACCESS_GET ? get_through(net, t, way, p) : put_through(net, t, way, p);
    if (code == RMA_SUCCESS && net->ways.needs_target[way->window][t->access]) ring_doorbell(net, p, DOORBELL_EVERY);
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

/* 1 if PEs attach their regions to the window, and lend them (rmai_attachment_lend). */
static int regions_are_lent(const struct rmai_net *net) {
    return net->dynamic.region_least < SIZE_MAX && net->job->all_progress;
}

/* The same for attached memory, which goes through the window while this PE has a lease of it: it is flushed before the
 * lease is left. The region has to have all that is left of the transfer, of which this piece is the first: else
 * nothing of it moves before it is refused. */
static int use_lease(struct rmai_net *net, const struct rmai_transfer *t, struct way *way, int *code) {
    struct rmai_lease *lease;
    uint64_t address;
    if (!net->ways.all_by_window[RMAI_DYNAMIC][t->access] || !regions_are_lent(net) ||
        !rmai_ways_window(&net->ways, RMAI_DYNAMIC, t->access, t->len, RMAI_LATER) ||
        rmai_borrow(net, t->call, t->set, t->pe, t->offset, t->len, &lease, &address) != RMAI_LEASED)
        return 0;
    *way = (struct way){RMAI_DYNAMIC, address, way->len, RMAI_LATER};
    rmai_pending_lock(t->set);
    *code = move_through(net, t, way);
    if (*code == RMA_SUCCESS) *code = rmai_window_flush(net, t->call, rmai_peer_of(t->set, t->pe));
    rmai_pending_unlock(t->set);
    rmai_lease_leave(net, lease);
    return 1;
}

int rmai_window_move(struct rmai_net *net, struct rmai_transfer *t, int *code) {
    const size_t most = t->when == RMAI_LATER ? WINDOW_PIECE_LATER : WINDOW_PIECE, len = t->len;
    *code = RMA_SUCCESS;
    while (t->len > 0) {
        struct way way = {.len = rmai_min(t->len, most), .when = t->len > most ? RMAI_NOW : t->when};
        if (RMAI_UNLIKELY(t->len < len)) rmai_net_progress(net, 1);
        if (!(t->offset >= RMA_GPTR_ATTACHED_ ? use_lease(net, t, &way, code) : use_window(net, t, &way, code)))
            return 0;
        if (*code != RMA_SUCCESS) return 1;
        t->offset += way.len;
        t->buffer += way.len;
        t->len -= way.len;
    }
    /* Of 0 bytes nothing goes anywhere. */
    rmai_count(t->set->traffic, len ? RMA_PATH_WINDOW : RMA_PATH_REQUEST,
               t->access == RMAI_ACCESS_GET ? RMAI_GETS : RMAI_PUTS, len);
    return 1;
}

/* ---- atomics by MPI ---- */

/* Operands of an atomic. */
struct operands {
    uint64_t value, cond;
};

/* The operands in the first len bytes of their fields, where MPI reads them. */
static struct operands operands_of(size_t len, uint64_t value, uint64_t cond) {
    struct operands o = {value, cond};
    const uint32_t half[] = {(uint32_t)value, (uint32_t)cond};
    if (len != 4) return o;
    memcpy(&o.value, &half[0], 4);
    memcpy(&o.cond, &half[1], 4);
    return o;
}

/* Marks the peer and begins the atomic. The set's lock is held for both: a quiet of another
 * thread between them would take the mark away before there is something to flush. */
static int begin_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t at, int op,
                        size_t len, const struct operands *o, void *old) {
    struct rmai_peer *p = rmai_peer_of(s, pe);
    int code;
    if (!p) return rmai_net_no_memory(call, pe);
    touch_peer(p, RMAI_DYNAMIC);
    atomic_thread_fence(memory_order_release); /* what this PE has stored comes before, for whoever reads the word */
    rmai_flush_begins(&s->flush, call, pe);    /* Open MPI 5 waits for the target in there */
    code = rmai_transport_atomic(net->transport, call, pe, at, op, len, &o->value, &o->cond, old);
    rmai_flush_ends(&s->flush);
    if (pe != net->job->my_pe && net->ways.needs_target[RMAI_DYNAMIC][RMAI_ACCESS_ATOMIC])
        ring_doorbell(net, p, DOORBELL_ATOMICS);
    return code;
}

/* `at` is the address in the target's process. waits: it is done on return. */
static int atomic_in_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t at, int op,
                            size_t len, uint64_t value, uint64_t cond, void *old, int waits) {
    const struct operands given = operands_of(len, value, cond);
    struct operands *kept;
    int code = RMA_SUCCESS;
    rmai_pending_lock(s);
    if (waits) {
        code = begin_atomic(net, call, s, pe, at, op, len, &given, old);
        if (code == RMA_SUCCESS) code = flush_window(net, call, s, RMAI_DYNAMIC, pe, RMAI_FLUSH_PE);
        atomic_thread_fence(memory_order_acquire);
    } else if ((kept = keep_copy(net, call, s, &given, sizeof given, &code)) != NULL) {
        code = begin_atomic(net, call, s, pe, at, op, len, kept, old);
    } else if (code == RMA_SUCCESS) {
        code = rmai_net_no_memory(call, pe);
    }
    rmai_pending_unlock(s);
    return code;
}

static uint64_t bits_of(const void *word, size_t len) {
    uint64_t bits = 0;
    uint32_t half;
    memcpy(len == 4 ? (void *)&half : (void *)&bits, word, len);
    return len == 4 ? half : bits;
}

/* By compare_swap: min and max, and the bitwise operations where MPI computes them wrongly (rmai_probe_bitwise). MPI's
 * own min and max are other operations: they say nothing of a NaN, MPICH 4.0 compares unsigned words as signed ones,
 * and to announce them (the window's hints) would keep MPI from using adapters that have no such operation. */
static int compute_in_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t at,
                             int op, size_t len, uint64_t value, void *old) {
    uint64_t seen = 0, next, found;
    int code = atomic_in_window(net, call, s, pe, at, RMA_FETCH_, len, 0, 0, &seen, 1);
    while (code == RMA_SUCCESS) {
        next = seen;
        rmai_atomic(op, &next, len, value, 0);
        if (next == seen) break;
        found = 0;
        code = atomic_in_window(net, call, s, pe, at, RMA_COMPARE_SWAP_, len, bits_of(&next, len), bits_of(&seen, len),
                                &found, 1);
        if (found == seen) break;
        seen = found;
    }
    if (code == RMA_SUCCESS && old) memcpy(old, &seen, len);
    return code;
}

static int is_limit(int op) {
    return (op >= RMA_FETCH_MIN_ && op <= RMA_FETCH_SMAX_) || op == RMA_FETCH_FMIN_ || op == RMA_FETCH_FMAX_;
}

static int is_bitwise(int op) { return op == RMA_FETCH_AND_ || op == RMA_FETCH_OR_ || op == RMA_FETCH_XOR_; }

int rmai_window_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t at, int op,
                       size_t len, uint64_t value, uint64_t cond, void *old, int waits) {
    rmai_count(s->traffic, RMA_PATH_WINDOW, RMAI_ATOMICS, 0);
    if (is_limit(op) || (is_bitwise(op) && net->ways.bitwise_wrong))
        return compute_in_window(net, call, s, pe, at, op, len, value, old);
    return atomic_in_window(net, call, s, pe, at, op, len, value, cond, old, waits);
}

/* Where the word is in the dynamic window, or 0. */
static int find_word(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                     size_t len, uint64_t *at) {
    int found;
    if (!rmai_dynamic_has_atomics(&net->job->layout, offset)) return 0;
    for (int learned = 0;; learned = 1) {
        rmai_pending_lock(s);
        found = find_in_dynamic(net, s, pe, offset, &len, at);
        rmai_pending_unlock(s);
        if (RMAI_LIKELY(found >= 0) || learned) return found > 0;
        if (rmai_dynamic_learn(net, call, s, pe) != RMA_SUCCESS)
            rmai_net_fatal(net); /* who does its atomics is not known */
    }
}

/* An atomic on attached memory is flushed before the lease is left. */
static int atomic_by_lease(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                           int op, size_t len, uint64_t value, uint64_t cond, void *old, int *code) {
    enum rmai_leased leased;
    struct rmai_lease *lease;
    uint64_t at;
    while ((leased = rmai_borrow(net, call, s, pe, offset, len, &lease, &at)) == RMAI_LEASE_BUSY)
        rmai_net_progress(net, 1);
    if (leased != RMAI_LEASED) return 0;
    if (!(at & (len - 1))) *code = rmai_window_atomic(net, call, s, pe, at, op, len, value, cond, old, 1);
    rmai_lease_leave(net, lease);
    return !(at & (len - 1)); /* else the owner words the error */
}

int rmai_window_atomic_far(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                           int op, size_t len, uint64_t value, uint64_t cond, void *old, int waits, int *code) {
    uint64_t at;
    if (offset >= RMA_GPTR_ATTACHED_)
        return regions_are_lent(net) && atomic_by_lease(net, call, s, pe, offset, op, len, value, cond, old, code);
    if (!find_word(net, call, s, pe, offset, len, &at)) return 0;
    *code = rmai_window_atomic(net, call, s, pe, at, op, len, value, cond, old, waits);
    return 1;
}
