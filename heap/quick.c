/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "heap/quick.h"

#include <assert.h>

int rmai_quick_adopt(struct rmai_quick *q, struct rmai_tlsf *t, uint32_t unit) {
    struct rmai_tlsf_unit *u = &t->unit[unit];
    uint32_t units = u->size;
    assert(units > 0 && "the unit begins a block");
    if (units > RMAI_QUICK_UNITS || q->n[units] >= RMAI_QUICK_DEPTH(units)) return 0;
    __atomic_store_n(&u->next, RMAI_TLSF_PARKED, __ATOMIC_RELAXED);
    rmai_quick_push(q, t, unit, units);
    t->state->n_used--;
    t->state->used_units -= units;
    return 1;
}

int rmai_quick_refill(struct rmai_quick *q, struct rmai_tlsf *t, size_t size) {
    uint32_t units = (uint32_t)rmai_min((size - 1) / RMAI_TLSF_UNIT + 1, RMAI_QUICK_UNITS),
             n = RMAI_QUICK_BATCH / units;
    size_t peak = t->state->peak_units, at;
    if (n < 2) return 0;
    at = rmai_tlsf_alloc(t, RMAI_TLSF_UNIT, (size_t)n * units * RMAI_TLSF_UNIT);
    if (at >= RMAI_TLSF_DENIED) return 0;
    if (rmai_tlsf_cut(t, at, units) != 0) {
        rmai_tlsf_free(t, at);
        return 0;
    }
    t->state->peak_units = peak;
    /* Pushed from the last to the first, so that they are taken in the order of their addresses. */
    for (uint32_t i = n; i-- > 0;) rmai_quick_push(q, t, (uint32_t)(at / RMAI_TLSF_UNIT) + i * units, units);
    return 1;
}

size_t rmai_quick_flush(struct rmai_quick *q, struct rmai_tlsf *t) {
    size_t n = 0;
    for (uint32_t units = 1; units <= RMAI_QUICK_UNITS; units++) {
        uint32_t at = q->head[units];
        assert((at == 0) == (q->n[units] == 0) && "n counts the list");
        q->head[units] = q->n[units] = 0;
        for (; at != 0; n++) {
            uint32_t unit = at - 1;
            at = t->unit[unit].back;
            rmai_tlsf_free_parked(t, unit);
        }
    }
    return n;
}
