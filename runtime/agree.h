/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: in a collective call each PE states some numbers, and each learns whether all stated the same, or who
 * stated what. It is a barrier too. */
#ifndef RMAI_AGREE_H
#define RMAI_AGREE_H

#include <stdint.h>

#include "base/attributes.h"

struct rmai_world;

#define RMAI_AGREE_FIELDS 4

/* What one PE states. `call` is one of the enum: PEs in different calls state different ones. */
enum rmai_agree_call {
    RMAI_ELSEWHERE,
    RMAI_MALLOC,
    RMAI_CALLOC,
    RMAI_ALIGNED_ALLOC,
    RMAI_REALLOC,
    RMAI_FREE,
    RMAI_EXPOSE,
    RMAI_UNEXPOSE,
    RMAI_STATUS
};

/* Smallest and largest of a field, and the first PE that stated each. */
struct rmai_range {
    uint64_t min, max;
    int32_t min_pe, max_pe;
};

struct rmai_verdict {
    struct rmai_range call;
    struct rmai_range field[RMAI_AGREE_FIELDS];
};

struct rmai_agree_slot {
    _Alignas(RMAI_APART) uint32_t epoch; /* barrier before which it was written */
    uint32_t call;
    uint64_t field[RMAI_AGREE_FIELDS];
};

/* In each PE's header; two of each, by the epoch's parity: a PE may state its next numbers while others still read,
 * and cannot come to the same parity again before all have met once more. */
struct rmai_agree_shared {
    struct rmai_agree_slot slot[2];
    struct rmai_verdict verdict[2]; /* of the node's PE 0, in jobs of several nodes */
};

/* rmai_agree_on states `call` and the fields, and fills v with what all PEs stated. A PE of this node that is in
 * another collective call counts as having stated RMAI_ELSEWHERE. Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_agree_on(struct rmai_world *w, const char *name, enum rmai_agree_call call,
                  const uint64_t field[RMAI_AGREE_FIELDS], struct rmai_verdict *v);

/* rmai_agreed is RMA_SUCCESS if all PEs stated the same call and the same fields, as far as what[f] names them;
 * else it records RMA_ERR_MISMATCH with the argument, both values and a PE that stated each. */
int rmai_agreed(const struct rmai_verdict *v, const char *name, const char *const what[RMAI_AGREE_FIELDS]);

/* rmai_agree_arguments is how a collective call begins: rmai_agree_on and rmai_agreed for its arguments, of which this
 * PE has found `bad` (RMA_SUCCESS, or the code of the error that it recorded). Field 3 is taken for that. Every PE gets
 * RMA_SUCCESS, or every PE gets an error. If v is not NULL, *v gets what was stated; fields that `what` does not
 * name may differ. */
int rmai_agree_arguments(struct rmai_world *w, const char *name, enum rmai_agree_call call, int bad,
                         const uint64_t field[RMAI_AGREE_FIELDS - 1], const char *const what[RMAI_AGREE_FIELDS],
                         struct rmai_verdict *v);

#endif
