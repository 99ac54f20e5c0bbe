/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/op.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "rma.h"
#include "runtime/job/traffic.h"
#include "runtime/net/flow.h"
#include "runtime/net/progress.h"
#include "runtime/net/request.h"
#include "runtime/net/route.h"
#include "runtime/net/wait.h"
#include "runtime/net/window.h"

/* Only this function decides which way a put or get goes; atomics and signals go by messages only. rmai_ways_choose has
 * filled in the rows that rmai_window_takes reads. Messages can carry everything. */
static inline const struct rmai_route *select_way(struct rmai_net *net, const struct rmai_op *op,
                                                  enum rmai_access access) {
    const int window = op->len >= net->ways.least_by_window[access][op->when] && rmai_window_takes(net, op);
    return &net->ways.way[window ? RMAI_FIXED : RMAI_BY_MESSAGES];
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
    return op->len > 0 && op->len <= RMAI_GATHERED_MOST ? rmai_request_put_gathered(op->set->net, op)
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
    return rmai_request_atomic(op->set->net, op);
}

int rmai_net_put_signal(const struct rmai_op *put, const struct rmai_op *signal) {
    int code = rmai_net_release(put->call, put->set, put->pe);
    return code == RMA_SUCCESS ? rmai_request_put_signal(put->set->net, put, signal) : code;
}

int rmai_net_alloc(const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g) {
    const struct rmai_op op = {
        .call = call, .set = s, .pe = pe, .kind = RMAI_RECORD_ALLOC, .value = size, .buffer = g, .len = sizeof *g};
    return rmai_request_ask(s->net, &op);
}

int rmai_net_free(const char *call, struct rmai_pending *s, int pe, uint64_t offset) {
    const struct rmai_op op = {.call = call, .set = s, .pe = pe, .kind = RMAI_RECORD_FREE, .offset = offset};
    const int code = rmai_net_release(call, s, pe); /* a put to the block must not arrive after the block is reused */
    return code == RMA_SUCCESS ? rmai_request_ask(s->net, &op) : code;
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
    return rmai_request_ask(s->net, &op);
}

int rmai_net_extent(const char *call, struct rmai_pending *s, int pe, enum rmai_pool pool, int fresh, size_t *extent) {
    const struct rmai_flow *f;
    int code = fresh ? rmai_dynamic_learn(s->net, call, s, pe) : RMA_SUCCESS;
    if (code != RMA_SUCCESS) return code;
    rmai_pending_lock(s);
    f = rmai_flow_of(s, pe);
    *extent = f && f->map && f->map->known ? (size_t)f->map->directory.extent[pool] : 0;
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

/* Flushes all flows that have used a window since their last flush, or only this one. The caller holds the set's lock;
 * this releases it between two of them to serve other PEs. */
static int flush_flows(const char *call, struct rmai_pending *s, const struct rmai_flow *only) {
    struct rmai_net *net = s->net;
    int code = RMA_SUCCESS, one;
    for (struct rmai_flow *f = s->busy, *next; f; f = next) {
        next = f->next;
        if (!f->touched || (only && f != only)) continue;
        one = rmai_window_flush(net, call, f);
        if (code == RMA_SUCCESS) code = one;
        if (!s->touched) break;
        rmai_pending_unlock(s);
        rmai_net_progress(net, 1);
        rmai_pending_lock(s);
        next = s->busy; /* another thread may have changed the list */
    }
    return code;
}

/* Completes s, or this one of its flows unless it is NULL: flushes the windows first, then waits for replies. All open
 * messages are sent before the first reply is waited for, so the replies of all PEs come at the same time. Other
 * threads may begin more operations meanwhile; a quiet promises only those that began before it. The caller holds the
 * set's lock; this releases it while it waits. */
static int complete(const char *call, struct rmai_pending *s, const struct rmai_flow *only) {
    struct rmai_net *net = s->net;
    int code = RMA_SUCCESS, one;
    do {
        if (RMAI_UNLIKELY(s->touched)) {
            one = flush_flows(call, s, only);
            if (code == RMA_SUCCESS) code = one;
        }
        change_to_net_lock(s);
        rmai_pending_lock_inner(s);
        rmai_flows_wait(net, call, s, only);
        rmai_flows_unlist(s);
        rmai_pending_unlock_inner(s);
        change_to_set_lock(s);
    } while (only ? only->listed : s->busy != NULL);
    return code;
}

int rmai_net_quiet(const char *call, struct rmai_pending *s) {
    struct rmai_net *net = s ? s->net : NULL;
    int code = RMA_SUCCESS;
    if (!net) return RMA_SUCCESS;
    rmai_pending_lock(s);
    if (!s->busy && !s->failed) {
        rmai_pending_unlock(s);
        rmai_net_poll_sometimes(net);
        atomic_thread_fence(memory_order_acquire);
        return RMA_SUCCESS;
    }
    if (s->busy) {
        rmai_add(&net->traffic->more[RMAI_QUIETS], 1);
        code = complete(call, s, NULL);
    }
    code = report_failure(call, s, code);
    rmai_pending_unlock(s);
    return code;
}

int rmai_net_try_quiet(const char *call, struct rmai_pending *s, int *quiet) {
    int code = RMA_SUCCESS;
    *quiet = 1;
    if (!s || !s->net) return RMA_SUCCESS;
    rmai_net_progress(s->net, 1);
    rmai_pending_lock(s);
    if (s->touched) code = flush_flows(call, s, NULL);
    rmai_flows_unlist(s);
    *quiet = !s->busy;
    rmai_pending_unlock(s);
    return code;
}

int rmai_net_test_quiet(const char *call, struct rmai_pending *s, int *quiet) {
    int code;
    *quiet = 1;
    if (!s || !s->net) return RMA_SUCCESS;
    rmai_net_lock(s->net);
    rmai_pending_lock_inner(s);
    rmai_flows_send_open(s->net, s);
    rmai_pending_unlock_inner(s);
    rmai_net_unlock(s->net);
    code = rmai_net_try_quiet(call, s, quiet);
    if (!*quiet) return code;
    rmai_pending_lock(s);
    code = report_failure(call, s, code);
    rmai_pending_unlock(s);
    return code;
}

/* Returns the flow to pe if quiet has something of it to complete, or NULL. The caller holds the set's lock. */
static struct rmai_flow *busy_flow(const struct rmai_pending *s, int pe) {
    struct rmai_flow *f = s->busy;
    while (f && f->pe != pe) f = f->next;
    return f;
}

/* Records for pe may have gone to its proxy. */
int rmai_net_quiet_pe(const char *call, struct rmai_pending *s, int pe) {
    struct rmai_net *net = s ? s->net : NULL;
    struct rmai_flow *f, *proxy;
    uint64_t mark;
    int code = RMA_SUCCESS, one;
    if (!net) return RMA_SUCCESS;
    rmai_pending_lock(s);
    f = busy_flow(s, pe);
    proxy = busy_flow(s, rmai_pending_goes_to(s, pe, &mark));
    if (f || proxy) rmai_add(&net->traffic->more[RMAI_QUIETS], 1);
    if (f) code = complete(call, s, f);
    if (proxy && proxy != f) {
        one = complete(call, s, proxy);
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
    struct rmai_flow *f;
    uint64_t mark;
    rmai_net_lock(net);
    rmai_pending_lock_inner(s);
    f = rmai_flow_to(s, pe, &mark);
    if (f) rmai_flow_send_open(net, f);
    rmai_pending_unlock_inner(s);
    rmai_net_unlock(net);
}

/* ---- sessions ---- */

int rmai_net_loops_back(struct rmai_pending *s, int waits) {
    int yes;
    rmai_pending_lock(s);
    yes = rmai_pending_own_busy(s);
    if (!yes && !waits && s->busy && rmai_pending_own_joins(s)) {
        if (!s->own) s->own = rmai_flow_of(s, s->net->job->my_pe);
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
                rmai_stream_settle(s->streams.of[i].message);
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
        if (net->sessions++ == 0) net->session_due = rmai_wtime() + RMAI_SESSION_WAIT;
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
        rmai_pending_choose_way(s);
        rmai_flows_send_open(net, s); /* a message without a credit is sent when the PE next answers */
    }
    rmai_pending_unlock(s);
    rmai_net_unlock(net);
}
