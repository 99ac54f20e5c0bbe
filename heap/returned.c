/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "heap/returned.h"

#include <assert.h>

int rmai_returned_push(struct rmai_returned *list, struct rmai_tlsf *t, size_t offset) {
    if (rmai_tlsf_retire(t, offset) != 0) return -1;
    rmai_returned_link(list, t, offset);
    return 0;
}

void rmai_returned_link(struct rmai_returned *list, struct rmai_tlsf *t, size_t offset) {
    uint32_t unit = (uint32_t)(offset / RMAI_TLSF_UNIT), head;
    head = __atomic_load_n(&list->head, __ATOMIC_RELAXED);
    do {
        /* Release: the link is written after the state. A PE that walks the blocks without holding the pool reads the
         * link first (an acquire load in rmai_tlsf_next), so it never mistakes a link for the block's waste.
         */
        __atomic_store_n(rmai_tlsf_link(t, unit), head, __ATOMIC_RELEASE);
        /* Release: the link, and this PE's accesses to the block, come before the drain's acquire exchange. A push in
         * between continues the release sequence, so the exchange synchronizes with all pushes. */
    } while (!__atomic_compare_exchange_n(&list->head, &head, unit + 1, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

size_t rmai_returned_drain(struct rmai_returned *list, struct rmai_tlsf *t) {
    return rmai_returned_drain_each(list, t, NULL, NULL);
}

size_t rmai_returned_drain_each(struct rmai_returned *list, struct rmai_tlsf *t, rmai_returned_see *see,
                                void *context) {
    size_t n = 0;
    uint32_t at;
    if (!rmai_returned_any(list)) return 0;
    /* Acquire: pairs with the release of each push, in rmai_returned_link. */
    at = __atomic_exchange_n(&list->head, 0, __ATOMIC_ACQUIRE);
    for (; at != 0; n++) {
        uint32_t unit = at - 1;
        assert(unit < t->state->n_units && "only blocks of this heap are returned to it");
        at = *rmai_tlsf_link(t, unit);
        if (!see || !see(context, unit)) rmai_tlsf_free_retired(t, unit);
    }
    return n;
}

size_t rmai_returned_count(const struct rmai_returned *list, struct rmai_tlsf *t) {
    size_t n = 0;
    for (uint32_t at = __atomic_load_n(&list->head, __ATOMIC_ACQUIRE); at != 0; at = *rmai_tlsf_link(t, at - 1)) n++;
    return n;
}
