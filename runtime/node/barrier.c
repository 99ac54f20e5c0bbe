/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/node/barrier.h"
#include "base/error.h"

void rmai_barrier_setup(struct rmai_barrier *b, uint32_t n, uint32_t me, const int *pes, int crowded,
                        struct rmai_patience patience, struct rmai_barrier_shared *(*shared)(void *context, uint32_t q),
                        void *context) {
    *b = (struct rmai_barrier){.n = n, .me = me, .pes = pes, .crowded = crowded, .patience = patience};
    b->mine = shared(context, me);
    b->first = shared(context, 0);
    for (uint32_t step = 1; step < n; step *= 2) b->partner[b->rounds++] = shared(context, (me + step) % n);
}

/* Waits for PE number `from` of the node, or for any of them if that is ANY_NEAR. */
#define ANY_NEAR UINT32_MAX
static RMAI_COLD void wait_for_epoch(struct rmai_barrier *b, const char *call, struct rmai_event *e, uint32_t value,
                                     uint32_t epoch, uint32_t from) {
    struct rmai_stall stall = {.call = call,
                               .awaited = from == ANY_NEAR ? RMAI_AWAITED_NODE : RMAI_AWAITED_PE,
                               .pe = b->pes[from % b->n],
                               .by_call = 1};
    while (!rmai_reached(value, epoch)) value = rmai_wait_watched(e, value, &b->patience, &stall);
    rmai_wait_over(&b->patience, &stall);
}

static void barrier_by_dissemination(struct rmai_barrier *b, const char *call) {
    for (uint32_t k = 0; k < b->rounds; k++) {
        struct rmai_event *theirs = &b->partner[k]->round[k].event, *ours = &b->mine->round[k].event;
        uint32_t value;
        /* Release: publishes what this PE wrote, and what it has seen of others in earlier rounds. Pairs with the
         * acquire loads of the partner's `ours`, in rmai_poll_event and in rmai_wait. */
        atomic_store_explicit(&theirs->value, b->epoch, memory_order_release);
        if (atomic_load_explicit(&b->partner[k]->asleep, memory_order_relaxed)) rmai_wake(theirs);
        value = rmai_poll_event(ours, b->epoch, RMAI_EVENT_POLLS);
        if (rmai_reached(value, b->epoch)) continue;
        /* Pairs with the partner's load of `asleep`; rmai_wait has the fence between this and its last load of the
         * event. */
        atomic_store_explicit(&b->mine->asleep, 1, memory_order_relaxed);
        wait_for_epoch(b, call, ours, value, b->epoch, (b->me + b->n - ((uint32_t)1 << k)) % b->n);
        atomic_store_explicit(&b->mine->asleep, 0, memory_order_relaxed);
    }
}

/* Tells those that wait for the event that the epoch is reached. */
static void tell_epoch(struct rmai_event *e, uint32_t epoch) {
    atomic_store_explicit(&e->value, epoch, memory_order_release);
    /* Orders the store before the load of `sleepers` in rmai_wake, and pairs with rmai_wait's fence: here PEs may go to
     * sleep at once, and none may be missed. */
    atomic_thread_fence(memory_order_seq_cst);
    rmai_wake(e);
}

/* Arrives; the last of n PEs tells it by the event, and gets 1. Acquire and release: that one has seen what all before
 * it wrote. The event's release store passes that on to the acquire loads of the PEs that wait for it. */
static int arrive(struct rmai_barrier *b, uint32_t n, struct rmai_event *e, uint32_t epoch) {
    if (atomic_fetch_add_explicit(&b->first->arrived, 1, memory_order_acq_rel) + 1 != n) return 0;
    /* No PE arrives in the next barrier before the event. */
    atomic_store_explicit(&b->first->arrived, 0, memory_order_relaxed);
    tell_epoch(e, epoch);
    return 1;
}

static void barrier_by_counter(struct rmai_barrier *b, const char *call) {
    struct rmai_event *gate = &b->first->gate.event;
    if (!arrive(b, b->n, gate, b->epoch))
        wait_for_epoch(b, call, gate, atomic_load_explicit(&gate->value, memory_order_acquire), b->epoch, ANY_NEAR);
}

/* Waits for this gathering; polls for a while, if each PE has a processor. */
static void await_gathering(struct rmai_barrier *b, const char *call, struct rmai_event *e, uint32_t from) {
    const uint32_t value = rmai_poll_event(e, b->gathering, b->crowded ? 0 : RMAI_EVENT_POLLS);
    if (!rmai_reached(value, b->gathering)) wait_for_epoch(b, call, e, value, b->gathering, from);
}

void rmai_barrier_gather(struct rmai_barrier *b, const char *call) {
    struct rmai_event *gathered = &b->first->gathered.event;
    b->gathering++;
    if (b->me > 0)
        arrive(b, b->n - 1, gathered, b->gathering);
    else if (b->n > 1)
        await_gathering(b, call, gathered, ANY_NEAR);
}

RMAI_COLD int rmai_neighbour_failed(const char *call, int code, int pe) {
    rmai_error_await_abort();
    return rmai_error(code, "%s: PE %d of this node has failed between the nodes, and says why", call, pe);
}

/* PE 0 writes the code again only after all PEs have come to the next gathering. */
int rmai_barrier_release(struct rmai_barrier *b, const char *call, int code) {
    struct rmai_event *released = &b->first->released.event;
    if (b->me > 0) {
        await_gathering(b, call, released, 0);
        code = atomic_load_explicit(&b->first->released.code, memory_order_relaxed);
        return RMAI_LIKELY(code == RMA_SUCCESS) ? code : rmai_neighbour_failed(call, code, b->pes[0]);
    }
    atomic_store_explicit(&b->first->released.code, code, memory_order_relaxed);
    if (b->n > 1) tell_epoch(released, b->gathering);
    return code;
}

void rmai_barrier_node(struct rmai_barrier *b, const char *call) {
    b->epoch++;
    if (b->crowded)
        barrier_by_counter(b, call);
    else
        barrier_by_dissemination(b, call);
}
