/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/op.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "rma.h"
#include "runtime/job/traffic.h"
#include "runtime/net/batch.h"
#include "runtime/net/message.h"
#include "runtime/net/peer.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/ways.h"
#include "runtime/net/window.h"

/* ---- the ways ---- */

/* One way in which puts and gets travel. Atomics and signals go by messages only. */
struct way {
    int (*put)(struct rmai_net *net, const struct rmai_op *op);
    int (*get)(struct rmai_net *net, const struct rmai_op *op);
};

static const struct way by_window = {rmai_window_put, rmai_window_get};
static const struct way by_messages = {rmai_message_put, rmai_message_get};

/* Only this function decides which way a put or get goes. The probe has filled in the table that rmai_window_takes
 * reads. Messages can carry everything. */
static inline const struct way *select_way(struct rmai_net *net, const struct rmai_op *op, enum rmai_access access) {
    return op->len >= net->ways.least_by_window[access][op->when] && rmai_window_takes(net, op) ? &by_window
                                                                                                : &by_messages;
}

/* ---- operations ---- */

/* Moves nothing, but counts the operation. */
static RMAI_COLD int move_nothing(const struct rmai_op *op) {
    rmai_count(op->set->traffic, RMA_PATH_REQUEST, rmai_record_traffic(op->kind), 0);
    return RMA_SUCCESS;
}

int rmai_net_put(const struct rmai_op *op) {
    struct rmai_net *net = op->set->net;
    return RMAI_LIKELY(op->len > 0) ? select_way(net, op, RMAI_ACCESS_PUT)->put(net, op) : move_nothing(op);
}

int rmai_net_put_gathered(const struct rmai_op *op) {
    return op->len > 0 && op->len <= RMAI_GATHERED_MOST ? rmai_message_put_gathered(op->set->net, op)
                                                        : rmai_net_put(op);
}

int rmai_net_get(const struct rmai_op *op) {
    struct rmai_net *net = op->set->net;
    return RMAI_LIKELY(op->len > 0) ? select_way(net, op, RMAI_ACCESS_GET)->get(net, op) : move_nothing(op);
}

int rmai_net_atomic(const struct rmai_op *op) {
    int code;
    if (RMAI_UNLIKELY(op->atomic != RMA_FETCH_ && !rmai_pending_puts_come_first(op->set, op->pe)) &&
        (code = rmai_net_quiet(op->call, op->set)) != RMA_SUCCESS)
        return code;
    return rmai_message_atomic(op->set->net, op);
}

int rmai_net_put_signal(const struct rmai_op *put, const struct rmai_op *signal) {
    int code = rmai_net_release(put->call, put->set, put->pe);
    return code == RMA_SUCCESS ? rmai_message_put_signal(put->set->net, put, signal) : code;
}

int rmai_net_alloc(const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g) {
    const struct rmai_op op = {
        .call = call, .set = s, .pe = pe, .kind = RMAI_RECORD_ALLOC, .value = size, .buffer = g, .len = sizeof *g};
    return rmai_message_ask(s->net, &op);
}

int rmai_net_free(const char *call, struct rmai_pending *s, int pe, uint64_t offset) {
    const struct rmai_op op = {.call = call, .set = s, .pe = pe, .kind = RMAI_RECORD_FREE, .offset = offset};
    const int code = rmai_net_release(call, s, pe); /* a put to the block must not arrive after the block is reused */
    return code == RMA_SUCCESS ? rmai_message_ask(s->net, &op) : code;
}

int rmai_net_look(const char *call, struct rmai_pending *s, int pe, uint64_t offset, size_t len, size_t align,
                  int writes) {
    const struct rmai_op op = {.call = call,
                               .set = s,
                               .pe = pe,
                               .kind = RMAI_RECORD_LOOK,
                               .atomic = len > RMAI_TOUCHED_MOST ? 2 : writes != 0,
                               .offset = offset,
                               .len = align,
                               .value = len};
    return rmai_message_ask(s->net, &op);
}

int rmai_net_extent(const char *call, struct rmai_pending *s, int pe, enum rmai_pool pool, int fresh, size_t *extent) {
    const struct rmai_peer *p;
    int code = fresh ? rmai_dynamic_learn(s->net, call, s, pe) : RMA_SUCCESS;
    if (code != RMA_SUCCESS) return code;
    rmai_pending_lock(s);
    p = rmai_peer_of(s, pe);
    *extent = p && p->directory ? (size_t)p->directory->extent[pool] : 0;
    rmai_pending_unlock(s);
    return RMA_SUCCESS;
}

/* ---- completion ---- */

/* A thread that holds the set's lock, and has to take the net's instead; and back. */
static inline void change_to_net_lock(struct rmai_pending *s) {
    if (RMAI_LIKELY(s->net->biased)) return;
    pthread_mutex_unlock(&s->lock);
    rmai_net_lock(s->net);
}
static inline void change_to_set_lock(struct rmai_pending *s) {
    if (RMAI_LIKELY(s->net->biased)) return;
    rmai_net_unlock(s->net);
    pthread_mutex_lock(&s->lock);
}

/* Returns the first error of an operation that nobody waited for, or code. The set's lock is held. The fence is an
 * acquire for what nonblocking atomics have read; it pairs with the release of the PE that wrote the word. */
static int report_failure(const char *call, struct rmai_pending *s, int code) {
    if (RMAI_UNLIKELY(s->failed)) {
        if (code == RMA_SUCCESS)
            code = rmai_error(s->failed, "%s: an earlier nonblocking %s PE %d failed: %s", call, s->failed_op,
                              s->failed_pe, rma_strerror(s->failed));
        s->failed = 0;
        rmai_pending_publish(s);
    }
    atomic_thread_fence(memory_order_acquire);
    return code;
}

/* Flushes all peers to which something has gone through the window. The caller holds the set's lock; this releases it
 * between two peers to serve other PEs. */
static int flush_peers(const char *call, struct rmai_pending *s) {
    struct rmai_net *net = s->net;
    int code = RMA_SUCCESS, one;
    for (struct rmai_peer *p = s->busy, *next; p; p = next) {
        const unsigned touched = p->touched;
        next = p->next;
        if (!touched && (p->under_way || rmai_peer_has_open(p))) continue; /* the caller waits for its replies later */
        one = rmai_window_flush(net, call, p);
        if (code == RMA_SUCCESS) code = one;
        if (!touched || !next) continue;
        rmai_pending_unlock(s);
        rmai_net_progress(net, 1);
        rmai_pending_lock(s);
        next = s->busy; /* another thread may have changed the list */
    }
    return code;
}

/* Flushes the window first, then waits for replies. All open batches are sent before the first reply is waited for, so
 * the replies of all peers come at the same time. Other threads may begin more operations meanwhile; a quiet promises
 * only those that began before it. */
int rmai_net_quiet(const char *call, struct rmai_pending *s) {
    struct rmai_net *net = s ? s->net : NULL;
    int code = RMA_SUCCESS, one;
    if (!net) return RMA_SUCCESS;
    rmai_pending_lock(s);
    if (!s->busy && !s->failed) {
        rmai_pending_unlock(s);
        rmai_net_poll_sometimes(net);
        atomic_thread_fence(memory_order_acquire);
        return RMA_SUCCESS;
    }
    if (s->busy) rmai_add(&net->traffic->more[RMAI_QUIETS], 1);
    while (s->busy) {
        one = flush_peers(call, s);
        if (code == RMA_SUCCESS) code = one;
        if (!s->busy) break;
        change_to_net_lock(s);
        rmai_pending_lock_inner(s);
        for (struct rmai_peer *p = s->busy; p; p = p->next)
            if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) rmai_batch_send(net, p);
        while (s->busy && !s->busy->touched) {
            struct rmai_peer *p = s->busy;
            rmai_pending_unlock_inner(s);
            rmai_message_complete(net, call, p);
            rmai_pending_lock_inner(s);
        }
        rmai_pending_unlock_inner(s);
        change_to_set_lock(s);
    }
    code = report_failure(call, s, code);
    rmai_pending_unlock(s);
    return code;
}

int rmai_net_try_quiet(const char *call, struct rmai_pending *s, int *quiet) {
    struct rmai_net *net = s ? s->net : NULL;
    int code = RMA_SUCCESS;
    *quiet = 1;
    if (!net) return RMA_SUCCESS;
    rmai_net_progress(net, 1);
    rmai_pending_lock(s);
    if (s->busy) code = flush_peers(call, s);
    *quiet = !s->busy;
    rmai_pending_unlock(s);
    return code;
}

/* Sends the open batches of all peers that have a credit left, as a quiet does before its first wait. */
static void send_all_open(struct rmai_pending *s) {
    struct rmai_net *net = s->net;
    rmai_net_lock(net);
    rmai_pending_lock_inner(s);
    for (struct rmai_peer *p = s->busy; p; p = p->next)
        if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) rmai_batch_send(net, p);
    rmai_pending_unlock_inner(s);
    rmai_net_unlock(net);
}

int rmai_net_test_quiet(const char *call, struct rmai_pending *s, int *quiet) {
    int code;
    *quiet = 1;
    if (!s || !s->net) return RMA_SUCCESS;
    send_all_open(s);
    code = rmai_net_try_quiet(call, s, quiet);
    if (!*quiet) return code;
    rmai_pending_lock(s);
    code = report_failure(call, s, code);
    rmai_pending_unlock(s);
    return code;
}

/* Returns pe's peer if quiet has something of it to complete, or NULL. The caller holds the set's lock. */
static struct rmai_peer *busy_peer(const struct rmai_pending *s, int pe) {
    struct rmai_peer *p = s->busy;
    while (p && p->pe != pe) p = p->next;
    return p;
}

/* The caller holds the set's lock; this releases it while it waits. */
static int complete_peer(const char *call, struct rmai_pending *s, struct rmai_peer *p) {
    struct rmai_net *net = s->net;
    int code = RMA_SUCCESS, one;
    while (p && p->listed) {
        one = rmai_window_flush(net, call, p);
        if (code == RMA_SUCCESS) code = one;
        if (!p->listed) break;
        change_to_net_lock(s);
        rmai_message_complete(net, call, p);
        change_to_set_lock(s);
    }
    return code;
}

/* Records for pe may have gone to its proxy. */
int rmai_net_quiet_pe(const char *call, struct rmai_pending *s, int pe) {
    struct rmai_net *net = s ? s->net : NULL;
    struct rmai_peer *p;
    uint64_t mark;
    int code = RMA_SUCCESS, to, one;
    if (!net) return RMA_SUCCESS;
    rmai_pending_lock(s);
    to = rmai_pending_goes_to(s, pe, &mark);
    p = busy_peer(s, pe);
    if (p || (to != pe && busy_peer(s, to))) rmai_add(&net->traffic->more[RMAI_QUIETS], 1);
    if (p) code = complete_peer(call, s, p);
    if (to != pe && (p = busy_peer(s, to)) != NULL) {
        one = complete_peer(call, s, p);
        if (code == RMA_SUCCESS) code = one;
    }
    code = report_failure(call, s, code);
    rmai_pending_unlock(s);
    return code;
}

int rmai_net_release(const char *call, struct rmai_pending *s, int pe) {
    return !s || rmai_pending_puts_come_first(s, pe) ? RMA_SUCCESS : rmai_net_quiet(call, s);
}

void rmai_net_send_open(struct rmai_pending *s, int pe) {
    struct rmai_net *net = s->net;
    struct rmai_peer *p;
    uint64_t mark;
    rmai_net_lock(net);
    rmai_pending_lock_inner(s);
    p = rmai_peer_to(s, pe, &mark);
    if (p && rmai_peer_has_open(p)) {
        if (p->under_way < RMAI_CREDITS)
            rmai_batch_send(net, p);
        else
            p->open->awaited = 1;
    }
    rmai_pending_unlock_inner(s);
    rmai_net_unlock(net);
}

/* ---- sessions ---- */

int rmai_net_loops_back(struct rmai_pending *s, int waits) {
    int yes;
    rmai_pending_lock(s);
    yes = rmai_pending_own_busy(s);
    if (!yes && !waits && s->busy && rmai_pending_own_joins(s)) {
        if (!s->own) s->own = rmai_peer_of(s, s->net->job->my_pe);
        yes = s->own != NULL;
    }
    rmai_pending_unlock(s);
    return yes;
}

int rmai_net_complete_own(const char *call, struct rmai_pending *s) {
    int busy;
    if (!s || !s->net->biased) return RMA_SUCCESS;
    rmai_pending_lock(s);
    busy = rmai_pending_own_busy(s);
    rmai_pending_unlock(s);
    return busy ? rmai_net_quiet_pe(call, s, s->net->job->my_pe) : RMA_SUCCESS;
}

/* With the biased lock only the program's one thread changes the list of sets, and that thread is here. */
void rmai_net_count_streams(struct rmai_net *net) {
    if (!net || !net->biased) return;
    rmai_net_lock(net);
    for (struct rmai_pending *s = net->sets; s; s = s->next_set)
        for (int i = 0; i < RMAI_STREAMS; i++)
            if (atomic_load_explicit(&s->streams.of[i].key, memory_order_relaxed))
                rmai_batch_settle(s->streams.of[i].batch);
    rmai_net_unlock(net);
}

void rmai_session_start(struct rmai_pending *s) {
    struct rmai_net *net = s ? s->net : NULL;
    if (!net) return;
    rmai_net_lock(net);
    rmai_pending_lock(s);
    if (!s->session) {
        s->session = 1;
        rmai_pending_choose_way(s);
        if (net->sessions++ == 0) net->batches_due = rmai_wtime() + RMAI_BATCH_WAIT;
        rmai_batches_set_side_work(net);
    }
    rmai_pending_unlock(s);
    rmai_net_unlock(net);
}

void rmai_session_stop(struct rmai_pending *s) {
    struct rmai_net *net = s ? s->net : NULL;
    if (!net) return;
    rmai_net_lock(net);
    rmai_pending_lock(s);
    if (s->session) {
        s->session = 0;
        net->sessions--;
        rmai_batches_set_side_work(net);
        rmai_pending_choose_way(s);
        /* A batch to a peer without a credit is sent when that peer's next reply comes. */
        for (struct rmai_peer *p = s->busy; p; p = p->next)
            if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) rmai_batch_send(net, p);
    }
    rmai_pending_unlock(s);
    rmai_net_unlock(net);
}
