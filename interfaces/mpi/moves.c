/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/moves.h"
#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/pieces.h"
#include "interfaces/mpi/requests.h"

#include <stdlib.h>

enum direction { PUT, GET };

/* ---- any target, any types ---- */

/* Moves data by lists of blocks. A side that is one block needs no list. */
static int move_lists(const struct rmai_win_access *a, enum direction d) {
    const struct rmai_win_side *o = &a->origin, *t = &a->target;
    struct rma_block *near = NULL, *far = NULL;
    size_t n_near = 0, n_far = 0;
    int code = RMA_ERR_NO_MEM;
    if ((o->type->plain || rmai_datatype_blocks(o->type, o->count, &near, &n_near)) &&
        (t->type->plain || rmai_datatype_blocks(t->type, t->count, &far, &n_far))) {
        void *const buffer = rmai_win_at(o->buffer, rmai_blocks_rebase(near, n_near));
        const rma_gptr_t at = a->at + (rma_gptr_t)rmai_blocks_rebase(far, n_far);
        code = d == PUT ? rma_gptr_put_blocks_nbi(at, buffer, far, n_far, near, n_near)
                        : rma_gptr_get_blocks_nbi(buffer, at, near, n_near, far, n_far);
    }
    free(near);
    free(far);
    return code;
}

/* Moves sections of the same shape. */
static int move_sections(const struct rmai_win_access *a, enum direction d, const struct rmai_section *near,
                         const struct rmai_section *far) {
    void *const buffer = rmai_win_at(a->origin.buffer, near->start);
    const rma_gptr_t at = a->at + (rma_gptr_t)far->start;
    if (near->dims == 0)
        return d == PUT ? rma_gptr_put_nbi(at, buffer, near->elem) : rma_gptr_get_nbi(buffer, at, near->elem);
    return d == PUT
               ? rma_gptr_put_section_nbi(at, buffer, far->stride, near->stride, near->elem, near->dims, near->count)
               : rma_gptr_get_section_nbi(buffer, at, near->stride, far->stride, near->elem, near->dims, near->count);
}

int rmai_win_move(const struct rmai_win_access *a, int put, int now) {
    const enum direction d = put ? PUT : GET;
    const int beyond = !a->peer.record;
    struct rmai_section near, far;
    int code = RMA_SUCCESS, sections;
    if (a->peer.base && a->origin.type->plain && a->target.type->plain) {
        char *there = a->peer.base + (a->at - a->peer.start);
        if (d == PUT)
            rma_move_(there, a->origin.buffer, a->origin.size);
        else
            rma_move_(a->origin.buffer, there, a->origin.size);
        return RMA_SUCCESS;
    }
    sections = !a->pieces && rmai_win_two_sections(&a->origin, &a->target, &near, &far);
    if (beyond && d == PUT && !now && sections && near.dims == 0 && near.elem <= RMA_GATHERED_MOST_)
        return rma_put_gathered_(a->at + (rma_gptr_t)far.start, rmai_win_at(a->origin.buffer, near.start), near.elem);
    if (beyond) code = rmai_win_overtakes();
    if (code != RMA_SUCCESS) return code;
    code = a->pieces ? rmai_win_pieces_move(a, put) : sections ? move_sections(a, d, &near, &far) : move_lists(a, d);
    if (code == RMA_SUCCESS && now) code = rma_quiet();
    if (beyond) rmai_win_begins(RMAI_WIN_UNFLUSHED);
    return code;
}

/* Checks that the data of the side that sends fit into the other one. */
static int fit(struct rmai_win_access *a, enum direction d) {
    const struct rmai_win_side *const sends = d == PUT ? &a->origin : &a->target;
    struct rmai_win_side *const receives = d == PUT ? &a->target : &a->origin;
    if (sends->size == receives->size) return MPI_SUCCESS;
    if (sends->size > receives->size)
        return rmai_win_error(a->w, MPI_ERR_TRUNCATE, "%s: %zu bytes at the %s do not fit into %zu at the %s", a->call,
                              sends->size, d == PUT ? "origin" : "target", receives->size,
                              d == PUT ? "target" : "origin");
    a->nothing |= sends->size == 0;
    if (a->nothing || rmai_win_shorten(a, receives, sends->size)) return MPI_SUCCESS;
    return rmai_win_error(a->w, MPI_ERR_NO_MEM, "%s: no memory for the list of the target's blocks", a->call);
}

static int move(struct rmai_win_access *a, enum direction d, int now, const void *origin, MPI_Count count,
                MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type) {
    int code = rmai_win_side(a, "origin", origin, count, type, &a->origin);
    if (code == MPI_SUCCESS) code = rmai_win_side(a, "target", NULL, target_count, target_type, &a->target);
    if (code == MPI_SUCCESS) code = rmai_win_aim(a, rank, disp);
    if (code == MPI_SUCCESS && rank != MPI_PROC_NULL) code = fit(a, d);
    if (code == MPI_SUCCESS && !a->nothing) code = rmai_win_check_buffer(a, "origin", &a->origin);
    if (code == MPI_SUCCESS && !a->nothing) code = rmai_win_failed(a->w, rmai_win_move(a, d == PUT, now));
    free(a->pieces);
    return code;
}

/* ---- contiguous data ---- */

/* 1 if the data are contiguous on both sides, and *len bytes. */
static inline int is_contiguous(const void *origin, MPI_Count count, MPI_Datatype type, MPI_Count target_count,
                                MPI_Datatype target_type, size_t *len) {
    const struct rmai_datatype *t;
    if (count != target_count || type != target_type || count < 0 || count > INT32_MAX) return 0;
    t = rmai_datatype_of(type);
    return t && t->plain && !__builtin_mul_overflow((size_t)count, t->size, len) && origin;
}

/* Contiguous data to a process of another node. Returns 0, with nothing done, if it is not so simple. */
static int transfer_far(struct rmai_win *w, enum direction d, void *buffer, size_t len, int rank, MPI_Aint disp,
                        int *code) {
    const rma_gptr_t there = rmai_win_bytes_far(w, rank, disp, len);
    if (there == RMA_GPTR_NULL || !len || (d == PUT && len > RMA_GATHERED_MOST_)) return 0;
    /* After MPI_Win_lock_all a flush follows, and no signal that could go in the put's message. */
    if (d == PUT && !w->lock_all) {
        *code = rma_put_within_(there, buffer, len, 1);
        return 1;
    }
    *code = rmai_win_overtakes();
    if (*code != RMA_SUCCESS) return 1;
    *code = d == PUT ? rma_put_within_(there, buffer, len, 0) : rma_get_within_(buffer, there, len);
    rmai_win_begins(RMAI_WIN_UNFLUSHED);
    return 1;
}

static __attribute__((noinline)) int transfer_slow(struct rmai_win *w, const char *call, enum direction d, void *buffer,
                                                   MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                                   MPI_Count target_count, MPI_Datatype target_type) {
    struct rmai_win_access a;
    size_t len;
    int code;
    if (is_contiguous(buffer, count, type, target_count, target_type, &len) &&
        transfer_far(w, d, buffer, len, rank, disp, &code))
        return rmai_win_failed(w, code);
    a.w = w;
    a.call = call;
    a.pieces = NULL;
    return move(&a, d, 0, buffer, count, type, rank, disp, target_count, target_type);
}

/* MPI_Put, and MPI_Get: inlined into each of them, so `d` is a constant. Contiguous data skip the checks that they
 * pass in any case. */
static inline __attribute__((always_inline)) int transfer(struct rmai_win *w, const char *call, enum direction d,
                                                          const void *origin, MPI_Count count, MPI_Datatype type,
                                                          int rank, MPI_Aint disp, MPI_Count target_count,
                                                          MPI_Datatype target_type) {
    void *buffer = (void *)(uintptr_t)origin;
    size_t len;
    char *there =
        is_contiguous(origin, count, type, target_count, target_type, &len) ? rmai_win_bytes(w, rank, disp, len) : NULL;
    if (__builtin_expect(!there, 0))
        return transfer_slow(w, call, d, buffer, count, type, rank, disp, target_count, target_type);
    if (d == PUT)
        rma_move_(there, buffer, len);
    else
        rma_move_(buffer, there, len);
    return MPI_SUCCESS;
}

/* MPI_Rput, and MPI_Rget. */
static int transfer_request(struct rmai_win *w, const char *call, enum direction d, const void *origin, MPI_Count count,
                            MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count target_count,
                            MPI_Datatype target_type, MPI_Request *request) {
    struct rmai_win_access a = {.w = w, .call = call};
    int code = rmai_win_check_passive(w, call, rank);
    if (code == MPI_SUCCESS) code = move(&a, d, 1, origin, count, type, rank, disp, target_count, target_type);
    return code == MPI_SUCCESS ? rmai_win_request(w, call, request) : code;
}

#define CALL(NAME, D, BUFFER, COUNT)                                                                                   \
    RMAI_MPI_API int MPI_##NAME(BUFFER origin, COUNT count, MPI_Datatype type, int rank, MPI_Aint disp,                \
                                COUNT target_count, MPI_Datatype target_type, MPI_Win win) {                           \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        if (!w) return PMPI_##NAME(origin, count, type, rank, disp, target_count, target_type, win);                   \
        return transfer(w, "MPI_" #NAME, D, origin, count, type, rank, disp, target_count, target_type);               \
    }
#define CALL_REQUEST(NAME, D, BUFFER, COUNT)                                                                           \
    RMAI_MPI_API int MPI_##NAME(BUFFER origin, COUNT count, MPI_Datatype type, int rank, MPI_Aint disp,                \
                                COUNT target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request) {     \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        if (!w) return PMPI_##NAME(origin, count, type, rank, disp, target_count, target_type, win, request);          \
        return transfer_request(w, "MPI_" #NAME, D, origin, count, type, rank, disp, target_count, target_type,        \
                                request);                                                                              \
    }

CALL(Put, PUT, const void *, int)
CALL(Get, GET, void *, int)
CALL_REQUEST(Rput, PUT, const void *, int)
CALL_REQUEST(Rget, GET, void *, int)
#if MPI_VERSION >= 4
CALL(Put_c, PUT, const void *, MPI_Count)
CALL(Get_c, GET, void *, MPI_Count)
CALL_REQUEST(Rput_c, PUT, const void *, MPI_Count)
CALL_REQUEST(Rget_c, GET, void *, MPI_Count)
#endif
