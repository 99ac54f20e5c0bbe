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

static int flush_set(struct rmai_net *net, const char *call, struct rmai_pending *s) {
    int code = RMA_SUCCESS, one;
    rmai_pending_lock(s);
    for (struct rmai_peer *p = s->busy, *next; p; p = next) {
        next = p->next;
        one = rmai_window_flush(net, call, p);
        if (code == RMA_SUCCESS) code = one;
    }
    rmai_pending_unlock(s);
    return code;
}

int rmai_window_flush_all(struct rmai_net *net, const char *call) {
    int code = RMA_SUCCESS, one;
    pthread_mutex_lock(&net->sets_lock);
    for (struct rmai_pending *s = net->sets; s; s = s->next_set) {
        one = flush_set(net, call, s);
        if (code == RMA_SUCCESS) code = one;
    }
    pthread_mutex_unlock(&net->sets_lock);
    return code;
}

/* ---- puts and gets ---- */

/* Where a put or get goes. */
struct way {
    enum rmai_window_kind window;
    size_t disp, len; /* len: so many of the first bytes */
};

/* Returns 1 if [offset, offset + len), or its first bytes, goes through a window, with *way; 0 if it goes by messages;
 * -1 if pe has to be asked first (rmai_dynamic_learn). The set's lock is held. */
static int choose_window(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t len,
                         enum rmai_when when, enum rmai_access access, struct way *way) {
    size_t at = (size_t)offset - net->job->layout.symmetric,
           covered = atomic_load_explicit(&net->covered, memory_order_acquire);
    uint64_t address;
    int found;
    if (offset >= net->job->layout.symmetric && at < covered && len <= covered - at) {
        *way = (struct way){RMAI_FIXED, at + RMAI_PROBE_ROOM, len};
        return rmai_ways_window(&net->ways, RMAI_FIXED, access, len, when);
    }
    if (!rmai_ways_window(&net->ways, RMAI_DYNAMIC, access, len, when)) return 0;
    found = rmai_dynamic_find(net, s, pe, offset, &len, &address);
    if (found > 0) *way = (struct way){RMAI_DYNAMIC, address, len};
    return found;
}

/* Returns the peer, marked as one whose transfers a quiet has to flush; NULL without memory. */
static struct rmai_peer *touch_peer(struct rmai_pending *s, int pe, enum rmai_window_kind window) {
    struct rmai_peer *p = rmai_peer_of(s, pe);
    if (!p) return NULL;
    p->touched |= 1u << window;
    p->asked++;
    rmai_peer_list(p);
    return p;
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

/* The set's lock is held until MPI has taken the transfer. flushed: nothing of it is left for a quiet. */
static int move_through(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, const struct way *way,
                        void *buffer, enum rmai_when when, enum rmai_access access, int flushed) {
    const int get = access == RMAI_ACCESS_GET;
    const enum rmai_flush_kind kind = get || flushed ? RMAI_FLUSH_PE : RMAI_FLUSH_LOCAL;
    struct rmai_peer *p = flushed || (get && when == RMAI_NOW) ? rmai_peer_of(s, pe) : touch_peer(s, pe, way->window);
    int code;
    if (!p) return rmai_net_no_memory(call, pe);
    code = get ? rmai_transport_get(net->transport, call, way->window, pe, way->disp, buffer, way->len)
               : rmai_transport_put(net->transport, call, way->window, pe, way->disp, buffer, way->len);
    if (!get && !flushed) rmai_pending_note_put(s, pe, 0);
    /* For a get a full flush does the same as a local one, and MPICH does it some ten nanoseconds faster. */
    if (code == RMA_SUCCESS && (when != RMAI_LATER || flushed))
        code = flush_window(net, call, s, way->window, pe, kind);
    if (code == RMA_SUCCESS && net->ways.needs_target[way->window][access]) ring_doorbell(net, p, DOORBELL_EVERY);
    return code;
}

/* Returns as choose_window, with how many bytes it is. This holds the set's lock until MPI has taken the transfer. A
 * thread that takes the fixed window down first sets `covered` to 0 and then flushes each set (rmai_window_grow), for
 * which it needs that lock: so no transfer is in the window any more when it is freed. */
static int use_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                      void *buffer, size_t *len, enum rmai_when when, enum rmai_access access, int *code) {
    struct way way;
    int goes;
    rmai_pending_lock(s);
    goes = choose_window(net, s, pe, offset, *len, when, access, &way);
    if (goes > 0) {
        *len = way.len;
        *code = move_through(net, call, s, pe, &way, buffer, when, access, 0);
    }
    rmai_pending_unlock(s);
    return goes;
}

/* 1 if PEs attach their regions to the window, and lend them (rmai_attachment_lend). */
static int regions_are_lent(const struct rmai_net *net) {
    return net->dynamic.region_least < SIZE_MAX && net->job->all_progress;
}

/* The same for attached memory, which goes through the window while this PE has a lease of it. The region has to have
 * all of the transfer that is left, of which this piece is the first: else nothing of it moves before it is refused. */
static int use_lease(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                     void *buffer, size_t len, size_t left, enum rmai_when when, enum rmai_access access, int *code) {
    struct way way = {RMAI_DYNAMIC, 0, len};
    struct rmai_lease *lease;
    uint64_t address;
    if (!net->ways.all_by_window[RMAI_DYNAMIC][access] || !regions_are_lent(net) ||
        rmai_borrow(net, call, s, pe, offset, left, &lease, &address) != RMAI_LEASED)
        return 0;
    way.disp = address;
    rmai_pending_lock(s);
    *code = move_through(net, call, s, pe, &way, buffer, when, access, 1);
    rmai_pending_unlock(s);
    rmai_lease_leave(net, lease);
    return 1;
}

static int use_some_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                           void *buffer, size_t *len, size_t left, enum rmai_when when, enum rmai_access access,
                           int *code) {
    int goes;
    if (offset >= RMA_GPTR_ATTACHED_)
        return use_lease(net, call, s, pe, offset, buffer, *len, left, when, access, code);
    goes = use_window(net, call, s, pe, offset, buffer, len, when, access, code);
    if (RMAI_LIKELY(goes >= 0)) return goes;
    *code = rmai_dynamic_learn(net, call, s, pe);
    if (*code != RMA_SUCCESS) return 1;
    return use_window(net, call, s, pe, offset, buffer, len, when, access, code) > 0;
}

int rmai_window_move(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                     char *buffer, size_t len, enum rmai_when when, int get, size_t *done, int *code) {
    const size_t piece = when == RMAI_LATER ? WINDOW_PIECE_LATER : WINDOW_PIECE;
    const enum rmai_access access = get ? RMAI_ACCESS_GET : RMAI_ACCESS_PUT;
    size_t now;
    *code = RMA_SUCCESS;
    for (*done = 0; *done < len; *done += now) {
        const int more = len - *done > piece;
        if (*done > 0) rmai_net_progress(net, 1);
        now = rmai_min(len - *done, piece);
        if (!use_some_window(net, call, s, pe, offset + *done, buffer + *done, &now, len - *done,
                             more ? RMAI_NOW : when, access, code))
            return 0;
        if (*code != RMA_SUCCESS) return 1;
    }
    /* Of 0 bytes nothing goes anywhere. */
    rmai_count(s->traffic, len ? RMA_PATH_WINDOW : RMA_PATH_REQUEST, get ? RMAI_GETS : RMAI_PUTS, len);
    return 1;
}

/* ---- atomics by MPI ---- */

/* Returns a place for the operands of an atomic that nobody waits for, or NULL with *code. MPI reads operands until a
 * flush; when all places are in use, all PEs are flushed. */
static struct rmai_operands *next_operands(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                                           int *code) {
    if (!s->operands && !(s->operands = calloc(RMAI_OPERANDS, sizeof *s->operands))) {
        *code = rmai_net_no_memory(call, pe);
        return NULL;
    }
    if (s->n_operands == RMAI_OPERANDS) {
        *code = flush_window(net, call, s, RMAI_DYNAMIC, -1, RMAI_FLUSH_ALL);
        if (*code != RMA_SUCCESS) return NULL;
        s->n_operands = 0;
    }
    return &s->operands[s->n_operands++];
}

/* The operands in the first len bytes of their fields, where MPI reads them. */
static struct rmai_operands operands_of(size_t len, uint64_t value, uint64_t cond) {
    struct rmai_operands o = {value, cond};
    const uint32_t half[] = {(uint32_t)value, (uint32_t)cond};
    if (len != 4) return o;
    memcpy(&o.value, &half[0], 4);
    memcpy(&o.cond, &half[1], 4);
    return o;
}

/* Marks the peer and begins the atomic. The set's lock is held for both: a quiet of another
 * thread between them would take the mark away before there is something to flush. */
static int begin_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t at, int op,
                        size_t len, const struct rmai_operands *o, void *old) {
    struct rmai_peer *p = touch_peer(s, pe, RMAI_DYNAMIC);
    int code;
    if (!p) return rmai_net_no_memory(call, pe);
    atomic_thread_fence(memory_order_release); /* what this PE has stored comes before, for whoever reads the word */
    code = rmai_transport_atomic(net->transport, call, pe, at, op, len, &o->value, &o->cond, old);
    if (pe != net->job->my_pe && net->ways.needs_target[RMAI_DYNAMIC][RMAI_ACCESS_ATOMIC])
        ring_doorbell(net, p, DOORBELL_ATOMICS);
    return code;
}

/* `at` is the address in the target's process. waits: it is done on return. */
static int atomic_in_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t at, int op,
                            size_t len, uint64_t value, uint64_t cond, void *old, int waits) {
    const struct rmai_operands given = operands_of(len, value, cond);
    struct rmai_operands *kept;
    int code = RMA_SUCCESS;
    rmai_pending_lock(s);
    if (waits) {
        code = begin_atomic(net, call, s, pe, at, op, len, &given, old);
        if (code == RMA_SUCCESS) code = flush_window(net, call, s, RMAI_DYNAMIC, pe, RMAI_FLUSH_PE);
        atomic_thread_fence(memory_order_acquire);
    } else if ((kept = next_operands(net, call, s, pe, &code)) != NULL) {
        *kept = given;
        code = begin_atomic(net, call, s, pe, at, op, len, kept, old);
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

/* min and max by compare_swap. MPI's own are another operation: they say nothing of a NaN, MPICH 4.0 compares unsigned
 * words as signed ones, and to announce them (the window's hints) would keep MPI from using adapters that have no such
 * operation. */
static int limit_in_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t at, int op,
                           size_t len, uint64_t value, void *old) {
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

int rmai_window_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t at, int op,
                       size_t len, uint64_t value, uint64_t cond, void *old, int waits) {
    rmai_count(s->traffic, RMA_PATH_WINDOW, RMAI_ATOMICS, 0);
    if (is_limit(op)) return limit_in_window(net, call, s, pe, at, op, len, value, old);
    return atomic_in_window(net, call, s, pe, at, op, len, value, cond, old, waits);
}

/* Where the word is in the dynamic window, or 0. */
static int find_word(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                     size_t len, uint64_t *at) {
    int found;
    if (!rmai_dynamic_has_atomics(&net->job->layout, offset)) return 0;
    rmai_pending_lock(s);
    found = rmai_dynamic_find(net, s, pe, offset, &len, at);
    rmai_pending_unlock(s);
    if (found >= 0) return found;
    if (rmai_dynamic_learn(net, call, s, pe) != RMA_SUCCESS) rmai_net_fatal(net); /* who has the word is not known */
    rmai_pending_lock(s);
    found = rmai_dynamic_find(net, s, pe, offset, &len, at);
    rmai_pending_unlock(s);
    return found > 0;
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
