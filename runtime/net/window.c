/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/window.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/wait.h"
#include "base/word.h"
#include "runtime/net/batch.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_MOST         ((size_t)1024) /* see window_place */
#define LONG_FROM          ((size_t)65536)
#define WINDOW_PIECE       ((size_t)8 << 20)  /* bytes through the window before others are served, */
#define WINDOW_PIECE_LATER ((size_t)64 << 20) /* and of a nonblocking call */
#define DOORBELL_EVERY     64
#define DOORBELL_ATOMICS   4        /* most are waited for, one by one */
#define PAUSE              2000000u /* ticks */

/* ---- flushes ---- */

/* kind: RMAI_FLUSH_ALL where pe is -1. The set's lock is held, where there are threads. A biased lock that was entered
 * for nothing but the set is left meanwhile: the progress thread serves others. */
static int flush_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                        enum rmai_flush_kind kind) {
    const int leaves = net->biased && rmai_biased_inside(&net->bias) == 1;
    int code;
    rmai_flush_begins(&s->flush, call, pe);
    if (leaves) rmai_biased_leave(&net->bias);
    code = rmai_transport_flush(net->transport, call, pe, kind);
    if (leaves) rmai_biased_enter(&net->bias);
    rmai_flush_ends(&s->flush);
    return code;
}

int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_peer *p) {
    int code = p->touched ? flush_window(net, call, p->set, p->pe, RMAI_FLUSH_PE) : RMA_SUCCESS;
    p->touched = 0;
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

/* Returns the displacement of [offset, offset + len) in the window; 0 if the range is not in there (a page lies before
 * the heap, so no range is at 0), or if messages are faster. They are where the window needs the target: short
 * transfers that nobody waits for gather in batches (an eighth of the time), and long ones go straight into place (two
 * thirds), measured against MPI's put and get between two processes of a machine. */
static size_t window_place(const struct rmai_net *net, uint64_t offset, size_t len, enum rmai_when when) {
    size_t at = (size_t)offset - net->job->layout.symmetric,
           covered = atomic_load_explicit(&net->covered, memory_order_acquire);
    if (offset < net->job->layout.symmetric || at >= covered || len > covered - at) return 0;
    if (net->only_atomics) return 0;
    if (net->one_sided <= 0 && (len >= LONG_FROM || when == RMAI_COPIED || (when == RMAI_LATER && len <= SHORT_MOST)))
        return 0;
    return at + RMAI_PROBE_ROOM;
}

/* Below RMA_THREAD_MULTIPLE the lock is needed in a session only: there the progress thread reads the list of busy
 * peers (rmai_batches_send_due), to which the way through the window adds. It uses nothing else that this way changes.
 */
static int needs_lock(const struct rmai_net *net, const struct rmai_pending *s) {
    return net->job->level == RMA_THREAD_MULTIPLE || RMAI_UNLIKELY(s->session);
}

static void lock_with_threads(struct rmai_net *net, struct rmai_pending *s) {
    if (needs_lock(net, s)) rmai_pending_lock(s);
}

static void unlock_with_threads(struct rmai_net *net, struct rmai_pending *s) {
    if (needs_lock(net, s)) rmai_pending_unlock(s);
}

/* Returns the peer, marked as one whose transfers a quiet has to flush; NULL without memory. */
static struct rmai_peer *touch_peer(struct rmai_pending *s, int pe) {
    struct rmai_peer *p = rmai_peer_of(s, pe);
    if (!p) return NULL;
    p->touched = 1;
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
    if (net->one_sided > 0) return;
    p->used = rmai_ticks();
    if (p->used - before < PAUSE && ++p->through_window % every != 0) return;
    if (rmai_token_done(net->transport, &p->doorbell) != 1) return;
    if (rmai_send(net->transport, p->pe, RMAI_SHORT_TAG, &doorbell, sizeof doorbell, &p->doorbell) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

/* Returns 0 if the range does not go through the window. Where there are threads, this holds the set's lock until MPI
 * has taken the transfer. A thread that takes the window down first sets `covered` to 0 and then flushes each set
 * (rmai_window_make), for which it needs that lock: so no transfer is in the window any more when it is freed. */
static int use_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                      void *buffer, size_t len, enum rmai_when when, int get, int *code) {
    struct rmai_peer *p;
    size_t disp;
    lock_with_threads(net, s);
    if ((disp = window_place(net, offset, len, when)) != 0) {
        if (!(p = get && when == RMAI_NOW ? rmai_peer_of(s, pe) : touch_peer(s, pe)))
            *code = rmai_net_no_memory(call, pe);
        else
            *code = get ? rmai_transport_get(net->transport, call, pe, disp, buffer, len)
                        : rmai_transport_put(net->transport, call, pe, disp, buffer, len);
        if (!get) rmai_pending_note_put(s, pe, 0);
        /* For a get a full flush does the same as a local one, and MPICH does it some ten nanoseconds faster. */
        if (*code == RMA_SUCCESS && when != RMAI_LATER)
            *code = flush_window(net, call, s, pe, get ? RMAI_FLUSH_PE : RMAI_FLUSH_LOCAL);
        if (*code == RMA_SUCCESS) ring_doorbell(net, p, DOORBELL_EVERY);
    }
    unlock_with_threads(net, s);
    return disp != 0;
}

int rmai_window_move(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                     char *buffer, size_t len, enum rmai_when when, int get, size_t *done, int *code) {
    const size_t piece = when == RMAI_LATER ? WINDOW_PIECE_LATER : WINDOW_PIECE;
    *code = RMA_SUCCESS;
    for (*done = 0; len - *done > piece; *done += piece) {
        if (!use_window(net, call, s, pe, offset + *done, buffer + *done, piece, RMAI_NOW, get, code)) return 0;
        if (*code != RMA_SUCCESS) return 1;
        rmai_net_progress(net, 1);
    }
    if (!use_window(net, call, s, pe, offset + *done, buffer + *done, len - *done, when, get, code)) return 0;
    rmai_count(net->traffic, RMA_PATH_WINDOW, get ? RMAI_GETS : RMAI_PUTS, len);
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
        *code = flush_window(net, call, s, -1, RMAI_FLUSH_ALL);
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

/* Marks the peer and begins the atomic. The set's lock is held for both, where there are threads: a quiet of another
 * thread between them would take the mark away before there is something to flush. */
static int begin_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, size_t disp, int op,
                        size_t len, const struct rmai_operands *o, void *old) {
    struct rmai_peer *p = touch_peer(s, pe);
    int code;
    if (!p) return rmai_net_no_memory(call, pe);
    atomic_thread_fence(memory_order_release); /* what this PE has stored comes before, for whoever reads the word */
    code = rmai_transport_atomic(net->transport, call, pe, disp, op, len, &o->value, &o->cond, old);
    if (pe != net->job->my_pe) ring_doorbell(net, p, DOORBELL_ATOMICS);
    return code;
}

/* Waits until there is a window: another thread may have taken it down, to make it anew. The set's lock is held, where
 * there are threads, and released meanwhile. */
static int await_window(struct rmai_net *net, const char *call, struct rmai_pending *s) {
    while (RMAI_UNLIKELY(atomic_load_explicit(&net->covered, memory_order_acquire) == 0)) {
        if (net->windowless) return rmai_error(RMA_ERR_MPI, "%s: MPI's window, which RMA_AMO=mpi needs, is gone", call);
        unlock_with_threads(net, s);
        rmai_net_lock(net); /* the thread that makes the window holds it */
        rmai_net_unlock(net);
        lock_with_threads(net, s);
    }
    return RMA_SUCCESS;
}

static int atomic_in_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, size_t disp, int op,
                            size_t len, uint64_t value, uint64_t cond, void *old, int later) {
    const struct rmai_operands given = operands_of(len, value, cond);
    const int waits = old && !later;
    struct rmai_operands *kept;
    int code;
    lock_with_threads(net, s);
    code = await_window(net, call, s);
    if (code == RMA_SUCCESS && waits) {
        code = begin_atomic(net, call, s, pe, disp, op, len, &given, old);
        if (code == RMA_SUCCESS) code = flush_window(net, call, s, pe, RMAI_FLUSH_PE);
        atomic_thread_fence(memory_order_acquire);
    } else if (code == RMA_SUCCESS && (kept = next_operands(net, call, s, pe, &code)) != NULL) {
        *kept = given;
        code = begin_atomic(net, call, s, pe, disp, op, len, kept, old);
    }
    unlock_with_threads(net, s);
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
static int limit_in_window(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, size_t disp, int op,
                           size_t len, uint64_t value, void *old) {
    uint64_t seen = 0, next, found;
    int code = atomic_in_window(net, call, s, pe, disp, RMA_FETCH_, len, 0, 0, &seen, 0);
    while (code == RMA_SUCCESS) {
        next = seen;
        rmai_atomic(op, &next, len, value, 0);
        if (next == seen) break;
        found = 0;
        code = atomic_in_window(net, call, s, pe, disp, RMA_COMPARE_SWAP_, len, bits_of(&next, len),
                                bits_of(&seen, len), &found, 0);
        if (found == seen) break;
        seen = found;
    }
    if (code == RMA_SUCCESS && old) memcpy(old, &seen, len);
    return code;
}

static int is_limit(int op) {
    return (op >= RMA_FETCH_MIN_ && op <= RMA_FETCH_SMAX_) || op == RMA_FETCH_FMIN_ || op == RMA_FETCH_FMAX_;
}

int rmai_window_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, int op,
                       size_t len, uint64_t value, uint64_t cond, void *old, int later) {
    const size_t disp = (size_t)offset - net->job->layout.symmetric + RMAI_PROBE_ROOM;
    rmai_count(net->traffic, RMA_PATH_WINDOW, RMAI_ATOMICS, 0);
    if (is_limit(op)) return limit_in_window(net, call, s, pe, disp, op, len, value, old);
    return atomic_in_window(net, call, s, pe, disp, op, len, value, cond, old, later);
}
