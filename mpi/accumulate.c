/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Accumulate and its relatives. librma updates the elements of one type atomically. A processor cannot update pairs
 * of a value and an index, or elements that are not aligned, as one word: a lock in the target's record protects these.
 */
#include "config.h"

#include "mpi/epochs.h"
#include "mpi/errors.h"
#include "mpi/moves.h"
#include "mpi/requests.h"

#include <stdlib.h>

/* One call and its arguments. r.type is NULL if the call fetches nothing. */
struct update {
    const char *call;
    MPI_Op op;
    const void *origin;
    void *result;
    struct rmai_win_side o, r, t;
    struct rmai_win_target target;
};

/* Returns the operation of librma (enum rma_op), or -1 if librma does not have it for the type. */
static int op_of(MPI_Op op, const struct rmai_type *t) {
    const int number = t->element >= RMA_INT8 && t->element <= RMA_LDOUBLE;
    const int integer = t->element >= RMA_INT8 && t->element <= RMA_UINT64 && !t->logical;
    const int any = t->element >= RMA_INT8 && t->element <= RMA_COMPLEXD && !t->logical;
    const int bytes = t->basic == MPI_BYTE || t->basic == MPI_PACKED;
    const int character = t->basic == MPI_CHAR || t->basic == MPI_WCHAR || t->basic == MPI_CHARACTER;
    if (op == MPI_REPLACE) return RMA_OP_REPLACE;
    if (op == MPI_NO_OP) return RMA_OP_FETCH;
    if (character) return -1;
    if (op == MPI_BAND && integer) return RMA_OP_AND;
    if (op == MPI_BOR && integer) return RMA_OP_OR;
    if (op == MPI_BXOR && integer) return RMA_OP_XOR;
    if (bytes) return -1;
    if (op == MPI_LAND && (integer || t->logical)) return RMA_OP_LAND;
    if (op == MPI_LOR && (integer || t->logical)) return RMA_OP_LOR;
    if (op == MPI_LXOR && (integer || t->logical)) return RMA_OP_LXOR;
    if (op == MPI_SUM && any) return RMA_OP_SUM;
    if (op == MPI_PROD && any) return RMA_OP_PROD;
    if (op == MPI_MIN && number && !t->logical) return RMA_OP_MIN;
    if (op == MPI_MAX && number && !t->logical) return RMA_OP_MAX;
    return -1;
}

/* Returns the type with which librma moves the elements. MPI_REPLACE and MPI_NO_OP need no arithmetic, so a type of the
 * same length serves. */
static int word_of(const struct rmai_type *t) {
    if (t->element >= 0 && t->element != RMAI_ELEMENT_PAIR) return t->element;
    return t->element_size % 8 == 0   ? RMA_UINT64
           : t->element_size % 4 == 0 ? RMA_UINT32
           : t->element_size % 2 == 0 ? RMA_UINT16
                                      : RMA_UINT8;
}

static size_t element_bytes(int type) {
    static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, sizeof(long double), 8, 16};
    return sizes[type];
}

/* ---- elements that librma knows ---- */

/* As rmai_win_two_sections, with elements of `elem` bytes: a block becomes one more dimension. */
static int in_elements(struct rmai_section *s, size_t elem) {
    if (s->elem % elem != 0 || s->dims == RMA_DIMS_MAX) return 0;
    if (s->elem == elem) return 1;
    s->count[s->dims] = s->elem / elem;
    s->stride[s->dims++] = (ptrdiff_t)elem;
    s->elem = elem;
    return 1;
}

static int update_sections(const struct update *u, int op, int type) {
    const size_t elem = element_bytes(type);
    const int fetches = u->r.type != NULL, reads_only = op == RMA_OP_FETCH;
    const struct rmai_win_side *near = reads_only ? &u->r : &u->o;
    struct rmai_section o, t, r, other;
    rma_gptr_t at;
    if (!rmai_win_two_sections(near, &u->t, &o, &t) || !in_elements(&o, elem) || !in_elements(&t, elem)) return -1;
    r = o;
    if (fetches && !reads_only &&
        (!rmai_win_two_sections(&u->r, &u->t, &r, &other) || !in_elements(&r, elem) || !in_elements(&other, elem) ||
         r.dims != o.dims || memcmp(r.count, o.count, (size_t)r.dims * sizeof *r.count) != 0 || other.dims != t.dims))
        return -1;
    at = u->target.at + (rma_gptr_t)t.start;
    if (!fetches)
        return rma_gptr_accumulate_section_nbi(at, rmai_win_at(u->origin, o.start), t.stride, o.stride, o.dims, o.count,
                                               type, op, NULL);
    return rma_gptr_get_accumulate_section_nbi(at, reads_only ? NULL : rmai_win_at(u->origin, o.start),
                                               rmai_win_at(u->result, r.start), t.stride, o.stride, r.stride, o.dims,
                                               o.count, type, op, NULL);
}

static int list_of(const struct rmai_win_side *side, struct rma_block **blocks, size_t *n) {
    *blocks = NULL;
    *n = 0;
    return !side->type || side->type->plain || rmai_type_blocks(side->type, side->count, blocks, n);
}

static int update_blocks(const struct update *u, int op, int type) {
    const int reads_only = op == RMA_OP_FETCH;
    struct rma_block *o = NULL, *t = NULL, *r = NULL;
    size_t n_o = 0, n_t = 0, n_r = 0;
    int code = RMA_ERR_NO_MEM;
    if ((reads_only || list_of(&u->o, &o, &n_o)) && list_of(&u->t, &t, &n_t) && list_of(&u->r, &r, &n_r)) {
        const void *origin = reads_only ? NULL : rmai_type_rebase(o, n_o, u->origin);
        void *result = rmai_type_rebase(r, n_r, u->result);
        code = u->r.type ? rma_gptr_get_accumulate_blocks_nbi(u->target.at, origin, result, t, n_t, o, n_o, r, n_r,
                                                              type, op, NULL)
                         : rma_gptr_accumulate_blocks_nbi(u->target.at, origin, t, n_t, o, n_o, type, op, NULL);
    }
    free(o);
    free(t);
    free(r);
    return code;
}

/* 1 if the update can be a put or get. On this node each copy writes and reads an element of up to 8 bytes as a whole.
 * Between nodes a copy might overtake earlier accumulates of this process. */
static int is_copy(const struct update *u, int op) {
    return u->target.peer.record && u->t.type->element_size <= 8 &&
           (op == RMA_OP_FETCH || (op == RMA_OP_REPLACE && !u->r.type));
}

static int update_elements(const struct update *u, int op) {
    const int type = word_of(u->t.type);
    const size_t n = u->t.size / element_bytes(type);
    const int o_plain = op == RMA_OP_FETCH || u->o.type->plain, r_plain = !u->r.type || u->r.type->plain;
    int code;
    if (is_copy(u, op) && op == RMA_OP_FETCH) return rmai_win_move_data(0, 0, u->result, &u->r, &u->target, &u->t);
    if (is_copy(u, op)) return rmai_win_move_data(1, 0, (void *)(uintptr_t)u->origin, &u->o, &u->target, &u->t);
    if (o_plain && r_plain && u->t.type->plain)
        return u->r.type ? rma_gptr_get_accumulate_nbi(u->target.at, op == RMA_OP_FETCH ? NULL : u->origin, u->result,
                                                       n, type, op, NULL)
                         : rma_gptr_accumulate_nbi(u->target.at, u->origin, n, type, op, NULL);
    code = update_sections(u, op, type);
    return code >= 0 ? code : update_blocks(u, op, type);
}

/* ---- pairs, and elements that are not aligned ---- */

/* gather makes the data of one side contiguous; scatter copies them back. */
static void gather(char *to, const char *from, const struct rma_block *b, size_t n) {
    for (size_t i = 0; i < n; to += b[i++].len) memcpy(to, rmai_win_at(from, b[i].offset), b[i].len);
}

static void scatter(char *to, const char *from, const struct rma_block *b, size_t n) {
    for (size_t i = 0; i < n; from += b[i++].len) memcpy(rmai_win_at(to, b[i].offset), from, b[i].len);
}

/* there[i] = there[i] op mine[i] by MPI_Reduce_local. Both arrays have packed elements of size bytes, but
 * MPI_Reduce_local needs the layout of the type: so each element is unpacked first, and the result is packed. */
static int combine(const struct update *u, char *there, const char *mine, size_t n, size_t size) {
    const MPI_Datatype basic = u->t.type->basic;
    for (size_t i = 0; i < n; i++, there += size, mine += size) {
        _Alignas(max_align_t) char a[64], b[64];
        int at = 0, code = PMPI_Unpack(there, (int)size, &at, a, 1, basic, rmai_win_self);
        at = 0;
        if (code == MPI_SUCCESS) code = PMPI_Unpack(mine, (int)size, &at, b, 1, basic, rmai_win_self);
        if (code == MPI_SUCCESS) code = PMPI_Reduce_local(b, a, 1, basic, u->op);
        at = 0;
        if (code == MPI_SUCCESS) code = PMPI_Pack(a, 1, basic, there, (int)size, &at, rmai_win_self);
        if (code != MPI_SUCCESS) return rma_fail_(RMA_ERR_MPI, "%s: MPI_Reduce_local failed", u->call);
    }
    return RMA_SUCCESS;
}

/* Reads the target's elements, combines them and writes them back, under the lock in the target's record. */
static int update_locked(struct rmai_win *w, struct update *u) {
    const size_t size = u->t.type->element_size, n = u->t.size / size;
    struct rma_block *o = NULL, *t = NULL, *r = NULL;
    size_t n_o = 0, n_t = 0, n_r = 0;
    char *mine = malloc(u->t.size), *there = malloc(u->t.size);
    int code = RMA_ERR_NO_MEM, taken, released;
    const int reads_only = u->op == MPI_NO_OP, replaces = u->op == MPI_REPLACE;
    if (mine && there && (reads_only || rmai_type_blocks(u->o.type, u->o.count, &o, &n_o)) &&
        rmai_type_blocks(u->t.type, u->t.count, &t, &n_t) &&
        (!u->r.type || rmai_type_blocks(u->r.type, u->r.count, &r, &n_r))) {
        const size_t lock = offsetof(struct rmai_win_record, locked_updates);
        if (!reads_only) gather(mine, u->origin, o, n_o);
        code = rmai_win_take(w, u->call, &u->target.peer, lock, RMAI_WIN_WRITER);
        taken = code == RMA_SUCCESS;
        if (code == RMA_SUCCESS) code = rma_gptr_get_blocks(there, u->target.at, NULL, 0, t, n_t);
        if (code == RMA_SUCCESS && u->r.type) scatter(u->result, there, r, n_r);
        if (code == RMA_SUCCESS && !reads_only && !replaces) code = combine(u, there, mine, n, size);
        if (code == RMA_SUCCESS && !reads_only)
            code = rma_gptr_put_blocks(u->target.at, replaces ? mine : there, t, n_t, NULL, 0);
        if (code == RMA_SUCCESS && !u->target.peer.record) code = rma_quiet_of_(u->target.peer.pe);
        released = taken ? rmai_win_release(u->call, &u->target.peer, lock, RMAI_WIN_WRITER) : RMA_SUCCESS;
        if (code == RMA_SUCCESS) code = released;
    }
    free(o);
    free(t);
    free(r);
    free(mine);
    free(there);
    return code;
}

/* ---- one word ---- */

/* The atomic operation (enum rma_atomic_op_) that is a call's update of one element, or -1. */
static int atomic_of(MPI_Op op, const struct rmai_type *t, int fetches) {
    if (!t->plain || t->logical || (t->size != 4 && t->size != 8) || t->element < 0 || t->element > RMA_DOUBLE)
        return -1;
    if (op == MPI_SUM) return t->element <= RMA_UINT64 ? RMA_FETCH_ADD_ : RMA_FETCH_FADD_;
    if (op == MPI_REPLACE) return RMA_SWAP_;
    return op == MPI_NO_OP && fetches ? RMA_FETCH_ : -1;
}

/* The same on another node: a record of a word is shorter than one of an array. Returns 0, with nothing done, if it is
 * no such update. */
static int far_word(const struct update *u, int *code) {
    const int atomic = u->t.count == 1 ? atomic_of(u->op, u->t.type, u->r.type != NULL) : -1;
    const int o_plain = u->op == MPI_NO_OP || (u->o.count == 1 && u->o.type->plain);
    uint64_t value = 0;
    if (atomic < 0 || u->target.peer.record || !o_plain || (u->r.type && !u->r.type->plain) ||
        u->target.at % u->t.size != 0)
        return 0;
    if (atomic != RMA_FETCH_) memcpy(&value, u->origin, u->t.size);
    *code = u->r.type ? rma_gptr_atomic_nbi_slow_(u->call, atomic, u->target.at, u->t.size, value, 0, u->result)
                      : rma_gptr_atomic_slow_(u->call, atomic, u->target.at, u->t.size, value, 0, NULL);
    return 1;
}

/* ---- calls ---- */

static int null_buffer(struct rmai_win *w, const char *call, const char *argument) {
    return rmai_win_error(w, MPI_ERR_BUFFER, "%s: %s is a null pointer", call, argument);
}

/* The checks that all calls share, and then the update. The sides of u are filled in here. */
static int update(struct rmai_win *w, struct update *u, MPI_Count o_count, MPI_Datatype o_type, MPI_Count r_count,
                  MPI_Datatype r_type, int rank, MPI_Aint disp, MPI_Count t_count, MPI_Datatype t_type) {
    const int reads_only = u->op == MPI_NO_OP;
    int op, code = rmai_win_side(w, u->call, "target", t_count, t_type, &u->t);
    if (code == MPI_SUCCESS && !reads_only) code = rmai_win_side(w, u->call, "origin", o_count, o_type, &u->o);
    if (code == MPI_SUCCESS && u->r.type == NULL && r_type != MPI_DATATYPE_NULL)
        code = rmai_win_side(w, u->call, "result", r_count, r_type, &u->r);
    if (code == MPI_SUCCESS) code = rmai_win_target(w, u->call, rank, disp, &u->t, &u->target);
    if (code != MPI_SUCCESS) return code;
    if (!reads_only && (u->o.size != u->t.size || u->o.type->basic != u->t.type->basic))
        return rmai_win_error(w, MPI_ERR_TYPE, "%s: origin (%zu bytes) and target (%zu) differ in data or element type",
                              u->call, u->o.size, u->t.size);
    if (u->r.type && (u->r.size != u->t.size || u->r.type->basic != u->t.type->basic))
        return rmai_win_error(w, MPI_ERR_TYPE, "%s: result (%zu bytes) and target (%zu) differ in data or element type",
                              u->call, u->r.size, u->t.size);
    if (u->t.type->element == RMAI_ELEMENT_MIXED && u->t.type->basic == MPI_DATATYPE_NULL && u->t.size)
        return rmai_win_error(w, MPI_ERR_TYPE, "%s: the target's datatype has elements of several types", u->call);
    if (reads_only && r_type == MPI_DATATYPE_NULL)
        return rmai_win_error(w, MPI_ERR_OP, "%s: MPI_NO_OP is for calls that fetch", u->call);
    if (u->t.size && !u->origin && !reads_only && u->o.type->plain) return null_buffer(w, u->call, "origin_addr");
    if (u->t.size && !u->result && u->r.type && u->r.type->plain) return null_buffer(w, u->call, "result_addr");
    if (u->t.type->element == RMAI_ELEMENT_PAIR) {
        if (u->op != MPI_MINLOC && u->op != MPI_MAXLOC && u->op != MPI_REPLACE && !reads_only)
            return rmai_win_error(w, MPI_ERR_OP, "%s: not an operation on pairs", u->call);
        return u->target.nothing ? MPI_SUCCESS : rmai_win_failed(w, update_locked(w, u));
    }
    op = op_of(u->op, u->t.type);
    if (op < 0 && !(u->target.nothing && u->t.size == 0))
        return rmai_win_error(w, MPI_ERR_OP, "%s: op is not a predefined operation on this datatype", u->call);
    if (u->target.nothing) return MPI_SUCCESS;
    code = u->target.peer.record ? RMA_SUCCESS : rmai_win_overtakes();
    if (code == RMA_SUCCESS && !far_word(u, &code)) code = update_elements(u, op);
    if (!u->target.peer.record) rmai_win_begins(RMAI_WIN_OVERTAKES);
    /* librma refuses elements that are not aligned, before it changes any. */
    if (code == RMA_ERR_ADDRESS || code == RMA_ERR_ARG) code = update_locked(w, u);
    return rmai_win_failed(w, code);
}

/* A sum of one double, or an update of one word, on this node. */
static int fast_word(struct rmai_win *w, const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                     MPI_Op op) {
    const struct rmai_type *t = rmai_type_of(type);
    const int atomic = t && (origin || op == MPI_NO_OP) ? atomic_of(op, t, result != NULL) : -1;
    uint64_t value = 0, old;
    char *there;
    if (atomic < 0) return 0;
    there = rmai_win_reach(w, rank, disp, t->size);
    if (!there || (uintptr_t)there % t->size != 0 || (w->held && rank == w->family->rank)) return 0;
    if (atomic != RMA_FETCH_) memcpy(&value, origin, t->size);
    old = rma_apply_(atomic, there, t->size, value, 0);
    if (result) memcpy(result, &old, t->size);
    return 1;
}

#define CALLS(SUFFIX, COUNT)                                                                                           \
    static int accumulate##SUFFIX(struct rmai_win *w, const char *call, const void *origin, COUNT count,               \
                                  MPI_Datatype type, int rank, MPI_Aint disp, COUNT target_count,                      \
                                  MPI_Datatype target_type, MPI_Op op) {                                               \
        struct update u = {.call = call, .op = op, .origin = origin};                                                  \
        return update(w, &u, count, type, 0, MPI_DATATYPE_NULL, rank, disp, target_count, target_type);                \
    }                                                                                                                  \
    static int get_accumulate##SUFFIX(struct rmai_win *w, const char *call, const void *origin, COUNT count,           \
                                      MPI_Datatype type, void *result, COUNT result_count, MPI_Datatype result_type,   \
                                      int rank, MPI_Aint disp, COUNT target_count, MPI_Datatype target_type,           \
                                      MPI_Op op) {                                                                     \
        struct update u = {.call = call, .op = op, .origin = origin, .result = result};                                \
        if (result_type == MPI_DATATYPE_NULL)                                                                          \
            return rmai_win_error(w, MPI_ERR_TYPE, "%s: result_datatype is not a datatype", call);                     \
        return update(w, &u, count, type, result_count, result_type, rank, disp, target_count, target_type);           \
    }                                                                                                                  \
    RMAI_MPI_API int MPI_Accumulate##SUFFIX(const void *origin, COUNT count, MPI_Datatype type, int rank,              \
                                            MPI_Aint disp, COUNT target_count, MPI_Datatype target_type, MPI_Op op,    \
                                            MPI_Win win) {                                                             \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        if (!w) return PMPI_Accumulate##SUFFIX(origin, count, type, rank, disp, target_count, target_type, op, win);   \
        if (count == 1 && target_count == 1 && type == target_type &&                                                  \
            fast_word(w, origin, NULL, type, rank, disp, op))                                                          \
            return MPI_SUCCESS;                                                                                        \
        return accumulate##SUFFIX(w, "MPI_Accumulate" #SUFFIX, origin, count, type, rank, disp, target_count,          \
                                  target_type, op);                                                                    \
    }                                                                                                                  \
    RMAI_MPI_API int MPI_Get_accumulate##SUFFIX(const void *origin, COUNT count, MPI_Datatype type, void *result,      \
                                                COUNT result_count, MPI_Datatype result_type, int rank, MPI_Aint disp, \
                                                COUNT target_count, MPI_Datatype target_type, MPI_Op op,               \
                                                MPI_Win win) {                                                         \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        if (!w)                                                                                                        \
            return PMPI_Get_accumulate##SUFFIX(origin, count, type, result, result_count, result_type, rank, disp,     \
                                               target_count, target_type, op, win);                                    \
        return get_accumulate##SUFFIX(w, "MPI_Get_accumulate" #SUFFIX, origin, count, type, result, result_count,      \
                                      result_type, rank, disp, target_count, target_type, op);                         \
    }                                                                                                                  \
    RMAI_MPI_API int MPI_Raccumulate##SUFFIX(const void *origin, COUNT count, MPI_Datatype type, int rank,             \
                                             MPI_Aint disp, COUNT target_count, MPI_Datatype target_type, MPI_Op op,   \
                                             MPI_Win win, MPI_Request *request) {                                      \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        int code;                                                                                                      \
        if (!w)                                                                                                        \
            return PMPI_Raccumulate##SUFFIX(origin, count, type, rank, disp, target_count, target_type, op, win,       \
                                            request);                                                                  \
        code = rmai_win_check_passive(w, "MPI_Raccumulate" #SUFFIX);                                                   \
        if (code == MPI_SUCCESS)                                                                                       \
            code = accumulate##SUFFIX(w, "MPI_Raccumulate" #SUFFIX, origin, count, type, rank, disp, target_count,     \
                                      target_type, op);                                                                \
        if (code == MPI_SUCCESS) code = rmai_win_failed(w, rma_quiet());                                               \
        return code == MPI_SUCCESS ? rmai_win_request(w, "MPI_Raccumulate" #SUFFIX, request) : code;                   \
    }                                                                                                                  \
    RMAI_MPI_API int MPI_Rget_accumulate##SUFFIX(const void *origin, COUNT count, MPI_Datatype type, void *result,     \
                                                 COUNT result_count, MPI_Datatype result_type, int rank,               \
                                                 MPI_Aint disp, COUNT target_count, MPI_Datatype target_type,          \
                                                 MPI_Op op, MPI_Win win, MPI_Request *request) {                       \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        int code;                                                                                                      \
        if (!w)                                                                                                        \
            return PMPI_Rget_accumulate##SUFFIX(origin, count, type, result, result_count, result_type, rank, disp,    \
                                                target_count, target_type, op, win, request);                          \
        code = rmai_win_check_passive(w, "MPI_Rget_accumulate" #SUFFIX);                                               \
        if (code == MPI_SUCCESS)                                                                                       \
            code = get_accumulate##SUFFIX(w, "MPI_Rget_accumulate" #SUFFIX, origin, count, type, result, result_count, \
                                          result_type, rank, disp, target_count, target_type, op);                     \
        if (code == MPI_SUCCESS) code = rmai_win_failed(w, rma_quiet());                                               \
        return code == MPI_SUCCESS ? rmai_win_request(w, "MPI_Rget_accumulate" #SUFFIX, request) : code;               \
    }

CALLS(, int)
#if MPI_VERSION >= 4
CALLS(_c, MPI_Count)
#endif

RMAI_MPI_API int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                                  MPI_Op op, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    if (!w) return PMPI_Fetch_and_op(origin, result, type, rank, disp, op, win);
    if (result && fast_word(w, origin, result, type, rank, disp, op)) return MPI_SUCCESS;
    return get_accumulate(w, "MPI_Fetch_and_op", origin, 1, type, result, 1, type, rank, disp, 1, type, op);
}

/* Compare-and-swap of a word of 1 to 8 bytes. A word of 1 or 2 bytes is changed as a part of the word of 4 bytes that
 * contains it. */
static int compare_swap(const char *call, rma_gptr_t at, size_t size, uint64_t cond, uint64_t value, uint64_t *old) {
    const unsigned shift = (unsigned)(at & 3) * 8;
    const uint32_t mask = (size == 1 ? 0xffu : 0xffffu) << shift;
    const rma_gptr_t word_at = at & ~(rma_gptr_t)3;
    uint64_t word, seen = 0;
    int code;
    if (size >= 4) return rmai_win_atomic(call, RMA_COMPARE_SWAP_, at, size, value, cond, old);
    code = rmai_win_atomic(call, RMA_FETCH_, word_at, 4, 0, 0, &seen);
    do {
        word = seen;
        *old = (word & mask) >> shift;
        if (code != RMA_SUCCESS || *old != cond) return code;
        code = rmai_win_atomic(call, RMA_COMPARE_SWAP_, word_at, 4, (word & ~mask) | value << shift, word, &seen);
    } while (code == RMA_SUCCESS && seen != word);
    return code;
}

RMAI_MPI_API int MPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                                      int rank, MPI_Aint disp, MPI_Win win) {
    static const char call[] = "MPI_Compare_and_swap";
    struct rmai_win *w = rmai_win_of(win);
    const struct rmai_type *k;
    struct rmai_win_side side;
    struct rmai_win_target target;
    uint64_t value = 0, cond = 0, old = 0;
    char *there;
    int code;
    if (!w) return PMPI_Compare_and_swap(origin, compare, result, type, rank, disp, win);
    if (__builtin_expect(!origin || !compare || !result, 0))
        return null_buffer(w, call, !origin ? "origin_addr" : !compare ? "compare_addr" : "result_addr");
    k = rmai_type_of(type);
    if (k && k->plain && (k->size == 4 || k->size == 8) && (there = rmai_win_reach(w, rank, disp, k->size)) != NULL &&
        (uintptr_t)there % k->size == 0 && k->element >= 0 && k->element <= RMA_UINT64 && !w->held) {
        memcpy(&value, origin, k->size);
        memcpy(&cond, compare, k->size);
        old = rma_apply_(RMA_COMPARE_SWAP_, there, k->size, value, cond);
        memcpy(result, &old, k->size);
        return MPI_SUCCESS;
    }
    code = rmai_win_side(w, call, "origin", 1, type, &side);
    if (code != MPI_SUCCESS) return code;
    k = side.type;
    if (!k->plain || k->basic != k->handle || k->element < 0 || k->element > RMA_UINT64)
        return rmai_win_error(w, MPI_ERR_TYPE, "%s: datatype is not a predefined integer, logical or byte type", call);
    code = rmai_win_target(w, call, rank, disp, &side, &target);
    if (code != MPI_SUCCESS || target.nothing) return code;
    memcpy(&value, origin, k->size);
    memcpy(&cond, compare, k->size);
    if (target.at % k->size != 0)
        return rmai_win_error(w, MPI_ERR_DISP, "%s: the word at displacement %lld is not aligned to %zu bytes", call,
                              (long long)disp, k->size);
    code = rmai_win_failed(w, compare_swap(call, target.at, k->size, cond, value, &old));
    if (code != MPI_SUCCESS) return code;
    memcpy(result, &old, k->size);
    return MPI_SUCCESS;
}
