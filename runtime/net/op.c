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
#include "runtime/net/way.h"
#include "runtime/net/wait.h"
#include "runtime/net/window.h"

/* ---- completion ---- */

/* Returns code if it is an error, else the first error of an operation that nobody waited for. The fence is an acquire
 * for what nonblocking atomics have read; it pairs with the release of the PE that wrote the word. */
static inline int report_failure(const char *call, struct rmai_pending *s, int code) {
    if (RMAI_UNLIKELY(s->failed) && code == RMA_SUCCESS) {
        code = rmai_error(s->failed, "%s: an earlier nonblocking %s PE %d failed: %s", call, s->failed_op, s->failed_pe,
                          rma_strerror(s->failed));
        s->failed = 0;
        rmai_pending_publish(s);
    }
    atomic_thread_fence(memory_order_acquire);
    return code;
}

/* Flushes the flows that have used a window until `age`, or only the flow `only`, and serves other PEs between two
 * flushes. With several threads another one may rely on the same flush. */
static int flush_flows(const char *call, struct rmai_pending *s, const struct rmai_flow *only, uint64_t age) {
    struct rmai_flow *f = rmai_window_touched(s->busy, only, age);
    int code = RMA_SUCCESS, one;
    while (f) {
        one = rmai_window_flush(s->net, call, f, !s->net->biased);
        if (code == RMA_SUCCESS) code = one;
        if ((f = rmai_window_touched(s->busy, only, age)) != NULL) rmai_net_drive_once(s->net);
    }
    return code;
}

/* Completes what has begun in s, or in the flow `only` if it is not NULL: flushes the windows first, then waits for
 * replies. All open messages are sent before the first reply is waited for, so the replies of all PEs come at the same
 * time. What other threads begin meanwhile is younger, and is not waited for. */
static inline __attribute__((always_inline)) int complete(const char *call, struct rmai_pending *s,
                                                          struct rmai_flow *only) {
    const uint64_t age = s->age++;
    const int code = RMAI_UNLIKELY(s->touched) ? flush_flows(call, s, only, age) : RMA_SUCCESS;
    if (only)
        rmai_flow_wait(s->net, call, only, age);
    else
        rmai_flows_wait(s->net, call, s, age);
    assert((only || !s->busy || !s->net->biased) && "only other threads can have begun more");
    return code;
}

static inline __attribute__((always_inline)) int complete_all(const char *call, struct rmai_pending *s) {
    if (!s->busy) return RMA_SUCCESS;
    rmai_add(&s->net->traffic->more[RMAI_QUIETS], 1);
    return complete(call, s, NULL);
}

int rmai_net_quiet(const char *call, struct rmai_pending *s) {
    int code, idle;
    if (!s) return RMA_SUCCESS;
    rmai_net_enter(s->net);
    idle = !s->busy;
    code = report_failure(call, s, complete_all(call, s));
    rmai_net_leave(s->net);
    if (RMAI_UNLIKELY(idle)) rmai_net_poll_sometimes(s->net);
    return code;
}

/* Records for pe may have gone to its proxy. */
static int complete_pe(const char *call, struct rmai_pending *s, int pe) {
    uint64_t mark;
    struct rmai_flow *f = rmai_flow_busy(s, pe), *proxy = rmai_flow_busy(s, rmai_pending_goes_to(s, pe, &mark));
    int code = RMA_SUCCESS, one;
    if (f || proxy) rmai_add(&s->net->traffic->more[RMAI_QUIETS], 1);
    if (f) code = complete(call, s, f);
    if (proxy && proxy != f) {
        one = complete(call, s, proxy);
        if (code == RMA_SUCCESS) code = one;
    }
    return code;
}

int rmai_net_quiet_pe(const char *call, struct rmai_pending *s, int pe, int code) {
    int one;
    if (!s) return code;
    rmai_net_enter(s->net);
    one = complete_pe(call, s, pe);
    code = report_failure(call, s, code == RMA_SUCCESS ? one : code);
    rmai_net_leave(s->net);
    return code;
}

static int try_quiet(const char *call, struct rmai_pending *s, int sends, int *is_quiet) {
    struct rmai_net *net = s->net;
    int code;
    rmai_net_enter(net);
    if (sends) rmai_flows_send_open(net, s);
    rmai_flows_send_gathered(net);
    rmai_net_drive_once(net);
    code = s->touched ? flush_flows(call, s, NULL, s->age++) : RMA_SUCCESS;
    rmai_flows_unlist(s);
    *is_quiet = !s->busy;
    if (sends && *is_quiet) code = report_failure(call, s, code);
    rmai_net_leave(net);
    return code;
}

int rmai_net_try_quiet(const char *call, struct rmai_pending *s, int *quiet) {
    return *quiet = 1, s ? try_quiet(call, s, 0, quiet) : RMA_SUCCESS;
}

int rmai_net_test_quiet(const char *call, struct rmai_pending *s, int *quiet) {
    return *quiet = 1, s ? try_quiet(call, s, 1, quiet) : RMA_SUCCESS;
}

/* Leaves earlier failures to the next quiet; returns only the error of a flush that fails here. */
static __attribute__((noinline)) int complete_puts(const char *call, struct rmai_pending *s) {
    return complete_all(call, s);
}

/* An atomic or a signal that writes comes after the puts. */
static inline int release_puts(const char *call, struct rmai_pending *s, int pe) {
    return RMAI_LIKELY(rmai_pending_puts_come_first(s, pe)) ? RMA_SUCCESS : complete_puts(call, s);
}

int rmai_net_release(const char *call, struct rmai_pending *s, int pe) {
    int code;
    if (!s) return RMA_SUCCESS;
    rmai_net_enter(s->net);
    code = release_puts(call, s, pe);
    rmai_net_leave(s->net);
    return code;
}

/* ---- operations ---- */

int rmai_net_stream_takes(const struct rmai_op *op) {
    struct rmai_streams *all = &op->set->streams;
    struct rmai_stream *s = rmai_stream_at(all, op->pe);
    const uint64_t open = atomic_load_explicit(&s->key, memory_order_relaxed), from = op->offset - s->base;
    const unsigned flags = op->kind == RMAI_RECORD_ATOMIC && op->buffer ? RMAI_RECORD_WANTED : 0,
                   atomic = op->kind == RMAI_RECORD_ATOMIC ? op->atomic : 0;
    if (!open || op->len > RMAI_STREAM_LEN_MAX) return 0;
    if ((open & ~RMAI_STREAM_COMPACT) != rmai_stream_key(op->pe, op->kind, atomic, flags, op->len)) return 0;
    switch (op->kind) {
        case RMAI_RECORD_PUT: return rmai_stream_put(all, s, open, from, op->buffer, op->len);
        case RMAI_RECORD_GET: return rmai_stream_get(all, s, open, from, op->buffer, op->len);
        default:
            return rmai_op_compares(op->atomic)
                       ? rmai_stream_compare_swap(all, s, open, from, op->value, op->cond, op->len, op->buffer)
                       : rmai_stream_atomic(all, s, open, from, op->value, op->len, op->buffer);
    }
}

/* Only this function decides which way a put or get goes; atomics and signals go by messages only. rmai_ways_choose has
 * filled in the rows that rmai_window_takes reads. Messages can carry everything. */
static inline int goes_by_window(struct rmai_net *net, const struct rmai_op *op, enum rmai_access access) {
    return RMAI_UNLIKELY(op->len >= net->ways.least_by_window[access][op->when]) && rmai_window_takes(net, op);
}

/* Moves nothing, but counts the operation. */
static RMAI_COLD int move_nothing(const struct rmai_op *op) {
    rmai_count(op->set->traffic, RMA_PATH_REQUEST, rmai_record_traffic(op->kind), 0);
    return RMA_SUCCESS;
}

int rmai_net_put(const struct rmai_op *op) {
    struct rmai_net *net = op->set->net;
    int code;
    if (RMAI_UNLIKELY(op->len == 0)) return move_nothing(op);
    rmai_net_enter(net);
    code = goes_by_window(net, op, RMAI_ACCESS_PUT) ? rmai_window_move(net, op) : rmai_request_put(net, op);
    rmai_net_leave(net);
    return code;
}

int rmai_net_put_gathered(const struct rmai_op *op) {
    struct rmai_net *net = op->set->net;
    int code;
    if (op->len == 0 || op->len > RMAI_GATHERED_MOST) return rmai_net_put(op);
    rmai_net_enter(net);
    code = rmai_request_put_gathered(net, op);
    rmai_net_leave(net);
    return code;
}

int rmai_net_get(const struct rmai_op *op) {
    struct rmai_net *net = op->set->net;
    int code;
    if (RMAI_UNLIKELY(op->len == 0)) return move_nothing(op);
    rmai_net_enter(net);
    code = goes_by_window(net, op, RMAI_ACCESS_GET) ? rmai_window_move(net, op) : rmai_request_get(net, op);
    rmai_net_leave(net);
    return code;
}

int rmai_net_atomic(const struct rmai_op *op) {
    struct rmai_net *net = op->set->net;
    int code = RMA_SUCCESS;
    rmai_net_enter(net);
    if (op->atomic != RMA_FETCH_) code = release_puts(op->call, op->set, op->pe);
    if (RMAI_LIKELY(code == RMA_SUCCESS)) code = rmai_request_atomic(net, op);
    rmai_net_leave(net);
    return code;
}

int rmai_net_put_signal(const struct rmai_op *put, const struct rmai_op *signal) {
    struct rmai_net *net = put->set->net;
    int code;
    rmai_net_enter(net);
    code = release_puts(put->call, put->set, put->pe);
    if (RMAI_LIKELY(code == RMA_SUCCESS)) code = rmai_request_put_signal(net, put, signal);
    rmai_net_leave(net);
    return code;
}

static int ask_owner(const struct rmai_op *op) {
    struct rmai_net *net = op->set->net;
    int code = RMA_SUCCESS;
    rmai_net_enter(net);
    /* A put to a block must not arrive after the block is reused. */
    if (op->kind == RMAI_RECORD_FREE) code = release_puts(op->call, op->set, op->pe);
    if (code == RMA_SUCCESS) code = rmai_request_ask(net, op);
    rmai_net_leave(net);
    return code;
}

int rmai_net_alloc(const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g) {
    const struct rmai_op op = {
        .call = call, .set = s, .pe = pe, .kind = RMAI_RECORD_ALLOC, .value = size, .buffer = g, .len = sizeof *g};
    return ask_owner(&op);
}

int rmai_net_free(const char *call, struct rmai_pending *s, int pe, uint64_t offset) {
    const struct rmai_op op = {.call = call, .set = s, .pe = pe, .kind = RMAI_RECORD_FREE, .offset = offset};
    return ask_owner(&op);
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
    return ask_owner(&op);
}

void rmai_net_send_open(struct rmai_pending *s, int pe) {
    struct rmai_flow *f;
    uint64_t mark;
    rmai_net_enter(s->net);
    f = rmai_flow_to(s, pe, &mark);
    if (f) rmai_flow_send_open(s->net, f);
    rmai_net_leave(s->net);
}

/* ---- sessions ---- */

int rmai_net_loops_back(struct rmai_pending *s, int waits) {
    int yes;
    rmai_net_enter(s->net);
    yes = rmai_pending_own_busy(s);
    if (!yes && !waits && s->busy && rmai_pending_own_joins(s)) {
        if (!s->own) s->own = rmai_flow_of(s, s->net->job->my_pe);
        yes = s->own != NULL;
    }
    rmai_net_leave(s->net);
    return yes;
}

int rmai_net_complete_own(const char *call, struct rmai_pending *s) {
    int code = RMA_SUCCESS;
    if (!s || !s->net->biased) return RMA_SUCCESS;
    rmai_net_enter(s->net);
    if (rmai_pending_own_busy(s)) code = complete_pe(call, s, s->net->job->my_pe);
    rmai_net_leave(s->net);
    return code;
}

void rmai_net_count_streams(struct rmai_net *net) {
    if (!net || !net->biased) return;
    rmai_net_enter(net);
    for (struct rmai_pending *s = net->sets; s; s = s->next_set)
        for (int i = 0; i < RMAI_STREAMS; i++)
            if (atomic_load_explicit(&s->streams.of[i].key, memory_order_relaxed))
                rmai_stream_settle(s->streams.of[i].message);
    rmai_net_leave(net);
}

static void set_session(struct rmai_pending *s, int session) {
    struct rmai_net *net = s ? s->net : NULL;
    if (!net) return;
    rmai_net_enter(net);
    if (s->session != session) {
        s->session = session;
        rmai_pending_choose_way(s);
        if (session && net->sessions == 0) net->session_due = rmai_wtime() + RMAI_SESSION_WAIT;
        net->sessions += session ? 1 : -1;
        if (!session) rmai_flows_send_open(net, s); /* a message without a credit is sent when the PE next answers */
    }
    rmai_net_leave(net);
}

void rmai_session_start(struct rmai_pending *s) { set_session(s, 1); }
void rmai_session_stop(struct rmai_pending *s) { set_session(s, 0); }
