/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of this PE's traffic, by the way it went. Accesses that are compiled into the program, by load and store,
 * are not counted, unless RMA_STATS=yes makes every call come to the library: then rma_reach_.n_node is 0, and the
 * inlined calls believe that no PE is on this node. runtime/life/stats reports the counters. Knows nothing of the
 * runtime.
 */
#ifndef RMAI_TRAFFIC_H
#define RMAI_TRAFFIC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "rma.h"

enum rmai_traffic_kind { RMAI_PUTS, RMAI_PUT_BYTES, RMAI_GETS, RMAI_GET_BYTES, RMAI_ATOMICS, RMAI_KINDS };
/* The last two count the puts and atomics, and the gets, to PEs of other nodes that were complete the last time when
 * nothing was under way (rma_counts_). */
enum rmai_traffic_more {
    RMAI_QUIETS,
    RMAI_SENT,
    RMAI_HEARD,
    RMAI_SERVED,
    RMAI_COMPLETE_WRITES,
    RMAI_COMPLETE_READS,
    RMAI_MORE
};

/* streamed: operations of path REQUEST that streams have taken (runtime/net/stream.h). They are counted when the stream
 * is closed, by another thread perhaps, so apart from the others. */
struct rmai_traffic {
    _Atomic uint64_t path[RMA_PATHS][RMAI_KINDS], streamed[RMAI_KINDS];
    _Atomic uint64_t more[RMAI_MORE];
};

/* If two threads count at once, a count may get lost. A locked instruction would prevent that, but every count would
 * cost more.
 */
static inline void rmai_add(_Atomic uint64_t *counter, uint64_t n) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* kind: RMAI_PUTS, RMAI_GETS, RMAI_ATOMICS. */
static inline void rmai_count(struct rmai_traffic *t, enum rma_path path, enum rmai_traffic_kind kind, size_t bytes) {
    rmai_add(&t->path[path][kind], 1);
    if (kind != RMAI_ATOMICS) rmai_add(&t->path[path][kind + 1], bytes);
}

/* rmai_traffic_add adds the counters of t to *sum. */
static inline void rmai_traffic_add(struct rmai_traffic *sum, const struct rmai_traffic *t) {
    for (int p = 0; p < RMA_PATHS; p++)
        for (int k = 0; k < RMAI_KINDS; k++)
            rmai_add(&sum->path[p][k], atomic_load_explicit(&t->path[p][k], memory_order_relaxed));
    for (int k = 0; k < RMAI_KINDS; k++)
        rmai_add(&sum->path[RMA_PATH_REQUEST][k], atomic_load_explicit(&t->streamed[k], memory_order_relaxed));
    for (int i = 0; i < RMAI_MORE; i++)
        rmai_add(&sum->more[i], atomic_load_explicit(&t->more[i], memory_order_relaxed));
}

#endif
