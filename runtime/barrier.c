/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/barrier.h"

void rmai_barrier_setup(struct rmai_barrier *b, uint32_t n, uint32_t me, int crowded, struct rmai_patience patience,
                        struct rmai_barrier_shared *(*shared)(void *context, uint32_t q), void *context) {
    *b = (struct rmai_barrier){.n = n, .crowded = crowded, .patience = patience};
    b->mine = shared(context, me);
    b->first = shared(context, 0);
    for (uint32_t step = 1; step < n; step *= 2) b->partner[b->rounds++] = shared(context, (me + step) % n);
}

static void hear(struct rmai_barrier *b, struct rmai_event *e, uint32_t value) {
    while (!rmai_reached(value, b->epoch)) value = rmai_wait(e, value, &b->patience);
}

static void dissemination(struct rmai_barrier *b) {
    for (uint32_t k = 0; k < b->rounds; k++) {
        struct rmai_event *theirs = &b->partner[k]->round[k].event, *ours = &b->mine->round[k].event;
        uint32_t value;
        /* Release: what this PE wrote, and what it has heard of in earlier rounds. Pairs with the acquire
         * loads of the partner's `ours`, in rmai_look and in rmai_wait. */
        atomic_store_explicit(&theirs->value, b->epoch, memory_order_release);
        if (atomic_load_explicit(&b->partner[k]->asleep, memory_order_relaxed)) rmai_wake(theirs);
        value = rmai_look(ours, b->epoch, RMAI_LOOKS);
        if (rmai_reached(value, b->epoch)) continue;
        atomic_store_explicit(&b->mine->asleep, 1, memory_order_relaxed); /* rmai_wait has the fence between this and its last look */
        hear(b, ours, value);
        atomic_store_explicit(&b->mine->asleep, 0, memory_order_relaxed);
    }
}

static void counter(struct rmai_barrier *b) {
    struct rmai_event *gate = &b->first->gate.event;
    /* Acquire and release: the last to arrive has seen what all before it wrote, and hands it on. */
    if (atomic_fetch_add_explicit(&b->first->arrived, 1, memory_order_acq_rel) + 1 == b->n) {
        atomic_store_explicit(&b->first->arrived, 0, memory_order_relaxed); /* nobody counts before the gate opens */
        atomic_store_explicit(&gate->value, b->epoch, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst); /* here PEs go to sleep at once: miss none of them */
        rmai_wake(gate);
    } else {
        hear(b, gate, atomic_load_explicit(&gate->value, memory_order_acquire));
    }
}

void rmai_barrier_node(struct rmai_barrier *b) {
    b->epoch++;
    if (b->crowded)
        counter(b);
    else
        dissemination(b);
}
