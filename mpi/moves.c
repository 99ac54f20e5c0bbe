/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mpi/moves.h"
#include "mpi/errors.h"
#include "mpi/requests.h"

#include <stdlib.h>

enum direction { PUT, GET };

/* Moves data by lists of blocks. A side that is one block needs no list. */
static int move_lists(enum direction d, void *buffer, const struct rmai_win_side *o, rma_gptr_t at,
                      const struct rmai_win_side *t) {
    struct rma_block *near = NULL, *far = NULL;
    size_t n_near = 0, n_far = 0;
    int code = RMA_ERR_NO_MEM;
    if ((o->type->plain || rmai_type_blocks(o->type, o->count, &near, &n_near)) &&
        (t->type->plain || rmai_type_blocks(t->type, t->count, &far, &n_far))) {
        buffer = rmai_type_rebase(near, n_near, buffer);
        code = d == PUT ? rma_gptr_put_blocks_nbi(at, buffer, far, n_far, near, n_near)
                        : rma_gptr_get_blocks_nbi(buffer, at, near, n_near, far, n_far);
    }
    free(near);
    free(far);
    return code;
}

/* Moves sections of the same shape. */
static int move_sections(enum direction d, int now, void *buffer, const struct rmai_section *near, rma_gptr_t at,
                         const struct rmai_section *far) {
    int code;
    buffer = rmai_win_at(buffer, near->start);
    at += (rma_gptr_t)far->start;
    if (near->dims == 0 && d == PUT)
        return now ? rma_gptr_put(at, buffer, near->elem) : rma_gptr_put_nbi(at, buffer, near->elem);
    if (near->dims == 0) return now ? rma_gptr_get(buffer, at, near->elem) : rma_gptr_get_nbi(buffer, at, near->elem);
    code = d == PUT
               ? rma_gptr_put_section_nbi(at, buffer, far->stride, near->stride, near->elem, near->dims, near->count)
               : rma_gptr_get_section_nbi(buffer, at, near->stride, far->stride, near->elem, near->dims, near->count);
    return code == RMA_SUCCESS && now ? rma_quiet() : code;
}

int rmai_win_move_data(int put, int now, void *buffer, const struct rmai_win_side *o,
                       const struct rmai_win_target *target, const struct rmai_win_side *t) {
    const enum direction d = put ? PUT : GET;
    struct rmai_section near, far;
    int code = RMA_SUCCESS;
    if (target->peer.base && o->type->plain && t->type->plain) {
        char *there = target->peer.base + (target->at - target->peer.start);
        if (d == PUT)
            rma_move_(there, buffer, o->size);
        else
            rma_move_(buffer, there, o->size);
        return RMA_SUCCESS;
    }
    const int sections = rmai_win_two_sections(o, t, &near, &far), beyond = !target->peer.record;
    if (beyond && d == PUT && !now && sections && near.dims == 0 && near.elem <= RMA_GATHERED_MOST_)
        return rma_put_gathered_(target->at + (rma_gptr_t)far.start, rmai_win_at(buffer, near.start), near.elem);
    if (beyond && (code = rmai_win_overtakes()) != RMA_SUCCESS) return code;
    if (sections) {
        code = move_sections(d, now, buffer, &near, target->at, &far);
    } else {
        code = move_lists(d, buffer, o, target->at, t);
        if (code == RMA_SUCCESS && now) code = rma_quiet();
    }
    if (beyond) rmai_win_begins(RMAI_WIN_OVERTAKES);
    return code;
}

/* The general case: any target, any types. */
static __attribute__((noinline)) int move(struct rmai_win *w, const char *call, enum direction d, int now, void *buffer,
                                          MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                          MPI_Count target_count, MPI_Datatype target_type) {
    struct rmai_win_side o, t;
    struct rmai_win_target target;
    int code = rmai_win_side(w, call, "origin", count, type, &o);
    if (code == MPI_SUCCESS) code = rmai_win_side(w, call, "target", target_count, target_type, &t);
    if (code == MPI_SUCCESS) code = rmai_win_target(w, call, rank, disp, &t, &target);
    if (code != MPI_SUCCESS || target.nothing) return code;
    if (o.size != t.size)
        return rmai_win_error(w, MPI_ERR_TRUNCATE, "%s: %zu bytes at the origin and %zu at the target", call, o.size,
                              t.size);
    if (!buffer && o.type->plain) return rmai_win_error(w, MPI_ERR_BUFFER, "%s: origin_addr is a null pointer", call);
    code = rmai_win_move_data(d == PUT, now, buffer, &o, &target, &t);
    return code == RMA_SUCCESS ? MPI_SUCCESS : rmai_win_failed(w, code);
}

/* 1 if the data are contiguous on both sides, and *len bytes: the simple case. */
static inline int is_simple(MPI_Count count, MPI_Datatype type, MPI_Count target_count, MPI_Datatype target_type,
                            size_t *len) {
    const struct rmai_type *t;
    if (count != target_count || type != target_type || count < 0 || count > INT32_MAX) return 0;
    t = rmai_type_of(type);
    return t && t->plain && !__builtin_mul_overflow((size_t)count, t->size, len);
}

/* The simple case to a process of another node. Returns 0, with nothing done, if it is not so simple. */
static int transfer_far(struct rmai_win *w, enum direction d, void *buffer, size_t len, int rank, MPI_Aint disp,
                        int *code) {
    const rma_gptr_t there = rmai_win_reach_far(w, rank, disp, len);
    if (there == RMA_GPTR_NULL || !len || (d == PUT && len > RMA_GATHERED_MOST_)) return 0;
    /* After MPI_Win_lock_all a flush follows, and no signal that could go in the put's message. */
    if (d == PUT && !w->lock_all) {
        *code = rma_put_within_(there, buffer, len, 1);
        return 1;
    }
    *code = rmai_win_overtakes();
    if (*code != RMA_SUCCESS) return 1;
    *code = d == PUT ? rma_put_within_(there, buffer, len, 0) : rma_get_within_(buffer, there, len);
    rmai_win_begins(RMAI_WIN_OVERTAKES);
    return 1;
}

/* MPI_Put, and MPI_Get: inlined into each of them, so `d` is a constant. */
static inline __attribute__((always_inline)) int transfer(struct rmai_win *w, const char *call, enum direction d,
                                                          const void *origin, MPI_Count count, MPI_Datatype type,
                                                          int rank, MPI_Aint disp, MPI_Count target_count,
                                                          MPI_Datatype target_type) {
    void *buffer = (void *)(uintptr_t)origin;
    size_t len;
    const int simple = is_simple(count, type, target_count, target_type, &len) && origin;
    char *there = simple ? rmai_win_reach(w, rank, disp, len) : NULL;
    int code;
    if (__builtin_expect(!there, 0)) {
        if (simple && transfer_far(w, d, buffer, len, rank, disp, &code)) return rmai_win_failed(w, code);
        return move(w, call, d, 0, buffer, count, type, rank, disp, target_count, target_type);
    }
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
    int code = rmai_win_check_passive(w, call);
    if (code == MPI_SUCCESS)
        code = move(w, call, d, 1, (void *)(uintptr_t)origin, count, type, rank, disp, target_count, target_type);
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
