/* SPDX-License-Identifier: BSD-3-Clause */
/* An access: what a communication call asks for, checked once. moves.c copies, accumulate.c updates, and pieces.c does
 * both where librma cannot take the whole access in one call. */
#ifndef RMAI_MPI_ACCESS_H
#define RMAI_MPI_ACCESS_H

#include <mpi.h>
#include <string.h>

#include "interfaces/mpi/peers.h"
#include "interfaces/mpi/types.h"

/* One side of an access. */
struct rmai_win_side {
    const struct rmai_datatype *type; /* NULL: the call does not have this side */
    size_t count, size;               /* elements of the type; bytes in all */
    void *buffer;                     /* of a local side; may be MPI_BOTTOM */
};

/* A part of the target's data that lies in one region of a dynamic window; of other windows, one block. */
struct rmai_win_piece {
    rma_gptr_t at;
    uint64_t address; /* in the target's process */
    size_t len;
};

struct rmai_win_access {
    struct rmai_win *w;
    const char *call;
    struct rmai_win_side origin, result, target;
    struct rmai_win_peer peer;
    int nothing;                   /* 1: the call has nothing to do (MPI_PROC_NULL, or no data) */
    rma_gptr_t at;                 /* of displacement 0 of the target's type, */
    uint64_t address;              /* and the same in the target's process */
    struct rmai_win_piece *pieces; /* NULL: `at` says where all of the target's data are. */
    size_t n_pieces;
};

/* rmai_win_side fills in *side from a buffer, a count and a datatype; `name` is "origin", "target" or "result". Returns
 * MPI_SUCCESS, or reports the error. */
int rmai_win_side(const struct rmai_win_access *a, const char *name, const void *buffer, MPI_Count count,
                  MPI_Datatype type, struct rmai_win_side *side);

/* rmai_win_check_buffer: the buffer of a side with data must not be a null pointer, unless the type has addresses. */
int rmai_win_check_buffer(const struct rmai_win_access *a, const char *name, const struct rmai_win_side *side);

/* rmai_win_aim checks rank, epoch and range, and finds the target's data, whose side is filled in. Returns MPI_SUCCESS,
 * or reports the error. a->pieces, NULL before, may be allocated after it: the caller frees it. */
int rmai_win_aim(struct rmai_win_access *a, int rank, MPI_Aint disp);

/* rmai_win_in_range: 1 if [disp, disp + len) lies in the window of p; *offset is then that of its first byte. */
static inline int rmai_win_in_range(const struct rmai_win_peer *p, MPI_Aint disp, size_t len, uint64_t *offset) {
    return !__builtin_mul_overflow((uint64_t)disp, p->unit, offset) && *offset <= p->size && len <= p->size - *offset;
}

/* rmai_win_reach: the peer `rank` of this node, if this process may access [disp, disp + len) of it now, with *offset
 * that of its first byte; NULL if it cannot tell quickly. */
static inline const struct rmai_win_peer *rmai_win_reach(struct rmai_win *w, int rank, MPI_Aint disp, size_t len,
                                                         uint64_t *offset) {
    const int slot = rmai_win_comm_slot(w->comm, rank);
    const struct rmai_win_peer *p;
    if (__builtin_expect(slot < 0 || !(w->near[slot].access | w->open), 0)) return NULL;
    p = &w->near[slot];
    return __builtin_expect(rmai_win_in_range(p, disp, len, offset), 1) ? p : NULL;
}

/* rmai_win_bytes: the address of [disp, disp + len) at `rank`, for loads and stores; NULL if it cannot tell quickly. */
static inline char *rmai_win_bytes(struct rmai_win *w, int rank, MPI_Aint disp, size_t len) {
    uint64_t offset;
    const struct rmai_win_peer *p = rmai_win_reach(w, rank, disp, len, &offset);
    return p && p->base ? p->base + offset : NULL;
}

/* rmai_win_word: the address of the aligned word of 4 or 8 bytes at disp of `rank`, for atomic instructions; NULL if it
 * cannot tell quickly. */
static inline char *rmai_win_word(struct rmai_win *w, int rank, MPI_Aint disp, size_t len) {
    uint64_t offset;
    const struct rmai_win_peer *p = rmai_win_reach(w, rank, disp, len, &offset);
    return p && p->words && ((uintptr_t)(p->words + offset) & (len - 1)) == 0 ? p->words + offset : NULL;
}

/* rmai_win_reach_far: the same as rmai_win_reach, for the peer of another node that was accessed last. */
static inline const struct rmai_win_peer *rmai_win_reach_far(const struct rmai_win *w, int rank, MPI_Aint disp,
                                                             size_t len, uint64_t *offset) {
    const struct rmai_win_peer *p = w->last_far;
    if (!p || p->rank != rank || !(p->access | w->open) || p->start == RMA_GPTR_NULL) return NULL;
    return rmai_win_in_range(p, disp, len, offset) ? p : NULL;
}

/* rmai_win_bytes_far, rmai_win_word_far: as rmai_win_bytes and rmai_win_word, global pointers; RMA_GPTR_NULL if they
 * cannot tell quickly. */
static inline rma_gptr_t rmai_win_bytes_far(const struct rmai_win *w, int rank, MPI_Aint disp, size_t len) {
    uint64_t offset;
    const struct rmai_win_peer *p = rmai_win_reach_far(w, rank, disp, len, &offset);
    return p ? p->start + offset : RMA_GPTR_NULL;
}

static inline rma_gptr_t rmai_win_word_far(const struct rmai_win *w, int rank, MPI_Aint disp, size_t len) {
    uint64_t offset;
    const struct rmai_win_peer *p = rmai_win_reach_far(w, rank, disp, len, &offset);
    return p && ((p->address + offset) & (len - 1)) == 0 ? p->start + offset : RMA_GPTR_NULL;
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
