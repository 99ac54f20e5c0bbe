/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/reach.h"
#include "base/attributes.h"
#include "base/error.h"

#define NOWHERE                                                                                                        \
    { .contexts = rmai_context_lines, .contexts_mask = RMAI_CONTEXTS - 1 }

_Static_assert(sizeof(struct rma_context_) == 64, "a context has a line for itself");

struct rma_context_ rmai_context_lines[RMAI_CONTEXTS];
struct rma_reach_ rma_reach_ = NOWHERE;
static const struct rma_reach_ nowhere = NOWHERE;
static int has_ended; /* rma_finalize was called after the last rma_init */

void rmai_reach_open(const struct rma_reach_ *r) {
    has_ended = 0;
    rma_reach_ = *r;
}

void rmai_reach_close(void) { rma_reach_ = nowhere; }

void rmai_reach_ended(void) { has_ended = 1; }

void rmai_reach_alone(uint32_t *lock) { rma_reach_.alone = lock; }

void rmai_reach_grown(size_t size) { __atomic_store_n(&rma_reach_.size, size, __ATOMIC_RELAXED); }

int rmai_not_running_(const char *call) {
    const char *when;
    if (rmai_error_of_shmem(call))
        when = has_ended ? "after shmem_finalize" : "before shmem_init";
    else
        when = has_ended ? "after rma_finalize or MPI_Finalize" : "before rma_init";
    return rmai_error(RMA_ERR_STATE, "%s: called %s", rmai_error_name(call), when);
}
