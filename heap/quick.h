/* SPDX-License-Identifier: BSD-3-Clause */
/* Quick lists: small blocks that were freed wait, unmerged, for the next request of their size.
 *
 * Programs free and allocate the same few sizes over and over, and splitting and merging for each of them is most of
 * the allocator's time. A waiting block is called parked: it is not live (a second free is noticed), not counted as
 * used, and not in the pool's free lists. The links are in the pool's table. At most 64 KiB are parked for each size,
 * and all parked blocks go back to the pool before the pool grows, so that parking never makes a heap larger. After
 * Weinstock and Wulf, "Quick Fit: an efficient algorithm for heap storage management", SIGPLAN Notices 23 (1988).
 *
 * A pool with quick lists has one holder, and the lists are in the holder's private memory. Pools that must stay
 * identical on all PEs have no quick lists. */
#ifndef RMAI_QUICK_H
#define RMAI_QUICK_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "heap/tlsf.h"

#define RMAI_QUICK_UNITS        64u               /* blocks of up to 4 KiB */
#define RMAI_QUICK_DEPTH(units) (1024u / (units)) /* most parked blocks of one size */
#define RMAI_QUICK_BATCH        16u               /* units that a refill takes from the pool */

/* Zero: empty. */
struct rmai_quick {
    uint32_t head[RMAI_QUICK_UNITS + 1]; /* by size in units: 1 + unit number of the newest, or 0 */
    uint32_t n[RMAI_QUICK_UNITS + 1];
    int shared; /* peers may retire blocks of the pool concurrently; if two PEs free the same block, one of them gets an
                   error */
};

/* rmai_quick_take takes a parked block for size > 0 bytes at any unit's alignment. It returns the block's offset, and
 * the block is live; or RMAI_TLSF_FULL if no block of that size is parked. */
static inline size_t rmai_quick_take(struct rmai_quick *q, struct rmai_tlsf *t, size_t size) {
    size_t units = (size - 1) / RMAI_TLSF_UNIT + 1;
    struct rmai_tlsf_unit *u;
    uint32_t b;
    if (units > RMAI_QUICK_UNITS || (b = q->head[units]) == 0) return RMAI_TLSF_FULL;
    u = &t->unit[--b];
    q->head[units] = u->back;
    q->n[units]--;
    u->back = (uint32_t)(units * RMAI_TLSF_UNIT - size);
    __atomic_store_n(&u->next, RMAI_TLSF_USED, __ATOMIC_RELAXED);
    t->state->n_used++;
    rmai_tlsf_count(t->state, units, 0);
    return (size_t)b * RMAI_TLSF_UNIT;
}

/* rmai_quick_push puts a block at the front of its list. Its state must be PARKED already, and it must not be counted
 * as used. */
static inline void rmai_quick_push(struct rmai_quick *q, struct rmai_tlsf *t, uint32_t unit, uint32_t units) {
    t->unit[unit].back = q->head[units];
    q->head[units] = unit + 1;
    q->n[units]++;
}

/* rmai_quick_park parks the block at offset and returns 1, if the block is live and small and its list has room. Else
 * it does nothing and returns 0. */
static inline int rmai_quick_park(struct rmai_quick *q, struct rmai_tlsf *t, size_t offset) {
    uint32_t b = rmai_tlsf_live_at(t, offset), units;
    struct rmai_tlsf_unit *u;
    if (b == RMAI_TLSF_NONE) return 0;
    u = &t->unit[b];
    units = u->size;
    if (units > RMAI_QUICK_UNITS || q->n[units] >= RMAI_QUICK_DEPTH(units)) return 0;
    if (q->shared) {
        uint32_t used = RMAI_TLSF_USED;
        /* Acquire, so that the link is written after the state has changed. */
        if (!__atomic_compare_exchange_n(&u->next, &used, RMAI_TLSF_PARKED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 0;
    } else {
        __atomic_store_n(&u->next, RMAI_TLSF_PARKED, __ATOMIC_RELAXED);
    }
    rmai_quick_push(q, t, b, units);
    t->state->n_used--;
    t->state->used_units -= units;
    return 1;
}

/* rmai_quick_adopt: the same for a retired block, by its unit number. */
int rmai_quick_adopt(struct rmai_quick *q, struct rmai_tlsf *t, uint32_t unit);

/* rmai_quick_refill takes 1 KiB from the pool, cuts it into blocks for requests of size bytes, and parks them. Returns
 * 1 on success: then rmai_quick_take has a block. Returns 0 if size is not small, or the pool has no free KiB. */
int rmai_quick_refill(struct rmai_quick *q, struct rmai_tlsf *t, size_t size);

/* rmai_quick_flush gives all parked blocks back to the pool. Returns their number. */
size_t rmai_quick_flush(struct rmai_quick *q, struct rmai_tlsf *t);

#endif
