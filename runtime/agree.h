/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement of all PEs of the job: in a call on the symmetric heap each states its arguments, and all learn whether
 * they are equal. With the arguments each PE states one more number; if not all have stated the same, all learn which
 * PE has stated what. It is also a barrier. */
#ifndef RMAI_AGREE_H
#define RMAI_AGREE_H

#include <stdint.h>

#include "base/attributes.h"
#include "runtime/compare.h"

struct rmai_world;

/* Smallest and largest of a number, and the first PE that stated each. */
struct rmai_range {
    uint64_t min, max;
    int32_t min_pe, max_pe;
};

struct rmai_verdict {
    struct rmai_compared stated;
    struct rmai_range number;
};

struct rmai_agree_slot {
    _Alignas(RMAI_APART) uint32_t epoch; /* the barrier that follows the writing */
    struct rmai_statement stated;
    uint64_t number;
};

/* In each PE's header; two of each, by the epoch's parity: a PE may state its next numbers while others still read the
 * last ones. It uses the same parity again only after all have met once more. */
struct rmai_agree_shared {
    struct rmai_agree_slot slot[2];
    struct rmai_verdict verdict[2]; /* of the node's PE 0, in jobs of several nodes */
};

/* rmai_agree_on completes what this PE has begun (rmai_quiet_default), states *mine and `number`, and compares. A PE of
 * this node that is in a call without an agreement counts as RMAI_CALL_OTHER. Either every PE gets RMA_SUCCESS and the
 * range of all stated numbers in *all, or every PE gets an error: that of rmai_compare_verdict, or RMA_ERR_MPI. */
int rmai_agree_on(struct rmai_world *w, const char *call, const struct rmai_statement *mine, uint64_t number,
                  struct rmai_range *all);

/* rmai_agree_on_block is rmai_agree_on for a call that all PEs make with the same block of the symmetric heap, or with
 * NULL. what: the argument's name in errors. */
int rmai_agree_on_block(struct rmai_world *w, const char *call, const struct rmai_statement *mine, const char *what,
                        const void *block);

#endif
