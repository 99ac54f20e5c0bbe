/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on sections, on elements by index, on blocks, and accumulates. Each makes a pattern (base/pattern)
 * of its arguments, finds the remote memory that the whole pattern spans, and then moves or updates it
 * (runtime/api/place_pattern). Nothing is written before everything has been checked. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "base/kernels.h"
#include "base/pattern.h"
#include "base/update.h"
#include "heap/attached.h"
#include "runtime/context.h"
#include "runtime/api/gptr.h"
#include "runtime/job/job.h"
#include "runtime/interfaces.h"
#include "runtime/net/op.h"
#include "runtime/place.h"
#include "runtime/api/place_pattern.h"
#include "runtime/api/resolve.h"
#include "runtime/world.h"

#include <string.h>

#define QUICK ((size_t)1 << 20) /* most contiguous elements that are updated without a pattern */

/* One public call: its names for error messages, the remote address, what it does (x), and which elements. */
struct access {
    struct rmai_pattern_call c;
    const rma_ctx *ctx;
    enum { BY_SYMMETRIC_ADDRESS, BY_GLOBAL_POINTER, BY_OWNERS_ADDRESS } by;
    rma_gptr_t g; /* the remote address by a global pointer, */
    char *addr;   /* or else this one, */
    int pe;       /* of that PE of the context's team */
    struct rmai_packed x;
    struct rmai_pattern pattern;
};

/* ---- from checked arguments to place_pattern ---- */

/* The checks of a call that moves no bytes: the context and the PE. */
static int check_empty(const struct access *s) {
    if (s->by == BY_GLOBAL_POINTER) {
        struct rmai_place p = {0};
        const int code = rmai_resolve_gptr(s->c.call, s->c.names[RMAI_REMOTE], s->ctx, s->g, 0, 0, 1, &p);
        if (code == RMA_SUCCESS && p.region) rmai_attached_leave(p.region);
        return code;
    }
    return rmai_resolve_nothing(s->c.call, s->ctx, s->pe);
}

/* Memory of any kind, of a PE of the job: only its owner, or the kernel, knows whether it is there. */
static int resolve_at_owner(const struct access *s, struct rmai_place *p) {
    const struct rmai_job *job = &rmai_world.job;
    const struct rmai_context *c = rmai_context(s->c.call, s->ctx);
    const uint64_t address = (uintptr_t)s->addr + (uint64_t)s->pattern.least;
    int code = rmai_check_pe(job, s->c.call, "PE", s->pe);
    if (!c) return rma_last_code();
    if (code != RMA_SUCCESS) return code;
    *p = (struct rmai_place){.set = c->pending, .pe = s->pe, .slot = rmai_node_slot(job, s->pe), .address = address};
    p->far = p->slot < 0;
    if (p->far) p->offset = RMAI_AT_ADDRESS | address;
    if (s->pe == job->my_pe) p->there = (void *)(uintptr_t)address;
    return RMA_SUCCESS;
}

static int resolve(const struct access *s, struct rmai_place *p) {
    const char *name = s->c.names[RMAI_REMOTE];
    const size_t span = (size_t)(s->pattern.end - s->pattern.least);
    if (s->by == BY_OWNERS_ADDRESS) return resolve_at_owner(s, p);
    if (s->by == BY_SYMMETRIC_ADDRESS)
        return rmai_resolve(s->c.call, name, s->ctx, (char *)((uintptr_t)s->addr + (uintptr_t)s->pattern.least), span,
                            s->pe, p);
    return rmai_resolve_gptr(s->c.call, name, s->ctx, s->g, s->pattern.least, span, 1, p);
}

/* Checks that each remote element is aligned as its type requires. The offsets of indexed elements and blocks are
 * multiples of the element's size, and so of the alignment; only the base can be wrong. */
static int check_aligned(const struct access *s, const struct rmai_place *p) {
    const size_t align = rmai_type_align(s->x.type);
    const uint64_t at = p->there ? (uintptr_t)p->there : p->far ? p->offset : p->address;
    const int owner_checks = p->far && p->offset >= RMA_GPTR_ATTACHED_; /* the owner alone knows the address */
    int bad = (!owner_checks && at % align != 0) || (s->pattern.kind == RMAI_SECTION && s->pattern.elem % align != 0);
    for (int d = 0; s->pattern.kind == RMAI_SECTION && d < s->pattern.dims; d++)
        bad = bad || s->pattern.stride[RMAI_REMOTE][d] % (ptrdiff_t)align != 0;
    if (!bad) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_ADDRESS, "%s: the elements of %s are not aligned to %zu bytes, as %s has to be",
                      s->c.call, s->c.names[RMAI_REMOTE], align, rmai_type_words[s->x.type]);
}

static int run_access(struct access *s) {
    struct rmai_place p = {0};
    struct rmai_region *region;
    int code;
    if (s->pattern.bytes == 0) return check_empty(s);
    if (s->x.op != RMA_OP_FETCH || s->x.what != RMAI_PACKED_UPDATE)
        code = rmai_check_local(s->c.call, s->c.names[RMAI_LOCAL], s->x.local);
    else
        code = RMA_SUCCESS;
    if (code == RMA_SUCCESS && s->pattern.sides > RMAI_BEFORE)
        code = rmai_check_local(s->c.call, s->c.names[RMAI_BEFORE], s->x.before);
    if (code == RMA_SUCCESS) code = resolve(s, &p);
    if (code != RMA_SUCCESS) return code;
    region = p.region;
    p.region = NULL; /* it is left below, once */
    s->x.call = s->c.call;
    s->x.pattern = &s->pattern;
    if (s->x.what == RMAI_PACKED_UPDATE) code = check_aligned(s, &p);
    if (code == RMA_SUCCESS) code = rmai_pattern_compare(&s->pattern, &s->c);
    if (code == RMA_SUCCESS) code = rmai_place_pattern(&s->x, &p);
    if (region) rmai_attached_leave(region);
    return code;
}

/* ---- arguments ---- */

static int end_access(struct access *s, int code) {
    const int running = rmai_running(s->c.call);
    if (running != RMA_SUCCESS) return rmai_raise(running);
    return rmai_raise(code == RMA_SUCCESS ? run_access(s) : code);
}

static void begin_move(struct access *s, int put, const void *local, enum rmai_when when) {
    s->x = (struct rmai_packed){
        .what = put ? RMAI_PACKED_PUT : RMAI_PACKED_GET, .when = when, .local = (void *)(uintptr_t)local};
    s->c.written = put ? RMAI_REMOTE : RMAI_LOCAL;
    s->c.checks = rmai_world.job.settings.check;
    s->c.names[RMAI_REMOTE] = put ? "dest" : "source";
    s->c.names[RMAI_LOCAL] = put ? "source" : "dest";
}

static const char *const op_names[RMAI_OPS] = {
    [RMA_OP_SUM] = "RMA_OP_SUM",   [RMA_OP_PROD] = "RMA_OP_PROD",       [RMA_OP_MIN] = "RMA_OP_MIN",
    [RMA_OP_MAX] = "RMA_OP_MAX",   [RMA_OP_AND] = "RMA_OP_AND",         [RMA_OP_OR] = "RMA_OP_OR",
    [RMA_OP_XOR] = "RMA_OP_XOR",   [RMA_OP_LAND] = "RMA_OP_LAND",       [RMA_OP_LOR] = "RMA_OP_LOR",
    [RMA_OP_LXOR] = "RMA_OP_LXOR", [RMA_OP_REPLACE] = "RMA_OP_REPLACE", [RMA_OP_FETCH] = "RMA_OP_FETCH",
    [RMA_OP_MINLOC_] = "MINLOC",   [RMA_OP_MAXLOC_] = "MAXLOC",         [RMA_OP_SET_] = "SET"};

static int begin_update(struct access *s, const void *source, void *before, int gets, int type, int op,
                        const void *scale, enum rmai_when when) {
    s->c.written = op == RMA_OP_FETCH ? RMAI_BEFORE : RMAI_REMOTE;
    s->c.checks = rmai_world.job.settings.check;
    s->c.names[RMAI_REMOTE] = "dest";
    s->c.names[RMAI_LOCAL] = op == RMA_OP_FETCH ? "fetch" : "source";
    s->c.names[RMAI_BEFORE] = "fetch";
    if (type < 0 || type >= (rma_errors_recorded_ ? RMAI_TYPES : RMAI_PUBLIC_TYPES))
        return rmai_error(RMA_ERR_ARG, "%s: type %d is no value of enum rma_type", s->c.call, type);
    if (op < 0 || op >= (rma_errors_recorded_ ? RMAI_OPS : RMAI_PUBLIC_OPS))
        return rmai_error(RMA_ERR_ARG, "%s: op %d is no value of enum rma_op", s->c.call, op);
    if (op == RMA_OP_FETCH && !gets)
        return rmai_error(RMA_ERR_ARG, "%s: op RMA_OP_FETCH is only for rma_get_accumulate", s->c.call);
    if (!rmai_update_has((enum rma_op)op, (enum rma_type)type))
        return rmai_error(RMA_ERR_ARG, "%s: op %s is not for type %s", s->c.call, op_names[op], rmai_type_words[type]);
    s->x = (struct rmai_packed){.what = RMAI_PACKED_UPDATE,
                                .when = when,
                                .local = op == RMA_OP_FETCH ? NULL : (void *)(uintptr_t)source,
                                .before = before,
                                .op = (enum rma_op)op,
                                .type = (enum rma_type)type,
                                .scale = op == RMA_OP_FETCH ? NULL : scale};
    return RMA_SUCCESS;
}

static int move_by_section(struct access *s, int put, void *dest, const void *source, const ptrdiff_t *dest_stride,
                           const ptrdiff_t *source_stride, size_t elem, int dims, const size_t *count,
                           enum rmai_when when) {
    const ptrdiff_t *const strides[RMAI_SIDES] = {put ? dest_stride : source_stride, put ? source_stride : dest_stride};
    begin_move(s, put, put ? source : dest, when);
    return end_access(s, rmai_pattern_section(&s->pattern, &s->c, 2, strides, elem, dims, count));
}

static int move_by_indexed(struct access *s, int put, void *dest, const void *source, const ptrdiff_t *index,
                           size_t elem, size_t n, enum rmai_when when) {
    begin_move(s, put, put ? source : dest, when);
    return end_access(s, rmai_pattern_indexed(&s->pattern, &s->c, 2, index, elem, n));
}

static int move_by_blocks(struct access *s, int put, void *dest, const void *source, const struct rma_block *to,
                          size_t n_to, const struct rma_block *from, size_t n_from, enum rmai_when when) {
    const struct rma_block *const list[RMAI_SIDES] = {put ? to : from, put ? from : to};
    const size_t listed[RMAI_SIDES] = {put ? n_to : n_from, put ? n_from : n_to};
    begin_move(s, put, put ? source : dest, when);
    return end_access(s, rmai_pattern_blocks(&s->pattern, &s->c, 2, list, listed, 1, 1));
}

static int sides_of(int gets) { return gets ? RMAI_SIDES : RMAI_SIDES - 1; }

static int update_contiguous(struct access *s, int gets, const void *source, void *fetch, size_t n, int type, int op,
                             const void *scale, enum rmai_when when) {
    int code = begin_update(s, source, fetch, gets, type, op, scale, when);
    if (code == RMA_SUCCESS)
        code = rmai_pattern_contiguous(&s->pattern, &s->c, sides_of(gets), rmai_type_size((enum rma_type)type), n);
    return end_access(s, code);
}

static int update_section(struct access *s, int gets, const void *source, void *fetch, const ptrdiff_t *dest_stride,
                          const ptrdiff_t *source_stride, const ptrdiff_t *fetch_stride, int dims, const size_t *count,
                          int type, int op, const void *scale, enum rmai_when when) {
    /* A fetch has no source; its strides stand in for those of the source. */
    const ptrdiff_t *const strides[RMAI_SIDES] = {dest_stride, op == RMA_OP_FETCH ? fetch_stride : source_stride,
                                                  fetch_stride};
    int code = begin_update(s, source, fetch, gets, type, op, scale, when);
    if (code == RMA_SUCCESS)
        code = rmai_pattern_section(&s->pattern, &s->c, sides_of(gets), strides, rmai_type_size((enum rma_type)type),
                                    dims, count);
    return end_access(s, code);
}

static int update_indexed(struct access *s, int gets, const void *source, void *fetch, const ptrdiff_t *index, size_t n,
                          int type, int op, const void *scale, enum rmai_when when) {
    int code = begin_update(s, source, fetch, gets, type, op, scale, when);
    if (code == RMA_SUCCESS)
        code = rmai_pattern_indexed(&s->pattern, &s->c, sides_of(gets), index, rmai_type_size((enum rma_type)type), n);
    return end_access(s, code);
}

static int update_blocks(struct access *s, int gets, const void *source, void *fetch, const struct rma_block *to,
                         size_t n_to, const struct rma_block *from, size_t n_from, const struct rma_block *into,
                         size_t n_into, int type, int op, const void *scale, enum rmai_when when) {
    const int fetches = op == RMA_OP_FETCH;
    const struct rma_block *const list[RMAI_SIDES] = {to, fetches ? into : from, into};
    const size_t listed[RMAI_SIDES] = {n_to, fetches ? n_into : n_from, n_into};
    int code = begin_update(s, source, fetch, gets, type, op, scale, when);
    if (code == RMA_SUCCESS) {
        const size_t size = rmai_type_size((enum rma_type)type), align = rmai_type_align((enum rma_type)type);
        code = rmai_pattern_blocks(&s->pattern, &s->c, sides_of(gets), list, listed, size,
                                   rma_errors_recorded_ ? align : size);
    }
    return end_access(s, code);
}

/* ---- the calls ---- */

#define BY_ADDRESS(CALL, CTX, ADDR)                                                                                    \
    struct access s;                                                                                                   \
    s.c.call = CALL;                                                                                                   \
    s.ctx = CTX;                                                                                                       \
    s.by = BY_SYMMETRIC_ADDRESS;                                                                                       \
    s.addr = (char *)(uintptr_t)(ADDR);                                                                                \
    s.pe = pe
#define BY_GPTR(CALL, CTX, G)                                                                                          \
    struct access s;                                                                                                   \
    s.c.call = CALL;                                                                                                   \
    s.ctx = CTX;                                                                                                       \
    s.by = BY_GLOBAL_POINTER;                                                                                          \
    s.g = G
#define AT_OWNER(CALL, ADDRESS)                                                                                        \
    struct access s;                                                                                                   \
    s.c.call = CALL;                                                                                                   \
    s.ctx = RMA_CTX_DEFAULT;                                                                                           \
    s.by = BY_OWNERS_ADDRESS;                                                                                          \
    s.addr = (char *)(uintptr_t)(ADDRESS);                                                                             \
    s.pe = pe
#define LIST(...) __VA_ARGS__

/* The eight forms of a call. REMOTE is the parameter that has the remote address. DO is the expression, with its
 * parameter `when` last. */
#define FORMS(NAME, BUFFERS, BUFFERS_BY_GPTR, REMOTE, PARAMETERS, DO, ...)                                             \
    int rma_##NAME(LIST BUFFERS, LIST PARAMETERS, int pe) {                                                            \
        BY_ADDRESS("rma_" #NAME, RMA_CTX_DEFAULT, REMOTE);                                                             \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_##NAME##_nbi(LIST BUFFERS, LIST PARAMETERS, int pe) {                                                      \
        BY_ADDRESS("rma_" #NAME "_nbi", RMA_CTX_DEFAULT, REMOTE);                                                      \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_ctx_##NAME(rma_ctx *ctx, LIST BUFFERS, LIST PARAMETERS, int pe) {                                          \
        BY_ADDRESS("rma_ctx_" #NAME, ctx, REMOTE);                                                                     \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_ctx_##NAME##_nbi(rma_ctx *ctx, LIST BUFFERS, LIST PARAMETERS, int pe) {                                    \
        BY_ADDRESS("rma_ctx_" #NAME "_nbi", ctx, REMOTE);                                                              \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_gptr_##NAME(LIST BUFFERS_BY_GPTR, LIST PARAMETERS) {                                                       \
        BY_GPTR("rma_gptr_" #NAME, RMA_CTX_DEFAULT, REMOTE);                                                           \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_gptr_##NAME##_nbi(LIST BUFFERS_BY_GPTR, LIST PARAMETERS) {                                                 \
        BY_GPTR("rma_gptr_" #NAME "_nbi", RMA_CTX_DEFAULT, REMOTE);                                                    \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_ctx_gptr_##NAME(rma_ctx *ctx, LIST BUFFERS_BY_GPTR, LIST PARAMETERS) {                                     \
        BY_GPTR("rma_ctx_gptr_" #NAME, ctx, REMOTE);                                                                   \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_ctx_gptr_##NAME##_nbi(rma_ctx *ctx, LIST BUFFERS_BY_GPTR, LIST PARAMETERS) {                               \
        BY_GPTR("rma_ctx_gptr_" #NAME "_nbi", ctx, REMOTE);                                                            \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }
#define FORMS_PUT(NAME, ...)                                                                                           \
    FORMS(NAME, (void *dest, const void *source), (rma_gptr_t dest, const void *source), dest, __VA_ARGS__)
#define FORMS_GET(NAME, ...)                                                                                           \
    FORMS(NAME, (void *dest, const void *source), (void *dest, rma_gptr_t source), source, __VA_ARGS__)

/* ---- contiguous updates on the node, without a pattern ---- */

/* Bytes of n elements, for the inlined calls that look up an address; 0 if n is 0 or above QUICK, or type is none, or
 * one of pairs. */
static inline size_t quick_bytes(int type, size_t n) {
    if (RMAI_UNLIKELY((unsigned)type >= RMAI_PUBLIC_TYPES) &&
        !(rma_errors_recorded_ && (unsigned)type < RMA_PAIR_SHORT_))
        return 0;
    return RMAI_LIKELY(n <= QUICK) ? n * rmai_type_size((enum rma_type)type) : 0;
}

/* One double, which is the most common update of all, is an atomic. */
static inline void update_double(void *there, const void *source, void *fetch) {
    uint64_t bits;
    memcpy(&bits, source, sizeof bits);
    bits = rma_apply_(RMA_FETCH_FADD_, there, sizeof bits, bits, 0);
    if (fetch) memcpy(fetch, &bits, sizeof bits);
}

/* Returns 0, and does nothing, if there is an unusual or wrong argument: then the call goes the whole way. */
static inline int update_at_once(void *there, int gets, const void *source, void *fetch, size_t n, int type, int op,
                                 const void *scale) {
    if (RMAI_UNLIKELY(!there || !source || (gets && !fetch) || scale)) return 0;
    if (RMAI_LIKELY(n == 1 && type == RMA_DOUBLE && op == RMA_OP_SUM && (uintptr_t)there % sizeof(double) == 0)) {
        update_double(there, source, fetch);
        return 1;
    }
    if (RMAI_UNLIKELY(quick_bytes(type, n) == 0 || (unsigned)op >= RMA_OP_FETCH ||
                      ((uintptr_t)there & (rmai_type_align((enum rma_type)type) - 1)) != 0 ||
                      !rmai_update_has((enum rma_op)op, (enum rma_type)type)))
        return 0;
    rmai_update(&rmai_world.job.stripes, (uintptr_t)there - rma_reach_.node_base, (enum rma_op)op, (enum rma_type)type,
                there, source, fetch, n);
    return 1;
}

#define FORM_UPDATE(CALL, PARAMETERS, THERE, FIND, CTX, GETS, FETCH, WHEN)                                             \
    int CALL PARAMETERS {                                                                                              \
        if (RMAI_LIKELY(update_at_once(THERE, GETS, source, FETCH, n, type, op, scale))) return RMA_SUCCESS;           \
        FIND(#CALL, CTX, dest);                                                                                        \
        return update_contiguous(&s, GETS, source, FETCH, n, type, op, scale, WHEN);                                   \
    }
#define LEN quick_bytes(type, n)
#define FORMS_UPDATE_WHEN(NAME, NBI, AND_FETCH, GETS, FETCH, WHEN)                                                     \
    FORM_UPDATE(rma_##NAME##NBI, (void *dest, const void *source AND_FETCH, size_t n, RMA_UPDATE_, int pe),            \
                rma_reach_ptr_(dest, LEN, pe), BY_ADDRESS, RMA_CTX_DEFAULT, GETS, FETCH, WHEN)                         \
    FORM_UPDATE(rma_ctx_##NAME##NBI,                                                                                   \
                (rma_ctx * ctx, void *dest, const void *source AND_FETCH, size_t n, RMA_UPDATE_, int pe),              \
                rma_ctx_ptr_(ctx, dest, LEN, pe), BY_ADDRESS, ctx, GETS, FETCH, WHEN)                                  \
    FORM_UPDATE(rma_gptr_##NAME##NBI, (rma_gptr_t dest, const void *source AND_FETCH, size_t n, RMA_UPDATE_),          \
                rma_gptr_ptr_(dest, LEN), BY_GPTR, RMA_CTX_DEFAULT, GETS, FETCH, WHEN)                                 \
    FORM_UPDATE(rma_ctx_gptr_##NAME##NBI,                                                                              \
                (rma_ctx * ctx, rma_gptr_t dest, const void *source AND_FETCH, size_t n, RMA_UPDATE_),                 \
                rma_gptr_there_(ctx, 1, dest, LEN), BY_GPTR, ctx, GETS, FETCH, WHEN)

/* The address of the remote side is in s already: the functions above use only the local one of the two. */
#define PUT_SECTION(S, ...) move_by_section(S, 1, NULL, source, __VA_ARGS__)
#define GET_SECTION(S, ...) move_by_section(S, 0, dest, NULL, __VA_ARGS__)
#define PUT_INDEXED(S, ...) move_by_indexed(S, 1, NULL, source, __VA_ARGS__)
#define GET_INDEXED(S, ...) move_by_indexed(S, 0, dest, NULL, __VA_ARGS__)
#define PUT_BLOCKS(S, ...)  move_by_blocks(S, 1, NULL, source, __VA_ARGS__)
#define GET_BLOCKS(S, ...)  move_by_blocks(S, 0, dest, NULL, __VA_ARGS__)

FORMS_PUT(put_section, (RMA_SECTION_), PUT_SECTION, dest_stride, source_stride, elem, dims, count)
FORMS_GET(get_section, (RMA_SECTION_), GET_SECTION, dest_stride, source_stride, elem, dims, count)
FORMS_PUT(put_indexed, (RMA_INDEXED_), PUT_INDEXED, index, elem, n)
FORMS_GET(get_indexed, (RMA_INDEXED_), GET_INDEXED, index, elem, n)
FORMS_PUT(put_blocks, (RMA_BLOCKS_), PUT_BLOCKS, to, n_to, from, n_from)
FORMS_GET(get_blocks, (RMA_BLOCKS_), GET_BLOCKS, to, n_to, from, n_from)

#define NO_FETCH
#define AND_FETCH_HERE , void *fetch
FORMS_UPDATE_WHEN(accumulate, , NO_FETCH, 0, NULL, RMAI_NOW)
FORMS_UPDATE_WHEN(accumulate, _nbi, NO_FETCH, 0, NULL, RMAI_LATER)
FORMS_UPDATE_WHEN(get_accumulate, , AND_FETCH_HERE, 1, fetch, RMAI_NOW)
FORMS_UPDATE_WHEN(get_accumulate, _nbi, AND_FETCH_HERE, 1, fetch, RMAI_LATER)
FORMS_PUT(accumulate_section,
          (const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, int dims, const size_t *count, RMA_UPDATE_),
          update_section, 0, source, NULL, dest_stride, source_stride, NULL, dims, count, type, op, scale)
FORMS_PUT(get_accumulate_section,
          (void *fetch, const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, const ptrdiff_t *fetch_stride,
           int dims, const size_t *count, RMA_UPDATE_),
          update_section, 1, source, fetch, dest_stride, source_stride, fetch_stride, dims, count, type, op, scale)
FORMS_PUT(accumulate_indexed, (const ptrdiff_t *index, size_t n, RMA_UPDATE_), update_indexed, 0, source, NULL, index,
          n, type, op, scale)
FORMS_PUT(get_accumulate_indexed, (void *fetch, const ptrdiff_t *index, size_t n, RMA_UPDATE_), update_indexed, 1,
          source, fetch, index, n, type, op, scale)
FORMS_PUT(accumulate_blocks, (RMA_BLOCKS_, RMA_UPDATE_), update_blocks, 0, source, NULL, to, n_to, from, n_from, NULL,
          0, type, op, scale)
FORMS_PUT(get_accumulate_blocks, (void *fetch, RMA_BLOCKS_, const struct rma_block *into, size_t n_into, RMA_UPDATE_),
          update_blocks, 1, source, fetch, to, n_to, from, n_from, into, n_into, type, op, scale)

/* ---- for the layers above ---- */

/* A put that is under way could be missed by the next read, since nothing orders accesses to this memory. */
static int complete_put(int code, int pe) {
    return code == RMA_SUCCESS && !rma_reach_.one_node ? rma_quiet_of_(pe) : code;
}

int rma_put_section_at_(const char *call, int pe, uint64_t address, const void *source, RMA_SECTION_) {
    AT_OWNER(call, address);
    return complete_put(PUT_SECTION(&s, dest_stride, source_stride, elem, dims, count, RMAI_NOW), pe);
}

int rma_get_section_at_(const char *call, int pe, uint64_t address, void *dest, RMA_SECTION_) {
    AT_OWNER(call, address);
    return GET_SECTION(&s, dest_stride, source_stride, elem, dims, count, RMAI_NOW);
}

int rma_put_blocks_at_(const char *call, int pe, uint64_t address, const void *source, RMA_BLOCKS_) {
    AT_OWNER(call, address);
    return complete_put(PUT_BLOCKS(&s, to, n_to, from, n_from, RMAI_NOW), pe);
}

int rma_get_blocks_at_(const char *call, int pe, uint64_t address, void *dest, RMA_BLOCKS_) {
    AT_OWNER(call, address);
    return GET_BLOCKS(&s, to, n_to, from, n_from, RMAI_NOW);
}

int rma_has_kernel_(int op, int type) { return rmai_update_has((enum rma_op)op, (enum rma_type)type); }

void rma_kernel_(int op, int type, void *there, const void *mine, size_t n) {
    rmai_kernel((enum rma_op)op, (enum rma_type)type)->accumulate(there, mine, n);
}

size_t rma_type_align_(int type) { return rmai_type_align((enum rma_type)type); }
