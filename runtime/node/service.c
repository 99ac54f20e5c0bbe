/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/node/service.h"
#include "base/error.h"
#include "base/kernels.h"
#include "base/process.h"
#include "base/update.h"
#include "base/word.h"

#include <limits.h>
#include <string.h>

#define PAGE      4096 /* bytes: the least page of all systems */
#define ASK_POLLS 400  /* before the asking PE sleeps, if PEs do not share processors */

static struct rmai_service_shared *shared_part(const struct rmai_service *service, int q) {
    return (struct rmai_service_shared *)(void *)(rmai_job_space(service->job, q) + service->at);
}

/* ---- the owner's side ---- */

/* The blocks of a run are touched together if each page between them has some. */
static int are_blocks_touchable(struct rmai_request *r, const struct rmai_service_run *run, int writes) {
    const int together = run->step >= 0 && run->step <= PAGE;
    const uint64_t base = r->address, len = run->len + (together ? (run->n - 1) * (uint64_t)run->step : 0);
    for (uint64_t i = 0; i < (together ? 1 : run->n); i++) {
        const uint64_t at = base + (uint64_t)run->at + i * (uint64_t)run->step;
        if (rmai_process_touchable((void *)(uintptr_t)at, len, writes)) continue;
        r->address = at;
        r->len = len;
        return 0;
    }
    return 1;
}

static void update_runs(const struct rmai_stripes *stripes, struct rmai_service_shared *s) {
    struct rmai_request *r = &s->request;
    const int writes = r->atomic != RMA_OP_FETCH;
    const size_t size = rmai_type_size((enum rma_type)r->type);
    unsigned char *data = s->data;
    for (unsigned i = 0; i < r->runs; i++)
        if ((r->fault = !are_blocks_touchable(r, rmai_service_run_at(s->data, i), writes))) return;
    for (unsigned i = 0; i < r->runs; i++) {
        const struct rmai_service_run run = *rmai_service_run_at(s->data, i);
        uint64_t at = (uint64_t)run.at;
        for (uint64_t k = 0; k < run.n; k++, at += (uint64_t)run.step, data += run.len)
            rmai_update(stripes, r->position + at, (enum rma_op)r->atomic, (enum rma_type)r->type,
                        (void *)(uintptr_t)(r->address + at), data, data, run.len / size);
    }
}

/* Memory that is not mapped, or may not be written, makes the call fail. Without the check it would end the program by
 * a signal. */
static void do_service_request(const struct rmai_stripes *stripes, struct rmai_service_shared *s) {
    struct rmai_request *r = &s->request;
    void *here = (void *)(uintptr_t)r->address;
    int writes = r->op == RMAI_SERVICE_PUT || (r->op == RMAI_SERVICE_ATOMIC && r->atomic != RMA_FETCH_);
    if (r->op == RMAI_SERVICE_UPDATE) {
        update_runs(stripes, s);
        return;
    }
    r->fault = !rmai_process_touchable(here, r->len, writes);
    if (r->fault) return;
    switch (r->op) {
        case RMAI_SERVICE_PUT: rma_move_(here, s->data, r->len); break;
        case RMAI_SERVICE_GET: rma_move_(s->data, here, r->len); break;
        default: r->old = rmai_stripes_atomic(stripes, r->position, r->atomic, here, r->len, r->value, r->cond);
    }
}

static void *run_service_thread(void *context) {
    static const struct rmai_patience none = {0};
    const struct rmai_service *service = context;
    struct rmai_service_shared *s = shared_part(service, service->job->node_my_pe);
    uint32_t done = atomic_load_explicit(&s->answered.value, memory_order_relaxed);
    for (;;) {
        uint32_t asked = rmai_wait(&s->asked, done, &none);
        if (atomic_load_explicit(&s->ending, memory_order_relaxed)) return NULL;
        do_service_request(&service->job->stripes, s);
        done = asked;
        /* Release: the answer is written before the number. Pairs with the acquire loads of `answered` in
         * rmai_service_ask. */
        atomic_store_explicit(&s->answered.value, done, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        rmai_wake(&s->answered);
    }
}

int rmai_service_start(struct rmai_service *service) {
    int failed;
    if (service->running) return RMA_SUCCESS;
    rmai_process_admit();
    failed = rmai_thread(&service->thread, run_service_thread, service);
    if (failed) return rmai_error(RMA_ERR_SYSTEM, "no thread to serve the peers: %s", strerror(failed));
    service->running = 1;
    return RMA_SUCCESS;
}

static void ring_service_doorbell(struct rmai_service_shared *s) {
    atomic_fetch_add_explicit(&s->asked.value, 1, memory_order_release);
    /* Pairs with the fence in rmai_wait: a thread that is just going to sleep is not missed. */
    atomic_thread_fence(memory_order_seq_cst);
    rmai_wake(&s->asked);
}

void rmai_service_end(struct rmai_service *service) {
    struct rmai_service_shared *s;
    if (!service->running) return;
    s = shared_part(service, service->job->node_my_pe);
    atomic_store_explicit(&s->ending, 1, memory_order_relaxed);
    ring_service_doorbell(s);
    pthread_join(service->thread, NULL);
    service->running = 0;
}

/* ---- the asking side ---- */

/* The wait of a PE for its turn to ask. */
struct turn {
    const struct rmai_service *service;
    struct rmai_stall stall;
};

/* Tells rmai_lock whether the PE that holds the lock has died (1). Also checks the wait. The time of the wait continues
 * when another PE gets the lock; only the questions to the PE before are forgotten. */
static int holder_has_died(void *context, uint32_t pe) {
    struct turn *turn = context;
    const struct rmai_patience *patience = turn->service->patience;
    if (rmai_pe_gone(turn->service->job, (int)pe)) return 1;
    if (turn->stall.pe != (int)pe) {
        rmai_wait_over(patience, &turn->stall);
        turn->stall.pe = (int)pe;
    }
    if (patience->late) patience->late(patience->context, &turn->stall);
    return 0;
}

/* Waits until the owner, PE `pe`, has answered a request after answer number `before`, or has died. Returns the last
 * answer's number. */
static uint32_t await_answer(const struct rmai_service *service, struct rmai_service_shared *s, uint32_t before,
                             struct rmai_stall *stall) {
    const struct rmai_patience patience = {.polls = service->crowded ? 0 : ASK_POLLS};
    uint32_t now = rmai_wait_a_while(&s->answered, before, &patience);
    if (now == before && service->patience->late) service->patience->late(service->patience->context, stall);
    return now;
}

int rmai_service_ask(const struct rmai_service *service, const char *call, int q, struct rmai_request *request,
                     void *data) {
    struct rmai_service_shared *s = shared_part(service, q);
    const int pe = service->job->node_pes[q];
    struct turn turn = {.service = service, .stall = {.call = call, .pe = -1}};
    struct rmai_stall stall = {.call = call, .pe = pe};
    uint32_t before;
    int code = RMA_SUCCESS;
    /* The lock may come from a dead PE, whose request may still be under way. The service thread's answer to that
     * request then comes before the answer to ours, so we wait for it first. */
    rmai_lock(&s->turn, (uint32_t)service->job->my_pe, holder_has_died, &turn);
    rmai_wait_over(service->patience, &turn.stall);
    while ((before = atomic_load_explicit(&s->answered.value, memory_order_acquire)) !=
               atomic_load_explicit(&s->asked.value, memory_order_relaxed) &&
           !rmai_pe_gone(service->job, pe)) {
        rmai_wake(&s->asked); /* the dead PE may have asked without waking the thread */
        await_answer(service, s, before, &stall);
    }
    s->request = *request;
    if (request->op == RMAI_SERVICE_PUT || request->op == RMAI_SERVICE_UPDATE) memcpy(s->data, data, request->len);
    if (request->op == RMAI_SERVICE_UPDATE && request->runs > 0) {
        const unsigned last = request->runs - 1;
        memcpy(rmai_service_run_at(s->data, last), rmai_service_run_at(data, last),
               request->runs * sizeof(struct rmai_service_run));
    }
    ring_service_doorbell(s);
    while (atomic_load_explicit(&s->answered.value, memory_order_acquire) == before) {
        if (await_answer(service, s, before, &stall) != before) break;
        if (rmai_pe_gone(service->job, pe)) {
            code = rmai_error(RMA_ERR_SYSTEM, "%s: PE %d has died", call, pe);
            break;
        }
    }
    rmai_wait_over(service->patience, &stall);
    *request = s->request;
    if (code == RMA_SUCCESS && (request->op == RMAI_SERVICE_GET || request->op == RMAI_SERVICE_UPDATE) &&
        !request->fault)
        rma_move_(data, s->data, request->len);
    rmai_unlock(&s->turn);
    return code;
}
