/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on sections, on elements by index, on blocks, and accumulates: each makes a pattern (base/pattern)
 * of its arguments, finds the remote memory that the whole pattern spans, and then moves or updates it. Nothing is
 * written before everything has been checked. Between nodes runtime/net/packed does the rest. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "base/kernels.h"
#include "base/process.h"
#include "base/pattern.h"
#include "base/update.h"
#include "heap/attached.h"
#include "runtime/context.h"
#include "runtime/gptr.h"
#include "runtime/job/job.h"
#include "runtime/job/traffic.h"
#include "runtime/net/op.h"
#include "runtime/net/packed.h"
#include "runtime/node/service.h"
#include "runtime/place.h"
#include "runtime/transfer.h"
#include "runtime/world.h"

#include <string.h>

#define CHUNK  ((size_t)4096) /* bytes of operands that are scaled, or handed to the owner, at once */
#define PIECES 64             /* blocks of private memory that one system call copies */

/* One call. */
struct access {
    struct rmai_pattern_call c;
    const rma_ctx *ctx;
    int by_gptr;
    rma_gptr_t g; /* by_gptr: the remote address, */
    char *addr;   /* else this one, */
    int pe;       /* of that PE of the context's team */
    struct rmai_packed x;
    struct rmai_pattern pattern;
};

/* ---- private memory of PEs of this node ---- */

/* Copies blocks of private memory of another process: many with one system call, if the system allows it. */
static int copy_private(struct access *s, struct rmai_place *p, int write, const struct rmai_process_piece *piece,
                        int n) {
    struct rmai_world *w = &rmai_world;
    enum rmai_process_result result = RMAI_PROCESS_REFUSED;
    int code = RMA_SUCCESS;
    if (rmai_same_pids(&w->job, p->slot))
        result = rmai_process_copy(rmai_facts(&w->job, p->slot)->pid, write, piece, n);
    if (result == RMAI_PROCESS_FAULT) return rmai_not_mapped(s->c.call, piece[0].there, piece[0].len, p->pe);
    for (int i = 0; result == RMAI_PROCESS_REFUSED && i < n && code == RMA_SUCCESS; i++) {
        struct rmai_place one = *p;
        one.address = piece[i].there;
        code = write ? rmai_place_put(w, s->c.call, &one, piece[i].here, piece[i].len, RMAI_NOW)
                     : rmai_place_get(w, s->c.call, &one, piece[i].here, piece[i].len, RMAI_NOW);
    }
    return code;
}

static int move_private(struct access *s, struct rmai_place *p) {
    struct rmai_walk walk = {.s = &s->pattern};
    struct rmai_process_piece piece[PIECES];
    struct rmai_run run;
    int n = 0, code = RMA_SUCCESS;
    const int write = s->x.what == RMAI_PACKED_PUT;
    while (code == RMA_SUCCESS && rmai_pattern_next(&walk, &run))
        for (size_t i = 0; i < run.n && code == RMA_SUCCESS; i++) {
            piece[n++] = (struct rmai_process_piece){
                (char *)s->x.local + run.at[RMAI_LOCAL] + (ptrdiff_t)i * run.step[RMAI_LOCAL],
                p->address + (uint64_t)(run.at[RMAI_REMOTE] - s->pattern.least + (ptrdiff_t)i * run.step[RMAI_REMOTE]),
                run.len};
            if (n < PIECES) continue;
            code = copy_private(s, p, write, piece, n);
            n = 0;
        }
    return code == RMA_SUCCESS && n > 0 ? copy_private(s, p, write, piece, n) : code;
}

/* ---- on this node ---- */

static void move_here(const struct access *s, char *there) {
    const struct rmai_pattern *pattern = &s->pattern;
    const int put = s->x.what == RMAI_PACKED_PUT;
    struct rmai_walk walk = {.s = pattern};
    char *local = s->x.local;
    struct rmai_run run;
    if (pattern->kind == RMAI_INDEXED) {
        char *array = there - pattern->least;
        if (put)
            rmai_scatter(array, local, pattern->index, pattern->elem, pattern->n);
        else
            rmai_gather(local, array, pattern->index, pattern->elem, pattern->n);
        return;
    }
    while (rmai_pattern_next(&walk, &run)) {
        char *here = local + run.at[RMAI_LOCAL], *far = there + (run.at[RMAI_REMOTE] - pattern->least);
        if (put)
            rmai_move_strided(far, here, run.step[RMAI_REMOTE], run.step[RMAI_LOCAL], run.len, run.n);
        else
            rmai_move_strided(here, far, run.step[RMAI_LOCAL], run.step[RMAI_REMOTE], run.len, run.n);
    }
}

/* Updates one block of the remote side, `at` bytes from the place. */
static int update_block(const struct access *s, const struct rmai_place *p, size_t at, const char *source, char *before,
                        size_t len) {
    struct rmai_world *w = &rmai_world;
    const size_t size = rmai_type_size(s->x.type);
    const uint64_t position = rmai_position(&w->job, p->slot, p->offset + at);
    _Alignas(16) char operand[CHUNK];
    if (p->there && !s->x.scale) {
        rmai_update(&w->job.stripes, position, s->x.op, s->x.type, (char *)p->there + at, source, before, len / size);
        return RMA_SUCCESS;
    }
    for (size_t done = 0, now; done < len; done += now) {
        struct rmai_request r = {.op = RMAI_SERVICE_UPDATE,
                                 .atomic = (int)s->x.op,
                                 .type = (int)s->x.type,
                                 .address = p->address + at + done,
                                 .position = position + done};
        int code;
        r.len = now = rmai_min(len - done, CHUNK);
        if (s->x.scale)
            rmai_scale(s->x.type, operand, s->x.scale, source + done, now / size);
        else if (s->x.op != RMA_OP_FETCH)
            memcpy(operand, source + done, now);
        if (p->there) {
            rmai_update(&w->job.stripes, position + done, s->x.op, s->x.type, (char *)p->there + at + done, operand,
                        before ? before + done : NULL, now / size);
            continue;
        }
        code = rmai_service_ask(w->service, s->c.call, p->slot, &r, operand);
        if (code == RMA_SUCCESS && r.fault) code = rmai_not_mapped(s->c.call, r.address, now, p->pe);
        if (code != RMA_SUCCESS) return code;
        if (before) memcpy(before + done, operand, now);
    }
    return RMA_SUCCESS;
}

static int update_here(const struct access *s, const struct rmai_place *p) {
    struct rmai_walk walk = {.s = &s->pattern};
    struct rmai_run run;
    int code = RMA_SUCCESS;
    while (code == RMA_SUCCESS && rmai_pattern_next(&walk, &run)) {
        const char *source = s->x.local ? (const char *)s->x.local + run.at[RMAI_LOCAL] : NULL;
        char *before = s->x.before ? (char *)s->x.before + run.at[RMAI_BEFORE] : NULL;
        size_t at = (size_t)(run.at[RMAI_REMOTE] - s->pattern.least);
        for (size_t i = 0; i < run.n && code == RMA_SUCCESS; i++) {
            code = update_block(s, p, at, source, before, run.len);
            at += (size_t)run.step[RMAI_REMOTE];
            if (source) source += run.step[RMAI_LOCAL];
            if (before) before += run.step[RMAI_BEFORE];
        }
    }
    return code;
}

static void count(const struct access *s, const struct rmai_place *p) {
    struct rmai_world *w = &rmai_world;
    if (s->x.what == RMAI_PACKED_UPDATE)
        rmai_count(w->traffic, p->there ? RMA_PATH_MEMORY : RMA_PATH_OWNER, RMAI_ATOMICS, 0);
    else
        rmai_count(w->traffic, p->there ? RMA_PATH_MEMORY : RMA_PATH_KERNEL,
                   s->x.what == RMAI_PACKED_PUT ? RMAI_PUTS : RMAI_GETS, s->pattern.bytes);
}

static int do_here(struct access *s, struct rmai_place *p) {
    count(s, p);
    if (s->x.what == RMAI_PACKED_UPDATE) return update_here(s, p);
    if (!p->there) return move_private(s, p);
    move_here(s, p->there);
    return RMA_SUCCESS;
}

/* ---- to another node ---- */

static int do_there(struct access *s, struct rmai_place *p) {
    const size_t span = (size_t)(s->pattern.end - s->pattern.least);
    const int writes = s->x.what == RMAI_PACKED_PUT || (s->x.what == RMAI_PACKED_UPDATE && s->x.op != RMA_OP_FETCH);
    int code = RMA_SUCCESS;
    s->x.call = s->c.call;
    s->x.set = p->set;
    s->x.pe = p->pe;
    s->x.offset = p->offset;
    s->x.pattern = &s->pattern;
    /* Only the owner knows whether attached memory is there: it is asked before the first element moves. */
    if (p->offset >= RMA_GPTR_ATTACHED_) code = rmai_net_look(s->c.call, p->set, p->pe, p->offset, span, writes);
    return code == RMA_SUCCESS ? rmai_net_packed(&s->x) : code;
}

/* ---- the way of a call ---- */

static int check_nothing(const struct access *s) {
    const struct rmai_context *c = rmai_context(s->c.call, s->ctx);
    if (!c) return rma_last_code();
    if (s->by_gptr) return RMA_SUCCESS;
    return rmai_context_pe(c, s->c.call, s->pe) >= 0 ? RMA_SUCCESS : RMA_ERR_PE;
}

static int resolve(const struct access *s, struct rmai_place *p) {
    const char *name = s->c.names[RMAI_REMOTE];
    const size_t span = (size_t)(s->pattern.end - s->pattern.least);
    if (!s->by_gptr)
        return rmai_resolve(s->c.call, name, s->ctx, (char *)((uintptr_t)s->addr + (uintptr_t)s->pattern.least), span,
                            s->pe, p);
    return rmai_resolve_gptr(s->c.call, name, s->ctx, s->g, s->pattern.least, span, 1, p);
}

/* The elements are as far from each other as their offsets, which are multiples of the size wherever the type's
 * alignment is the size. */
static int check_aligned(const struct access *s, const struct rmai_place *p) {
    const size_t align = rmai_type_align(s->x.type);
    const uint64_t at = p->there ? (uintptr_t)p->there : p->far ? p->offset : p->address;
    int bad = at % align != 0 || (s->pattern.kind == RMAI_SECTION && s->pattern.elem % align != 0);
    for (int d = 0; s->pattern.kind == RMAI_SECTION && d < s->pattern.dims; d++)
        bad = bad || s->pattern.stride[RMAI_REMOTE][d] % (ptrdiff_t)align != 0;
    if (!bad) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_ADDRESS, "%s: the elements of %s are not aligned to %zu bytes, as %s has to be",
                      s->c.call, s->c.names[RMAI_REMOTE], align, rmai_type_words[s->x.type]);
}

static int run(struct access *s) {
    struct rmai_place p = {0};
    struct rmai_region *region;
    int code;
    if (s->pattern.bytes == 0) return check_nothing(s);
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
    if (s->x.what == RMAI_PACKED_UPDATE) code = check_aligned(s, &p);
    if (code == RMA_SUCCESS) code = p.far ? do_there(s, &p) : do_here(s, &p);
    if (region) rmai_attached_leave(region);
    return code;
}

/* ---- arguments ---- */

static int finish(struct access *s, int code) { return rmai_raise(code == RMA_SUCCESS ? run(s) : code); }

static void begin_move(struct access *s, int put, const void *local, enum rmai_when when) {
    s->x = (struct rmai_packed){
        .what = put ? RMAI_PACKED_PUT : RMAI_PACKED_GET, .when = when, .local = (void *)(uintptr_t)local};
    s->c.written = put ? RMAI_REMOTE : RMAI_LOCAL;
    s->c.unique = 1;
    s->c.checks = rmai_world.job.settings.check;
    s->c.names[RMAI_REMOTE] = put ? "dest" : "source";
    s->c.names[RMAI_LOCAL] = put ? "source" : "dest";
}

static int begin_update(struct access *s, const void *source, void *before, int gets, int type, int op,
                        const void *scale, enum rmai_when when) {
    s->c.written = RMAI_REMOTE;
    s->c.unique = 0;
    s->c.checks = 0;
    s->c.names[RMAI_REMOTE] = "dest";
    s->c.names[RMAI_LOCAL] = "source";
    s->c.names[RMAI_BEFORE] = "fetch";
    if (type < 0 || type >= RMAI_TYPES)
        return rmai_error(RMA_ERR_ARG, "%s: type %d is no value of enum rma_type", s->c.call, type);
    if (op < 0 || op >= RMAI_OPS) return rmai_error(RMA_ERR_ARG, "%s: op %d is no value of enum rma_op", s->c.call, op);
    if (op == RMA_OP_FETCH && !gets)
        return rmai_error(RMA_ERR_ARG, "%s: op RMA_OP_FETCH is only for rma_get_accumulate", s->c.call);
    if (!rmai_update_has((enum rma_op)op, (enum rma_type)type))
        return rmai_error(RMA_ERR_ARG, "%s: op %s is not for type %s", s->c.call, rmai_op_words[op],
                          rmai_type_words[type]);
    s->x = (struct rmai_packed){.what = RMAI_PACKED_UPDATE,
                                .when = when,
                                .local = op == RMA_OP_FETCH ? NULL : (void *)(uintptr_t)source,
                                .before = before,
                                .op = (enum rma_op)op,
                                .type = (enum rma_type)type,
                                .scale = op == RMA_OP_FETCH ? NULL : scale};
    return RMA_SUCCESS;
}

static int move_section(struct access *s, int put, void *dest, const void *source, const ptrdiff_t *dest_stride,
                        const ptrdiff_t *source_stride, size_t elem, int dims, const size_t *count,
                        enum rmai_when when) {
    const ptrdiff_t *const strides[RMAI_SIDES] = {put ? dest_stride : source_stride, put ? source_stride : dest_stride};
    begin_move(s, put, put ? source : dest, when);
    return finish(s, rmai_pattern_section(&s->pattern, &s->c, 2, strides, elem, dims, count));
}

static int move_indexed(struct access *s, int put, void *dest, const void *source, const ptrdiff_t *index, size_t elem,
                        size_t n, enum rmai_when when) {
    begin_move(s, put, put ? source : dest, when);
    return finish(s, rmai_pattern_indexed(&s->pattern, &s->c, 2, index, elem, n));
}

static int move_blocks(struct access *s, int put, void *dest, const void *source, const struct rma_block *to,
                       size_t n_to, const struct rma_block *from, size_t n_from, enum rmai_when when) {
    const struct rma_block *const list[RMAI_SIDES] = {put ? to : from, put ? from : to};
    const size_t listed[RMAI_SIDES] = {put ? n_to : n_from, put ? n_from : n_to};
    begin_move(s, put, put ? source : dest, when);
    return finish(s, rmai_pattern_blocks(&s->pattern, &s->c, 2, list, listed, 1));
}

static int sides_of(int gets) { return gets ? RMAI_SIDES : RMAI_SIDES - 1; }

static int update_contiguous(struct access *s, int gets, const void *source, void *fetch, size_t n, int type, int op,
                             const void *scale, enum rmai_when when) {
    int code = begin_update(s, source, fetch, gets, type, op, scale, when);
    if (code == RMA_SUCCESS)
        code = rmai_pattern_contiguous(&s->pattern, &s->c, sides_of(gets), rmai_type_size((enum rma_type)type), n);
    return finish(s, code);
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
    return finish(s, code);
}

static int update_indexed(struct access *s, int gets, const void *source, void *fetch, const ptrdiff_t *index, size_t n,
                          int type, int op, const void *scale, enum rmai_when when) {
    int code = begin_update(s, source, fetch, gets, type, op, scale, when);
    if (code == RMA_SUCCESS)
        code = rmai_pattern_indexed(&s->pattern, &s->c, sides_of(gets), index, rmai_type_size((enum rma_type)type), n);
    return finish(s, code);
}

static int update_blocks(struct access *s, int gets, const void *source, void *fetch, const struct rma_block *to,
                         size_t n_to, const struct rma_block *from, size_t n_from, const struct rma_block *into,
                         size_t n_into, int type, int op, const void *scale, enum rmai_when when) {
    const int fetches = op == RMA_OP_FETCH;
    const struct rma_block *const list[RMAI_SIDES] = {to, fetches ? into : from, into};
    const size_t listed[RMAI_SIDES] = {n_to, fetches ? n_into : n_from, n_into};
    int code = begin_update(s, source, fetch, gets, type, op, scale, when);
    if (code == RMA_SUCCESS)
        code =
            rmai_pattern_blocks(&s->pattern, &s->c, sides_of(gets), list, listed, rmai_type_size((enum rma_type)type));
    return finish(s, code);
}

/* ---- the calls ---- */

#define BY_ADDRESS(CALL, CTX, ADDR)                                                                                    \
    struct access s;                                                                                                   \
    s.c.call = CALL;                                                                                                   \
    s.ctx = CTX;                                                                                                       \
    s.by_gptr = 0;                                                                                                     \
    s.addr = (char *)(uintptr_t)(ADDR);                                                                                \
    s.pe = pe
#define BY_GPTR(CALL, CTX, G)                                                                                          \
    struct access s;                                                                                                   \
    s.c.call = CALL;                                                                                                   \
    s.ctx = CTX;                                                                                                       \
    s.by_gptr = 1;                                                                                                     \
    s.g = G
#define LIST(...) __VA_ARGS__

/* The eight forms of a call. DO is the expression, with its parameter `when` last. */
#define FORMS_PUT(NAME, PARAMETERS, DO, ...)                                                                           \
    int rma_##NAME(void *dest, const void *source, LIST PARAMETERS, int pe) {                                          \
        BY_ADDRESS("rma_" #NAME, RMA_CTX_DEFAULT, dest);                                                               \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_##NAME##_nbi(void *dest, const void *source, LIST PARAMETERS, int pe) {                                    \
        BY_ADDRESS("rma_" #NAME "_nbi", RMA_CTX_DEFAULT, dest);                                                        \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_ctx_##NAME(rma_ctx *ctx, void *dest, const void *source, LIST PARAMETERS, int pe) {                        \
        BY_ADDRESS("rma_ctx_" #NAME, ctx, dest);                                                                       \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_ctx_##NAME##_nbi(rma_ctx *ctx, void *dest, const void *source, LIST PARAMETERS, int pe) {                  \
        BY_ADDRESS("rma_ctx_" #NAME "_nbi", ctx, dest);                                                                \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_gptr_##NAME(rma_gptr_t dest, const void *source, LIST PARAMETERS) {                                        \
        BY_GPTR("rma_gptr_" #NAME, RMA_CTX_DEFAULT, dest);                                                             \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_gptr_##NAME##_nbi(rma_gptr_t dest, const void *source, LIST PARAMETERS) {                                  \
        BY_GPTR("rma_gptr_" #NAME "_nbi", RMA_CTX_DEFAULT, dest);                                                      \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_ctx_gptr_##NAME(rma_ctx *ctx, rma_gptr_t dest, const void *source, LIST PARAMETERS) {                      \
        BY_GPTR("rma_ctx_gptr_" #NAME, ctx, dest);                                                                     \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_ctx_gptr_##NAME##_nbi(rma_ctx *ctx, rma_gptr_t dest, const void *source, LIST PARAMETERS) {                \
        BY_GPTR("rma_ctx_gptr_" #NAME "_nbi", ctx, dest);                                                              \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }
#define FORMS_GET(NAME, PARAMETERS, DO, ...)                                                                           \
    int rma_##NAME(void *dest, const void *source, LIST PARAMETERS, int pe) {                                          \
        BY_ADDRESS("rma_" #NAME, RMA_CTX_DEFAULT, source);                                                             \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_##NAME##_nbi(void *dest, const void *source, LIST PARAMETERS, int pe) {                                    \
        BY_ADDRESS("rma_" #NAME "_nbi", RMA_CTX_DEFAULT, source);                                                      \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_ctx_##NAME(rma_ctx *ctx, void *dest, const void *source, LIST PARAMETERS, int pe) {                        \
        BY_ADDRESS("rma_ctx_" #NAME, ctx, source);                                                                     \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_ctx_##NAME##_nbi(rma_ctx *ctx, void *dest, const void *source, LIST PARAMETERS, int pe) {                  \
        BY_ADDRESS("rma_ctx_" #NAME "_nbi", ctx, source);                                                              \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_gptr_##NAME(void *dest, rma_gptr_t source, LIST PARAMETERS) {                                              \
        BY_GPTR("rma_gptr_" #NAME, RMA_CTX_DEFAULT, source);                                                           \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_gptr_##NAME##_nbi(void *dest, rma_gptr_t source, LIST PARAMETERS) {                                        \
        BY_GPTR("rma_gptr_" #NAME "_nbi", RMA_CTX_DEFAULT, source);                                                    \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }                                                                                                                  \
    int rma_ctx_gptr_##NAME(rma_ctx *ctx, void *dest, rma_gptr_t source, LIST PARAMETERS) {                            \
        BY_GPTR("rma_ctx_gptr_" #NAME, ctx, source);                                                                   \
        return DO(&s, __VA_ARGS__, RMAI_NOW);                                                                          \
    }                                                                                                                  \
    int rma_ctx_gptr_##NAME##_nbi(rma_ctx *ctx, void *dest, rma_gptr_t source, LIST PARAMETERS) {                      \
        BY_GPTR("rma_ctx_gptr_" #NAME "_nbi", ctx, source);                                                            \
        return DO(&s, __VA_ARGS__, RMAI_LATER);                                                                        \
    }

/* Contiguous updates that the inlined arithmetic can find, as most are: without a pattern. */
static inline size_t quick_bytes(int type, size_t n) {
    return RMAI_LIKELY((unsigned)type < RMAI_TYPES && n <= CHUNK) ? n * rmai_type_size((enum rma_type)type) : 0;
}

/* One double, which is the most common update of all, is an atomic. */
static inline void update_double(void *there, const void *source, void *fetch) {
    uint64_t bits;
    memcpy(&bits, source, sizeof bits);
    bits = rma_apply_(RMA_FETCH_FADD_, there, sizeof bits, bits, 0);
    if (fetch) memcpy(fetch, &bits, sizeof bits);
}

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
#define PUT_SECTION(S, ...) move_section(S, 1, NULL, source, __VA_ARGS__)
#define GET_SECTION(S, ...) move_section(S, 0, dest, NULL, __VA_ARGS__)
#define PUT_INDEXED(S, ...) move_indexed(S, 1, NULL, source, __VA_ARGS__)
#define GET_INDEXED(S, ...) move_indexed(S, 0, dest, NULL, __VA_ARGS__)
#define PUT_BLOCKS(S, ...)  move_blocks(S, 1, NULL, source, __VA_ARGS__)
#define GET_BLOCKS(S, ...)  move_blocks(S, 0, dest, NULL, __VA_ARGS__)

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
