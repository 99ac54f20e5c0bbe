/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a communication call: the checks that all these calls share, and where the data are. */
#ifndef RMAI_MPI_TARGET_H
#define RMAI_MPI_TARGET_H

#include <mpi.h>
#include <string.h>

#include "mpi/peers.h"
#include "mpi/types.h"

/* One side of a transfer. */
struct rmai_win_side {
    const struct rmai_type *type;
    size_t count, size; /* elements; bytes in all */
};

struct rmai_win_target {
    struct rmai_win_peer peer;
    rma_gptr_t at; /* of displacement 0 of the type */
    int nothing;   /* 1: the call has nothing to do (MPI_PROC_NULL, or no data) */
};

/* rmai_win_side fills in *side from a count and a datatype of `call`; `name` is "origin", "target" or "result". Returns
 * MPI_SUCCESS, or reports the error. */
int rmai_win_side(struct rmai_win *w, const char *call, const char *name, MPI_Count count, MPI_Datatype type,
                  struct rmai_win_side *side);

/* rmai_win_target checks rank, epoch and range, and fills in *t. Returns MPI_SUCCESS, or reports the error. */
int rmai_win_target(struct rmai_win *w, const char *call, int rank, MPI_Aint disp, const struct rmai_win_side *side,
                    struct rmai_win_target *t);

/* rmai_win_in_range: 1 if [disp, disp + len) lies in the window of p; *offset is then that of its first byte. */
static inline int rmai_win_in_range(const struct rmai_win_peer *p, MPI_Aint disp, size_t len, uint64_t *offset) {
    return !__builtin_mul_overflow((uint64_t)disp, p->unit, offset) && *offset <= p->size && len <= p->size - *offset;
}

/* rmai_win_reach: the address of [disp, disp + len) at `rank` on this node, where this process may access it by load
 * and store now; NULL if it cannot tell quickly. */
static inline char *rmai_win_reach(struct rmai_win *w, int rank, MPI_Aint disp, size_t len) {
    const int slot = rmai_win_family_slot(w->family, rank);
    const struct rmai_win_peer *p = &w->near[slot];
    uint64_t offset;
    if (__builtin_expect(slot < 0 || !(p->access | w->open) || !p->base, 0)) return NULL;
    return __builtin_expect(rmai_win_in_range(p, disp, len, &offset), 1) ? p->base + offset : NULL;
}

/* rmai_win_reach_far: the same as a global pointer, for a process of another node; RMA_GPTR_NULL if it cannot tell
 * quickly. */
static inline rma_gptr_t rmai_win_reach_far(const struct rmai_win *w, int rank, MPI_Aint disp, size_t len) {
    const struct rmai_win_peer *p = w->last_far;
    uint64_t offset;
    if (!p || p->rank != rank || !(p->access | w->open) || p->start == RMA_GPTR_NULL) return RMA_GPTR_NULL;
    return rmai_win_in_range(p, disp, len, &offset) ? p->start + offset : RMA_GPTR_NULL;
}

/* rmai_win_two_sections: both sides as sections of the same shape, with element length in `elem`. Returns 0 if they
 * have no common shape. */
int rmai_win_two_sections(const struct rmai_win_side *a, const struct rmai_win_side *b, struct rmai_section *x,
                          struct rmai_section *y);

/* The address `offset` bytes after a buffer, which may be MPI_BOTTOM. */
static inline void *rmai_win_at(const void *buffer, ptrdiff_t offset) {
    return (void *)((uintptr_t)buffer + (uintptr_t)offset);
}

#endif
