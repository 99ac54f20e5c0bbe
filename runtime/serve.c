/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/serve.h"
#include "base/error.h"
#include "base/process.h"
#include "runtime/world.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* What writes releases, what reads acquires: the promise of rma.h, as on the inlined path. SIGNED and REAL are the
 * other types of words of this length. */
#define ATOMIC(TYPE, SIGNED, REAL)                                                                                     \
    static TYPE##_t atomic_##TYPE(int op, TYPE##_t *word, TYPE##_t value, TYPE##_t cond) {                             \
        REAL real;                                                                                                     \
        memcpy(&real, &value, sizeof real);                                                                            \
        switch (op) {                                                                                                  \
            case RMA_FETCH_: return __atomic_load_n(word, __ATOMIC_ACQUIRE);                                           \
            case RMA_SET_: __atomic_store_n(word, value, __ATOMIC_RELEASE); return 0;                                  \
            case RMA_SWAP_: return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);                                 \
            case RMA_COMPARE_SWAP_:                                                                                    \
                __atomic_compare_exchange_n(word, &cond, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                \
                return cond;                                                                                           \
            case RMA_FETCH_ADD_: return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);                             \
            case RMA_FETCH_AND_: return __atomic_fetch_and(word, value, __ATOMIC_ACQ_REL);                             \
            case RMA_FETCH_OR_: return __atomic_fetch_or(word, value, __ATOMIC_ACQ_REL);                               \
            case RMA_FETCH_XOR_: return __atomic_fetch_xor(word, value, __ATOMIC_ACQ_REL);                             \
            case RMA_FETCH_MIN_: return rma_do_min_##TYPE(word, value);                                                \
            case RMA_FETCH_MAX_: return rma_do_max_##TYPE(word, value);                                                \
            case RMA_FETCH_SMIN_: return (TYPE##_t)rma_do_min_##SIGNED((SIGNED##_t *)word, (SIGNED##_t)value);         \
            case RMA_FETCH_SMAX_: return (TYPE##_t)rma_do_max_##SIGNED((SIGNED##_t *)word, (SIGNED##_t)value);         \
            case RMA_FETCH_FADD_: return (TYPE##_t)rma_bits_##REAL(rma_do_add_##REAL((REAL *)word, real));             \
            case RMA_FETCH_FMIN_: return (TYPE##_t)rma_bits_##REAL(rma_do_min_##REAL((REAL *)word, real));             \
            case RMA_FETCH_FMAX_: return (TYPE##_t)rma_bits_##REAL(rma_do_max_##REAL((REAL *)word, real));             \
        }                                                                                                              \
        assert(0 && "an operation of enum rma_atomic_op_");                                                            \
        return 0;                                                                                                      \
    }

ATOMIC(uint32, int32, float)
ATOMIC(uint64, int64, double)

uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond) {
    if (len == 4) return atomic_uint32(op, word, (uint32_t)value, (uint32_t)cond);
    assert(len == 8 && "words have 4 or 8 bytes");
    return atomic_uint64(op, word, value, cond);
}

/* ---- the owner's side ---- */

/* What is not there, or not for this, is an error of the call, not the end of the program. */
static void serve(struct rmai_serve_shared *s) {
    struct rmai_request *r = &s->request;
    void *here = (void *)(uintptr_t)r->address;
    int writes = r->op == RMAI_SERVE_PUT || (r->op == RMAI_SERVE_ATOMIC && r->atomic != RMA_FETCH_);
    r->fault = !rmai_process_touchable(here, r->len, writes);
    if (r->fault) return;
    switch (r->op) {
        case RMAI_SERVE_PUT: memcpy(here, s->data, r->len); break;
        case RMAI_SERVE_GET: memcpy(s->data, here, r->len); break;
        default: r->old = rmai_atomic(r->atomic, here, r->len, r->value, r->cond);
    }
}

static void *run(void *context) {
    static const struct rmai_patience none = {0};
    struct rmai_serve_shared *s = context;
    uint32_t done = atomic_load_explicit(&s->answered.value, memory_order_relaxed);
    for (;;) {
        uint32_t asked = rmai_wait(&s->asked, done, &none);
        if (atomic_load_explicit(&s->ending, memory_order_relaxed)) return NULL;
        serve(s);
        done = asked;
        /* Release: the answer is there. Pairs with the wait in rmai_serve_ask. */
        atomic_store_explicit(&s->answered.value, done, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        rmai_wake(&s->answered);
    }
}

int rmai_serve_start(struct rmai_world *w) {
    int failed;
    if (w->serve.running) return RMA_SUCCESS;
    rmai_process_admit();
    failed = rmai_thread(&w->serve.thread, run, &rmai_header(w, w->node_my_pe)->serve);
    if (failed) return rmai_error(RMA_ERR_SYSTEM, "no thread to serve the peers: %s", strerror(failed));
    w->serve.running = 1;
    return RMA_SUCCESS;
}

static void knock(struct rmai_serve_shared *s) {
    atomic_fetch_add_explicit(&s->asked.value, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst); /* a thread that is just going to sleep is not missed */
    rmai_wake(&s->asked);
}

void rmai_serve_end(struct rmai_world *w) {
    struct rmai_serve_shared *s = &rmai_header(w, w->node_my_pe)->serve;
    if (!w->serve.running) return;
    atomic_store_explicit(&s->ending, 1, memory_order_relaxed);
    knock(s);
    pthread_join(w->serve.thread, NULL);
    w->serve.running = 0;
}

/* ---- the asking side ---- */

int rmai_serve_ask(struct rmai_world *w, const char *call, int q, struct rmai_request *request, void *data) {
    struct rmai_serve_shared *s = &rmai_header(w, q)->serve;
    struct rmai_patience patience = {.polls = w->barrier.crowded ? 0 : 400};
    struct rmai_lock_wait turn = {.w = w, .stall.call = call};
    struct rmai_stall stall = {.call = call, .pe = w->node_pes[q]};
    uint32_t before;
    int code = RMA_SUCCESS;
    /* Of a dead asker: its request may still be under way, but then the thread's answer comes before ours. */
    rmai_lock(&s->turn, (uint32_t)w->my_pe, rmai_stall_holder, &turn);
    if (turn.stall.last > 0) rmai_stall_end(w, &turn.stall);
    while ((before = atomic_load_explicit(&s->answered.value, memory_order_acquire)) !=
               atomic_load_explicit(&s->asked.value, memory_order_relaxed) &&
           !rmai_pe_gone(w, (uint32_t)w->node_pes[q])) {
        rmai_wake(&s->asked); /* the dead one may not have come to it */
        rmai_wait_a_while(&s->answered, before, &patience);
        rmai_stall_look(w, &stall);
    }
    s->request = *request;
    if (request->op == RMAI_SERVE_PUT) memcpy(s->data, data, request->len);
    knock(s);
    while (atomic_load_explicit(&s->answered.value, memory_order_acquire) == before) {
        if (rmai_wait_a_while(&s->answered, before, &patience) != before) break;
        if (rmai_pe_gone(w, (uint32_t)w->node_pes[q])) {
            code = rmai_error(RMA_ERR_SYSTEM, "%s: PE %d has died", call, w->node_pes[q]);
            break;
        }
        rmai_stall_look(w, &stall); /* of a PE of this node: see rmai_stall_holder */
    }
    if (stall.last > 0) rmai_stall_end(w, &stall);
    *request = s->request;
    if (code == RMA_SUCCESS && request->op == RMAI_SERVE_GET && !request->fault) memcpy(data, s->data, request->len);
    rmai_unlock(&s->turn);
    return code;
}
