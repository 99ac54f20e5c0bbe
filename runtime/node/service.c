/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/node/service.h"
#include "base/error.h"
#include "base/process.h"
#include "base/word.h"
#include "runtime/world.h"

#include <limits.h>
#include <string.h>

/* ---- the owner's side ---- */

/* Memory that is not mapped, or may not be written, makes the call fail. Without the check it would end the program by
 * a signal. */
static void do_service_request(struct rmai_service_shared *s) {
    struct rmai_request *r = &s->request;
    void *here = (void *)(uintptr_t)r->address;
    int writes = r->op == RMAI_SERVICE_PUT || (r->op == RMAI_SERVICE_ATOMIC && r->atomic != RMA_FETCH_);
    r->fault = !rmai_process_touchable(here, r->len, writes);
    if (r->fault) return;
    switch (r->op) {
        case RMAI_SERVICE_PUT: memcpy(here, s->data, r->len); break;
        case RMAI_SERVICE_GET: memcpy(s->data, here, r->len); break;
        default: r->old = rmai_atomic(r->atomic, here, r->len, r->value, r->cond);
    }
}

static void *run_service_thread(void *context) {
    static const struct rmai_patience none = {0};
    struct rmai_service_shared *s = context;
    uint32_t done = atomic_load_explicit(&s->answered.value, memory_order_relaxed);
    for (;;) {
        uint32_t asked = rmai_wait(&s->asked, done, &none);
        if (atomic_load_explicit(&s->ending, memory_order_relaxed)) return NULL;
        do_service_request(s);
        done = asked;
        /* Release: the answer is written before the number. Pairs with the acquire loads of `answered` in
         * rmai_service_ask. */
        atomic_store_explicit(&s->answered.value, done, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        rmai_wake(&s->answered);
    }
}

int rmai_service_start(struct rmai_world *w) {
    int failed;
    if (w->service.running) return RMA_SUCCESS;
    rmai_process_admit();
    failed = rmai_thread(&w->service.thread, run_service_thread, &rmai_header(&w->job, w->job.node_my_pe)->service);
    if (failed) return rmai_error(RMA_ERR_SYSTEM, "no thread to serve the peers: %s", strerror(failed));
    w->service.running = 1;
    return RMA_SUCCESS;
}

static void ring_service_doorbell(struct rmai_service_shared *s) {
    atomic_fetch_add_explicit(&s->asked.value, 1, memory_order_release);
    /* Pairs with the fence in rmai_wait: a thread that is just going to sleep is not missed. */
    atomic_thread_fence(memory_order_seq_cst);
    rmai_wake(&s->asked);
}

void rmai_service_end(struct rmai_world *w) {
    struct rmai_service_shared *s = &rmai_header(&w->job, w->job.node_my_pe)->service;
    if (!w->service.running) return;
    atomic_store_explicit(&s->ending, 1, memory_order_relaxed);
    ring_service_doorbell(s);
    pthread_join(w->service.thread, NULL);
    w->service.running = 0;
}

/* ---- the asking side ---- */

int rmai_service_ask(struct rmai_world *w, const char *call, int q, struct rmai_request *request, void *data) {
    struct rmai_service_shared *s = &rmai_header(&w->job, q)->service;
    struct rmai_patience patience = {.polls = w->barrier.crowded ? 0 : 400};
    struct rmai_lock_wait turn = {.w = w, .stall.call = call};
    struct rmai_stall stall = {.call = call, .pe = w->job.node_pes[q]};
    uint32_t before;
    int code = RMA_SUCCESS;
    /* The lock may come from a PE that has died, whose request may still be under way. The service thread's answer to
     * that request then comes before the answer to ours, so we wait for it first. */
    rmai_lock(&s->turn, (uint32_t)w->job.my_pe, rmai_stall_holder, &turn);
    if (turn.stall.last > 0) rmai_stall_end(w, &turn.stall);
    while ((before = atomic_load_explicit(&s->answered.value, memory_order_acquire)) !=
               atomic_load_explicit(&s->asked.value, memory_order_relaxed) &&
           !rmai_pe_gone(&w->job, w->job.node_pes[q])) {
        rmai_wake(&s->asked); /* the dead PE may have asked without waking the thread */
        rmai_wait_a_while(&s->answered, before, &patience);
        rmai_stall_look(w, &stall);
    }
    s->request = *request;
    if (request->op == RMAI_SERVICE_PUT) memcpy(s->data, data, request->len);
    ring_service_doorbell(s);
    while (atomic_load_explicit(&s->answered.value, memory_order_acquire) == before) {
        if (rmai_wait_a_while(&s->answered, before, &patience) != before) break;
        if (rmai_pe_gone(&w->job, w->job.node_pes[q])) {
            code = rmai_error(RMA_ERR_SYSTEM, "%s: PE %d has died", call, w->job.node_pes[q]);
            break;
        }
        rmai_stall_look(w, &stall); /* without the lock of runtime/net: no question travels to a PE of this node (see
                                       rmai_stall_holder) */
    }
    if (stall.last > 0) rmai_stall_end(w, &stall);
    *request = s->request;
    if (code == RMA_SUCCESS && request->op == RMAI_SERVICE_GET && !request->fault) memcpy(data, s->data, request->len);
    rmai_unlock(&s->turn);
    return code;
}
