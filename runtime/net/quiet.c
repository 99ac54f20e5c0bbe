/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/quiet.h"
#include "base/error.h"
#include "runtime/net/batch.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/window.h"

/* Waits until p has replied to all that it was asked by messages. The net's lock is held. Other threads may use the
 * window meanwhile, or ask for more. */
static void wait_for_replies(struct rmai_net *net, const char *call, struct rmai_peer *p) {
    struct rmai_net_wait wait = rmai_net_wait_begins(call, p->pe);
    rmai_pending_lock(p->set);
    while (p->under_way || rmai_peer_has_open(p)) {
        if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) {
            rmai_batch_send(net, p);
        } else {
            rmai_pending_unlock(p->set);
            rmai_net_wait_turn(net, &wait);
            rmai_pending_lock(p->set);
        }
    }
    if (!p->touched && p->listed) rmai_peer_unlist(p);
    rmai_pending_unlock(p->set);
    rmai_net_wait_ends(net, &wait);
}

/* Returns the first error of a record that nobody waited for, or code. The set's lock is held. The fence is an acquire
 * for what nonblocking atomics have read; it pairs with the release of the PE that wrote the word. */
static int report_failure(const char *call, struct rmai_pending *s, int code) {
    if (code == RMA_SUCCESS && s->failed) code = rmai_net_failed_there(call, s->failed_pe, s->failed);
    s->failed = 0;
    atomic_thread_fence(memory_order_acquire);
    return code;
}

/* Flushes all peers to which something has gone through the window. The set's lock is held, and released between two
 * peers: other PEs are served then. */
static int flush_peers(struct rmai_net *net, const char *call, struct rmai_pending *s) {
    int code = RMA_SUCCESS, one;
    for (struct rmai_peer *p = s->busy, *next; p; p = next) {
        const unsigned touched = p->touched;
        next = p->next;
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
 * the replies of all peers come at the same time. Other threads may begin something anew meanwhile; the caller of quiet
 * is promised only what was there before. */
int rmai_net_quiet(struct rmai_net *net, const char *call, struct rmai_pending *s) {
    int code = RMA_SUCCESS, one;
    if (!net->active) return RMA_SUCCESS;
    rmai_pending_lock(s);
    if (s->busy) rmai_add(&net->traffic->more[RMAI_QUIETS], 1);
    while (s->busy) {
        one = flush_peers(net, call, s);
        if (code == RMA_SUCCESS) code = one;
        if (!s->busy) break;
        rmai_pending_unlock(s);
        rmai_net_lock(net);
        rmai_pending_lock(s);
        for (struct rmai_peer *p = s->busy; p; p = p->next)
            if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) rmai_batch_send(net, p);
        while (s->busy && !s->busy->touched) {
            struct rmai_peer *p = s->busy;
            rmai_pending_unlock(s);
            wait_for_replies(net, call, p);
            rmai_pending_lock(s);
        }
        rmai_pending_unlock(s);
        rmai_net_unlock(net);
        rmai_pending_lock(s);
    }
    code = report_failure(call, s, code);
    rmai_pending_unlock(s);
    return code;
}

int rmai_net_try_quiet(struct rmai_net *net, const char *call, struct rmai_pending *s, int *quiet) {
    int code = RMA_SUCCESS;
    *quiet = 1;
    if (!net->active) return RMA_SUCCESS;
    rmai_net_progress(net, 1);
    rmai_pending_lock(s);
    if (s->busy) code = flush_peers(net, call, s);
    *quiet = !s->busy;
    rmai_pending_unlock(s);
    return code;
}

/* Sends what gathers for peers that may be sent more, as a quiet does before its first wait. */
static void send_all_open(struct rmai_net *net, struct rmai_pending *s) {
    rmai_net_lock(net);
    rmai_pending_lock_inner(s);
    for (struct rmai_peer *p = s->busy; p; p = p->next)
        if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) rmai_batch_send(net, p);
    rmai_pending_unlock_inner(s);
    rmai_net_unlock(net);
}

int rmai_net_test_quiet(struct rmai_net *net, const char *call, struct rmai_pending *s, int *quiet) {
    int code;
    *quiet = 1;
    if (!net->active) return RMA_SUCCESS;
    send_all_open(net, s);
    code = rmai_net_try_quiet(net, call, s, quiet);
    if (!*quiet) return code;
    rmai_pending_lock(s);
    code = report_failure(call, s, code);
    rmai_pending_unlock(s);
    return code;
}

/* The peer of which something is to be completed, or NULL. The set's lock is held. */
static struct rmai_peer *busy_peer(const struct rmai_pending *s, int pe) {
    struct rmai_peer *p = s->busy;
    while (p && p->pe != pe) p = p->next;
    return p;
}

/* The set's lock is held, and released meanwhile. */
static int complete_peer(struct rmai_net *net, const char *call, struct rmai_pending *s, struct rmai_peer *p) {
    int code = RMA_SUCCESS, one;
    while (p && p->listed) {
        one = rmai_window_flush(net, call, p);
        if (code == RMA_SUCCESS) code = one;
        if (!p->listed) break;
        rmai_pending_unlock(s);
        rmai_net_lock(net);
        wait_for_replies(net, call, p);
        rmai_net_unlock(net);
        rmai_pending_lock(s);
    }
    return code;
}

/* What is for pe may have gone to its intermediate. */
int rmai_net_quiet_pe(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe) {
    struct rmai_peer *p;
    uint64_t mark;
    int code = RMA_SUCCESS, to, one;
    if (!net->active) return RMA_SUCCESS;
    rmai_pending_lock(s);
    to = rmai_pending_goes_to(s, pe, &mark);
    p = busy_peer(s, pe);
    if (p || (to != pe && busy_peer(s, to))) rmai_add(&net->traffic->more[RMAI_QUIETS], 1);
    if (p) code = complete_peer(net, call, s, p);
    if (to != pe && (p = busy_peer(s, to)) != NULL) {
        one = complete_peer(net, call, s, p);
        if (code == RMA_SUCCESS) code = one;
    }
    code = report_failure(call, s, code);
    rmai_pending_unlock(s);
    return code;
}

void rmai_net_settle(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe) {
    struct rmai_peer *p;
    uint64_t mark;
    if (!rmai_pending_by_node(s)) return;
    rmai_net_lock(net);
    rmai_pending_lock_inner(s);
    p = busy_peer(s, rmai_pending_goes_to(s, pe, &mark));
    rmai_pending_unlock_inner(s);
    if (p && p->pe != pe) wait_for_replies(net, call, p);
    rmai_net_unlock(net);
}

int rmai_net_release(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe) {
    return rmai_pending_puts_come_first(s, pe) ? RMA_SUCCESS : rmai_net_quiet(net, call, s);
}

void rmai_net_send_open(struct rmai_net *net, struct rmai_pending *s, int pe) {
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
