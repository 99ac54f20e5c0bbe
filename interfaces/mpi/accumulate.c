/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Accumulate and its relatives: which updates librma does, and which go under a lock. librma updates elements of
 * the types that it has, where they are aligned; all others are updated under the lock in the target's record
 * (interfaces/mpi/pieces). Whether one or the other protects an element depends on its type, the operation, its address
 * and the kind of window alone, so all accumulates of one element exclude each other. */
#include "config.h"

#include "base/word.h"
#include "interfaces/mpi/epochs.h"
#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/moves.h"
#include "interfaces/mpi/pieces.h"
#include "interfaces/mpi/requests.h"

#include <stdlib.h>

/* ---- elements that librma updates ---- */

/* As rmai_win_two_sections, with elements of `elem` bytes: a block becomes one more dimension. */
static int in_elements(struct rmai_section *s, size_t elem) {
    if (s->elem % elem != 0 || s->dims == RMA_DIMS_MAX) return 0;
    if (s->elem == elem) return 1;
    s->count[s->dims] = s->elem / elem;
    s->stride[s->dims++] = (ptrdiff_t)elem;
    s->elem = elem;
    return 1;
}

/* Returns -1, with nothing done, if the sides are not sections of one shape. */
static int update_sections(const struct rmai_win_access *a, int op, int type, size_t elem) {
    const int fetches = a->result.type != NULL, reads_only = op == RMA_OP_FETCH;
    const struct rmai_win_side *near = reads_only ? &a->result : &a->origin;
    struct rmai_section o, t, r, other;
    rma_gptr_t at;
    if (!rmai_win_two_sections(near, &a->target, &o, &t) || !in_elements(&o, elem) || !in_elements(&t, elem)) return -1;
    r = o;
    if (fetches && !reads_only &&
        (!rmai_win_two_sections(&a->result, &a->target, &r, &other) || !in_elements(&r, elem) ||
         !in_elements(&other, elem) || r.dims != o.dims ||
         memcmp(r.count, o.count, (size_t)r.dims * sizeof *r.count) != 0 || other.dims != t.dims))
        return -1;
    at = a->at + (rma_gptr_t)t.start;
    if (!fetches)
        return rma_gptr_accumulate_section_nbi(at, rmai_win_at(a->origin.buffer, o.start), t.stride, o.stride, o.dims,
                                               o.count, type, op, NULL);
    return rma_gptr_get_accumulate_section_nbi(at, reads_only ? NULL : rmai_win_at(a->origin.buffer, o.start),
                                               rmai_win_at(a->result.buffer, r.start), t.stride, o.stride, r.stride,
                                               o.dims, o.count, type, op, NULL);
}

/* Makes the list of a side; none if it is one block. Returns where it begins in *first; 0 if memory is exhausted. */
static int list_side(const struct rmai_win_side *side, struct rma_block **blocks, size_t *n, ptrdiff_t *first) {
    *blocks = NULL;
    *n = 0;
    *first = 0;
    if (!side->type || side->type->plain) return 1;
    if (!rmai_datatype_blocks(side->type, side->count, blocks, n)) return 0;
    *first = rmai_blocks_rebase(*blocks, *n);
    return 1;
}

static int update_lists(const struct rmai_win_access *a, int op, int type) {
    static const struct rmai_win_side none;
    const int reads_only = op == RMA_OP_FETCH;
    struct rma_block *o = NULL, *t = NULL, *r = NULL;
    size_t n_o = 0, n_t = 0, n_r = 0;
    ptrdiff_t o_at = 0, t_at = 0, r_at = 0;
    int code = RMA_ERR_NO_MEM;
    if (list_side(reads_only ? &none : &a->origin, &o, &n_o, &o_at) && list_side(&a->target, &t, &n_t, &t_at) &&
        list_side(&a->result, &r, &n_r, &r_at)) {
        const void *const origin = reads_only ? NULL : rmai_win_at(a->origin.buffer, o_at);
        const rma_gptr_t at = a->at + (rma_gptr_t)t_at;
        code = a->result.type ? rma_gptr_get_accumulate_blocks_nbi(at, origin, rmai_win_at(a->result.buffer, r_at), t,
                                                                   n_t, o, n_o, r, n_r, type, op, NULL)
                              : rma_gptr_accumulate_blocks_nbi(at, origin, t, n_t, o, n_o, type, op, NULL);
    }
    free(o);
    free(t);
    free(r);
    return code;
}

/* 1 if the update can be a get. On this node a copy reads an element of up to 8 bytes as a whole if the element is
 * aligned to its size, which pairs and complex numbers are not. Several elements that have up to 16 bytes together may
 * be one to the program (docs/mpi_windows.md): where the copy of that is not whole, reads take the lock as well.
 * Between nodes a copy might overtake earlier accumulates of this process. */
static int is_copy(const struct rmai_win_access *a, enum rmai_win_op op) {
    const struct rmai_element *e = a->target.type->element;
    const int in_parts = a->target.size > 8 && a->target.size <= 16 && a->address % 16 != 0;
    return op == RMAI_WIN_NO_OP && a->peer.record && e->align == e->size && e->size <= 8 && !in_parts;
}

/* 1 if librma takes the whole access: it has the operation, and all elements are aligned, on all sides. */
static int is_native(const struct rmai_win_access *a, enum rmai_win_op op) {
    const struct rmai_element *e = a->target.type->element;
    const struct rmai_win_side *const o = &a->origin, *const r = &a->result;
    return !a->pieces && e->array[op] >= 0 &&
           rmai_datatype_aligned(a->target.type, a->target.count, a->address, e->align) &&
           (op == RMAI_WIN_NO_OP || rmai_datatype_aligned(o->type, o->count, (uintptr_t)o->buffer, e->align)) &&
           (!r->type || rmai_datatype_aligned(r->type, r->count, (uintptr_t)r->buffer, e->align));
}

static int update_natively(struct rmai_win_access *a, enum rmai_win_op op) {
    const struct rmai_element *e = a->target.type->element;
    const int type = e->native, array = e->array[op];
    const int o_plain = op == RMAI_WIN_NO_OP || a->origin.type->plain,
              r_plain = !a->result.type || a->result.type->plain;
    int code;
    if (is_copy(a, op)) {
        a->origin = a->result;
        return rmai_win_move(a, 0, 0);
    }
    if (o_plain && r_plain && a->target.type->plain) {
        const size_t n = a->target.size / e->size;
        return a->result.type ? rma_gptr_get_accumulate_nbi(a->at, op == RMAI_WIN_NO_OP ? NULL : a->origin.buffer,
                                                            a->result.buffer, n, type, array, NULL)
                              : rma_gptr_accumulate_nbi(a->at, a->origin.buffer, n, type, array, NULL);
    }
    code = update_sections(a, array, type, e->size);
    return code >= 0 ? code : update_lists(a, array, type);
}

/* ---- any update ---- */

static int types_differ(const struct rmai_win_access *a, const char *name, const struct rmai_win_side *side) {
    const struct rmai_win_side *t = &a->target;
    if (!side->type || (side->size == t->size && (side->type->element == t->type->element || t->size == 0)))
        return MPI_SUCCESS;
    return rmai_win_error(a->w, MPI_ERR_TYPE, "%s: %s (%zu bytes) and target (%zu) differ in data or element type",
                          a->call, name, side->size, t->size);
}

/* 1 if the target has more elements than the origin, and the data end with an element of the target's type. No data
 * have no element type. */
static int is_shorter(const struct rmai_win_access *a) {
    const struct rmai_win_side *o = &a->origin, *t = &a->target;
    return !a->nothing && o->type && !a->result.type && o->size < t->size && o->size % t->type->size == 0 &&
           (o->size == 0 || o->type->element == t->type->element);
}

/* Checks what the sides are together. */
static int check_sides(const struct rmai_win_access *a, enum rmai_win_op op) {
    const int code = op == RMAI_WIN_NO_OP ? MPI_SUCCESS : types_differ(a, "origin", &a->origin);
    return code == MPI_SUCCESS ? types_differ(a, "result", &a->result) : code;
}

/* Checks the operation and the buffers, to MPI_PROC_NULL as well. */
static int check_update(const struct rmai_win_access *a, enum rmai_win_op op) {
    const struct rmai_element *e = a->target.type->element;
    int code = MPI_SUCCESS;
    if (op == RMAI_WIN_NO_OP && !a->result.type)
        return rmai_win_error(a->w, MPI_ERR_OP, "%s: MPI_NO_OP is for calls that fetch", a->call);
    if (a->target.size == 0) return MPI_SUCCESS;
    if (!e)
        return rmai_win_error(a->w, MPI_ERR_TYPE, "%s: the target's datatype has elements of several types", a->call);
    if (op == RMAI_WIN_OPS || !rmai_element_has(e, op))
        return rmai_win_error(a->w, MPI_ERR_OP, "%s: op is not a predefined operation on this datatype", a->call);
    if (op != RMAI_WIN_NO_OP) code = rmai_win_check_buffer(a, "origin", &a->origin);
    return code == MPI_SUCCESS ? rmai_win_check_buffer(a, "result", &a->result) : code;
}

static int do_update(struct rmai_win_access *a, enum rmai_win_op op) {
    const int beyond = !a->peer.record;
    int code = beyond ? rmai_win_overtakes() : RMA_SUCCESS;
    if (code != RMA_SUCCESS) return code;
    code = is_native(a, op) ? update_natively(a, op) : rmai_win_pieces_update(a, op, NULL);
    if (beyond) rmai_win_begins(RMAI_WIN_UNFLUSHED);
    return code;
}

/* The arguments of a call that updates. */
struct arguments {
    const void *origin;
    MPI_Count origin_count;
    MPI_Datatype origin_type;
    void *result;
    MPI_Count result_count;
    MPI_Datatype result_type;
    int fetches; /* 0: the call has no result */
    int rank;
    MPI_Aint disp;
    MPI_Count target_count;
    MPI_Datatype target_type;
    MPI_Op op;
};

static __attribute__((noinline)) int update(struct rmai_win *w, const char *call, const struct arguments *args) {
    static const struct rmai_win_side none;
    const enum rmai_win_op op = rmai_win_op_of(args->op);
    struct rmai_win_access a; /* it is large; the rest is filled in below */
    int code;
    a.w = w;
    a.call = call;
    a.pieces = NULL;
    a.nothing = 0;
    a.origin = a.result = none;
    code = rmai_win_side(&a, "target", NULL, args->target_count, args->target_type, &a.target);
    if (code == MPI_SUCCESS && op != RMAI_WIN_NO_OP)
        code = rmai_win_side(&a, "origin", args->origin, args->origin_count, args->origin_type, &a.origin);
    if (code == MPI_SUCCESS && args->fetches)
        code = rmai_win_side(&a, "result", args->result, args->result_count, args->result_type, &a.result);
    if (code == MPI_SUCCESS) code = rmai_win_aim(&a, args->rank, args->disp);
    if (code == MPI_SUCCESS && args->rank != MPI_PROC_NULL) {
        if (is_shorter(&a)) {
            a.nothing = a.origin.size == 0;
            rmai_win_shorten(&a, &a.target, a.origin.size); /* whole elements: it cannot fail */
        }
        code = check_sides(&a, op);
    }
    if (code == MPI_SUCCESS) code = check_update(&a, op);
    if (code == MPI_SUCCESS && !a.nothing) code = rmai_win_failed(w, do_update(&a, op));
    free(a.pieces);
    return code;
}

/* The same in a call that returns a request. */
static int update_request(struct rmai_win *w, const char *call, const struct arguments *args, MPI_Request *request) {
    int code = rmai_win_check_passive(w, call, args->rank);
    if (code == MPI_SUCCESS) code = update(w, call, args);
    if (code == MPI_SUCCESS) code = rmai_win_failed(w, rma_quiet());
    return code == MPI_SUCCESS ? rmai_win_request(w, call, request) : code;
}

/* ---- one word ---- */

static inline uint64_t load_word(const void *from, size_t len) {
    uint64_t word8;
    uint32_t word4;
    if (len == 8) return memcpy(&word8, from, 8), word8;
    memcpy(&word4, from, 4);
    return word4;
}

static inline void store_word(void *to, uint64_t word, size_t len) {
    if (len == 8)
        memcpy(to, &word, 8);
    else
        memcpy(to, &word, 4);
}

/* The atomic of librma that updates one element, or -1. */
static inline int atomic_of(const struct rmai_datatype *t, const void *origin, const void *result,
                            enum rmai_win_op op) {
    if (!t || !t->single || op >= RMAI_WIN_OPS || (!origin && op != RMAI_WIN_NO_OP) ||
        (!result && op == RMAI_WIN_NO_OP))
        return -1;
    return t->element->word[op];
}

/* The same as update_word, for a word of another node. *code is the call's result. */
static __attribute__((noinline)) int update_word_far(struct rmai_win *w, const char *call, int atomic,
                                                     const void *origin, const void *cond, void *result, size_t len,
                                                     int rank, MPI_Aint disp, enum rmai_win_op op, int *code) {
    const rma_gptr_t there = rmai_win_word_far(w, rank, disp, len);
    uint64_t value, old = 0;
    if (there == RMA_GPTR_NULL) return 0;
    *code = rmai_win_overtakes();
    if (*code == RMA_SUCCESS) {
        value = op == RMAI_WIN_NO_OP ? 0 : load_word(origin, len);
        if (op == RMAI_WIN_SWAP) {
            /* It is complete on return, so no signal can overtake it. */
            *code = rmai_win_atomic(call, atomic, there, len, value, load_word(cond, len), &old);
            if (*code == RMA_SUCCESS) store_word(result, old, len);
        } else {
            *code = result ? rma_gptr_atomic_nbi_slow_(call, atomic, there, len, value, 0, result)
                           : rma_gptr_atomic_slow_(call, atomic, there, len, value, 0, NULL);
            rmai_win_begins(RMAI_WIN_UNFLUSHED);
        }
    }
    *code = rmai_win_failed(w, *code);
    return 1;
}

/* Updates one element as an atomic of librma, if the type has one for the operation. Returns 0, with nothing done, if
 * it has not, or if anything is unusual. */
static inline int update_word(struct rmai_win *w, const char *call, const void *origin, const void *cond, void *result,
                              const struct rmai_datatype *t, int rank, MPI_Aint disp, enum rmai_win_op op, int *code) {
    const int atomic = atomic_of(t, origin, result, op);
    uint64_t value = 0, expected = 0, old;
    char *there;
    if (atomic < 0) return 0;
    there = rmai_win_word(w, rank, disp, t->size);
    if (!there)
        return w->last_far && update_word_far(w, call, atomic, origin, cond, result, t->size, rank, disp, op, code);
    if (op != RMAI_WIN_NO_OP) value = load_word(origin, t->size);
    if (op == RMAI_WIN_SWAP) expected = load_word(cond, t->size);
    old = rma_apply_(atomic, there, t->size, value, expected);
    if (result) store_word(result, old, t->size);
    *code = MPI_SUCCESS;
    return 1;
}

/* ---- calls ---- */

#define CALLS(SUFFIX, COUNT)                                                                                           \
    RMAI_MPI_API int MPI_Accumulate##SUFFIX(const void *origin, COUNT count, MPI_Datatype type, int rank,              \
                                            MPI_Aint disp, COUNT target_count, MPI_Datatype target_type, MPI_Op op,    \
                                            MPI_Win win) {                                                             \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        int code;                                                                                                      \
        if (!w) return PMPI_Accumulate##SUFFIX(origin, count, type, rank, disp, target_count, target_type, op, win);   \
        if (count == 1 && target_count == 1 && type == target_type &&                                                  \
            update_word(w, "MPI_Accumulate" #SUFFIX, origin, NULL, NULL, rmai_datatype_of(type), rank, disp,           \
                        rmai_win_op_of(op), &code))                                                                    \
            return code;                                                                                               \
        return update(w, "MPI_Accumulate" #SUFFIX, &ACCUMULATE);                                                       \
    }                                                                                                                  \
    RMAI_MPI_API int MPI_Get_accumulate##SUFFIX(const void *origin, COUNT count, MPI_Datatype type, void *result,      \
                                                COUNT result_count, MPI_Datatype result_type, int rank, MPI_Aint disp, \
                                                COUNT target_count, MPI_Datatype target_type, MPI_Op op,               \
                                                MPI_Win win) {                                                         \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        int code;                                                                                                      \
        if (!w)                                                                                                        \
            return PMPI_Get_accumulate##SUFFIX(origin, count, type, result, result_count, result_type, rank, disp,     \
                                               target_count, target_type, op, win);                                    \
        if (count == 1 && result_count == 1 && target_count == 1 && type == target_type && type == result_type &&      \
            result &&                                                                                                  \
            update_word(w, "MPI_Get_accumulate" #SUFFIX, origin, NULL, result, rmai_datatype_of(type), rank, disp,     \
                        rmai_win_op_of(op), &code))                                                                    \
            return code;                                                                                               \
        return update(w, "MPI_Get_accumulate" #SUFFIX, &GET_ACCUMULATE);                                               \
    }                                                                                                                  \
    RMAI_MPI_API int MPI_Raccumulate##SUFFIX(const void *origin, COUNT count, MPI_Datatype type, int rank,             \
                                             MPI_Aint disp, COUNT target_count, MPI_Datatype target_type, MPI_Op op,   \
                                             MPI_Win win, MPI_Request *request) {                                      \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        if (!w)                                                                                                        \
            return PMPI_Raccumulate##SUFFIX(origin, count, type, rank, disp, target_count, target_type, op, win,       \
                                            request);                                                                  \
        return update_request(w, "MPI_Raccumulate" #SUFFIX, &ACCUMULATE, request);                                     \
    }                                                                                                                  \
    RMAI_MPI_API int MPI_Rget_accumulate##SUFFIX(const void *origin, COUNT count, MPI_Datatype type, void *result,     \
                                                 COUNT result_count, MPI_Datatype result_type, int rank,               \
                                                 MPI_Aint disp, COUNT target_count, MPI_Datatype target_type,          \
                                                 MPI_Op op, MPI_Win win, MPI_Request *request) {                       \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        if (!w)                                                                                                        \
            return PMPI_Rget_accumulate##SUFFIX(origin, count, type, result, result_count, result_type, rank, disp,    \
                                                target_count, target_type, op, win, request);                          \
        return update_request(w, "MPI_Rget_accumulate" #SUFFIX, &GET_ACCUMULATE, request);                             \
    }
#define ACCUMULATE                                                                                                     \
    (struct arguments) {                                                                                               \
        .origin = origin, .origin_count = count, .origin_type = type, .rank = rank, .disp = disp,                      \
        .target_count = target_count, .target_type = target_type, .op = op                                             \
    }
#define GET_ACCUMULATE                                                                                                 \
    (struct arguments) {                                                                                               \
        .origin = origin, .origin_count = count, .origin_type = type, .result = result, .result_count = result_count,  \
        .result_type = result_type, .fetches = 1, .rank = rank, .disp = disp, .target_count = target_count,            \
        .target_type = target_type, .op = op                                                                           \
    }

CALLS(, int)
#if MPI_VERSION >= 4
CALLS(_c, MPI_Count)
#endif

RMAI_MPI_API int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                                  MPI_Op op, MPI_Win win) {
    static const char call[] = "MPI_Fetch_and_op";
    struct rmai_win *w = rmai_win_of(win);
    const MPI_Count count = 1, result_count = 1, target_count = 1;
    const MPI_Datatype result_type = type, target_type = type;
    const struct rmai_datatype *t;
    int code;
    if (!w) return PMPI_Fetch_and_op(origin, result, type, rank, disp, op, win);
    t = rmai_datatype_of(type);
    if (t && !t->predefined) return rmai_win_error(w, MPI_ERR_TYPE, "%s: datatype is not a predefined type", call);
    if (result && update_word(w, call, origin, NULL, result, t, rank, disp, rmai_win_op_of(op), &code)) return code;
    return update(w, call, &GET_ACCUMULATE);
}

/* A word is swapped as such if it is aligned, else under the window's lock. Either way it is complete on return, so no
 * signal can overtake it. */
static int compare_swap(struct rmai_win_access *a, const void *compare) {
    const struct rmai_datatype *t = a->target.type;
    uint64_t value, cond, old = 0;
    int code = a->peer.record ? RMA_SUCCESS : rmai_win_overtakes();
    if (code != RMA_SUCCESS) return code;
    if (a->pieces || a->address % t->size != 0 || t->size > sizeof value)
        return rmai_win_pieces_update(a, RMAI_WIN_SWAP, compare);
    value = rmai_word_load(a->origin.buffer, t->size);
    cond = rmai_word_load(compare, t->size);
    code = rmai_win_atomic(a->call, t->size >= 4 ? t->element->word[RMAI_WIN_SWAP] : RMA_COMPARE_SWAP_, a->at, t->size,
                           value, cond, &old);
    if (code == RMA_SUCCESS) rmai_word_store(a->result.buffer, old, t->size);
    return code;
}

RMAI_MPI_API int MPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                                      int rank, MPI_Aint disp, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    struct rmai_win_access a; /* filled in where the short way does not do: it is large */
    const struct rmai_datatype *t;
    int code;
    if (!w) return PMPI_Compare_and_swap(origin, compare, result, type, rank, disp, win);
    if (__builtin_expect(!origin || !compare || !result, 0))
        return rmai_win_error(w, MPI_ERR_BUFFER, "MPI_Compare_and_swap: %s is a null pointer",
                              !origin    ? "origin_addr"
                              : !compare ? "compare_addr"
                                         : "result_addr");
    t = rmai_datatype_of(type);
    if (t && t->predefined &&
        update_word(w, "MPI_Compare_and_swap", origin, compare, result, t, rank, disp, RMAI_WIN_SWAP, &code))
        return code;
    a = (struct rmai_win_access){.w = w, .call = "MPI_Compare_and_swap"};
    code = rmai_win_side(&a, "target", NULL, 1, type, &a.target);
    if (code != MPI_SUCCESS) return code;
    t = a.target.type;
    if (!t->predefined || !t->element || !rmai_element_has(t->element, RMAI_WIN_SWAP))
        return rmai_win_error(w, MPI_ERR_TYPE, "%s: datatype is not a predefined integer, logical or byte type",
                              a.call);
    a.origin = a.result = a.target;
    a.origin.buffer = (void *)(uintptr_t)origin;
    a.result.buffer = result;
    code = rmai_win_aim(&a, rank, disp);
    if (code == MPI_SUCCESS && !a.nothing) code = rmai_win_failed(w, compare_swap(&a, compare));
    free(a.pieces);
    return code;
}
