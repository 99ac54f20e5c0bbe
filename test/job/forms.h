/* SPDX-License-Identifier: BSD-3-Clause */
/* forms.h: the eight forms of the calls on sections and lists and of accumulates, and memory of each kind that they can
 * reach: each PE has a slice of it for each PE. And random shapes. */
#ifndef FORMS_H
#define FORMS_H

#include "job.h"

/* The first two are named by address too. */
enum { SYMMETRIC, STATIC, LOCAL, ATTACHED, KINDS };
static const char *const kinds[KINDS] = {"the symmetric heap", "a global variable", "a local heap", "attached memory"};

#ifndef SLICE
#define SLICE 4096 /* bytes */
#endif

static _Alignas(64) unsigned char forms_variable[JOB_PES_MAX * SLICE];
static unsigned char *own[KINDS];                  /* this PE's memory */
static rma_gptr_t forms_start[JOB_PES_MAX][KINDS]; /* and of all PEs */
static rma_ctx *forms_ctx[4];                      /* none, the default one, one of all PEs, one of all PEs backwards */
static rma_team *forms_backwards;

static inline void forms_open(void) {
    rma_gptr_t mine[KINDS];
    const size_t size = (size_t)job.n * SLICE;
    own[SYMMETRIC] = rma_malloc(size);
    own[STATIC] = forms_variable;
    OK(rma_alloc_mem(size, &own[LOCAL]));
    own[ATTACHED] = aligned_alloc(64, size);
    CHECK(own[SYMMETRIC] && own[ATTACHED], "%s", rma_last_error());
    OK(rma_attach(own[ATTACHED], size, &mine[ATTACHED]));
    for (int kind = 0; kind < ATTACHED; kind++) mine[kind] = rma_gptr(own[kind], job.me);
    MPI_Allgather(mine, KINDS, MPI_UINT64_T, forms_start, KINDS, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int kind = 0; kind < KINDS; kind++) memset(own[kind], 0, size);
    OK(rma_team_split_strided(RMA_TEAM_WORLD, job.n - 1, -1, job.n, &forms_backwards));
    forms_ctx[1] = RMA_CTX_DEFAULT;
    OK(rma_ctx_create(0, &forms_ctx[2]));
    OK(rma_team_create_ctx(forms_backwards, 0, &forms_ctx[3]));
    OK(rma_barrier_all());
}

static inline void forms_close(void) {
    OK(rma_barrier_all());
    OK(rma_ctx_destroy(forms_ctx[2]));
    OK(rma_ctx_destroy(forms_ctx[3]));
    OK(rma_team_destroy(forms_backwards));
    OK(rma_detach(own[ATTACHED]));
    free(own[ATTACHED]);
    OK(rma_free_mem(own[LOCAL]));
    OK(rma_free(own[SYMMETRIC]));
}

/* One of the eight forms. */
struct form {
    rma_ctx *ctx; /* or NULL */
    int gptr, nbi, backwards;
};

static inline struct form form_number(unsigned number, int kind) {
    const unsigned ctx = number / 4 % 4;
    return (struct form){forms_ctx[ctx], kind >= LOCAL || number % 4 / 2, number % 2, ctx == 3};
}

/* form_name: of the call whose name without a prefix is `call`. */
static inline const char *form_name(struct form f, const char *call) {
    return job_text("rma_%s%s%s%s", f.ctx ? "ctx_" : "", f.gptr ? "gptr_" : "", call, f.nbi ? "_nbi" : "");
}

static inline void form_quiet(struct form f) { OK(f.ctx ? rma_ctx_quiet(f.ctx) : rma_quiet()); }

/* Remote memory, named in both ways: byte `at` of the slice that PE pe has for PE `of`. */
struct remote {
    rma_gptr_t g;
    unsigned char *addr; /* of the caller */
    int pe;              /* in the form's context */
};

static inline struct remote form_remote(struct form f, int pe, int kind, int of, ptrdiff_t at) {
    const ptrdiff_t o = (ptrdiff_t)of * SLICE + at;
    return (struct remote){forms_start[pe][kind] + (rma_gptr_t)o, own[kind] + o, f.backwards ? job.n - 1 - pe : pe};
}

/* FORM_PUT: the form f of a call whose remote address comes first, as in rma_put_section; FORM_GET: second. */
#define FORM_PUT(f, r, CALL, near, ...)                                                                                \
    (!(f).gptr ? !(f).ctx  ? (f).nbi ? rma_##CALL##_nbi((r).addr, near, __VA_ARGS__, (r).pe)                           \
                                     : rma_##CALL((r).addr, near, __VA_ARGS__, (r).pe)                                 \
                  : (f).nbi ? rma_ctx_##CALL##_nbi((f).ctx, (r).addr, near, __VA_ARGS__, (r).pe)                       \
                           : rma_ctx_##CALL((f).ctx, (r).addr, near, __VA_ARGS__, (r).pe)                              \
     : !(f).ctx                                                                                                        \
         ? (f).nbi ? rma_gptr_##CALL##_nbi((r).g, near, __VA_ARGS__) : rma_gptr_##CALL((r).g, near, __VA_ARGS__)       \
     : (f).nbi ? rma_ctx_gptr_##CALL##_nbi((f).ctx, (r).g, near, __VA_ARGS__)                                          \
               : rma_ctx_gptr_##CALL((f).ctx, (r).g, near, __VA_ARGS__))
#define FORM_GET(f, r, CALL, near, ...)                                                                                \
    (!(f).gptr ? !(f).ctx  ? (f).nbi ? rma_##CALL##_nbi(near, (r).addr, __VA_ARGS__, (r).pe)                           \
                                     : rma_##CALL(near, (r).addr, __VA_ARGS__, (r).pe)                                 \
                  : (f).nbi ? rma_ctx_##CALL##_nbi((f).ctx, near, (r).addr, __VA_ARGS__, (r).pe)                       \
                           : rma_ctx_##CALL((f).ctx, near, (r).addr, __VA_ARGS__, (r).pe)                              \
     : !(f).ctx                                                                                                        \
         ? (f).nbi ? rma_gptr_##CALL##_nbi(near, (r).g, __VA_ARGS__) : rma_gptr_##CALL(near, (r).g, __VA_ARGS__)       \
     : (f).nbi ? rma_ctx_gptr_##CALL##_nbi((f).ctx, near, (r).g, __VA_ARGS__)                                          \
               : rma_ctx_gptr_##CALL((f).ctx, near, (r).g, __VA_ARGS__))

/* ---- random shapes ---- */

#define FORMS_MOST 600 /* elements of a random shape */

struct shape {
    size_t elem, count[RMA_DIMS_MAX], n; /* n: elements */
    int dims;
};

/* One side: the strides, and where the bytes lie from the address of element (0, 0, ...). */
struct side {
    ptrdiff_t stride[RMA_DIMS_MAX], low, high; /* the first byte, one past the last */
};

static inline void side_measure(const struct shape *s, struct side *x) {
    x->low = 0, x->high = (ptrdiff_t)s->elem;
    for (int d = 0; d < s->dims; d++) {
        const ptrdiff_t reach = x->stride[d] * ((ptrdiff_t)s->count[d] - 1);
        if (reach < 0) x->low += reach;
        if (reach > 0) x->high += reach;
    }
}

/* side_offsets: of all elements, the last index fastest. */
static inline void side_offsets(const struct shape *s, const struct side *x, ptrdiff_t *at) {
    size_t index[RMA_DIMS_MAX] = {0};
    for (size_t i = 0; i < s->n; i++) {
        at[i] = 0;
        for (int d = 0; d < s->dims; d++) at[i] += x->stride[d] * (ptrdiff_t)index[d];
        for (int d = s->dims - 1; d >= 0 && ++index[d] == s->count[d]; d--) index[d] = 0;
    }
}

/* shape_random: of elements of s->elem bytes, at most `most`. */
static inline void shape_random(uint64_t *random, struct shape *s, size_t most) {
    s->dims = (int)(job_below(random, 3) ? job_below(random, 5) : job_below(random, RMA_DIMS_MAX + 1));
    s->n = 1;
    for (int d = 0; d < s->dims; d++) {
        const size_t room = most / s->n;
        s->count[d] =
            job_below(random, 4) ? 1 + job_length(random, room - 1) : 1 + job_below(random, room < 3 ? room : 3);
        s->n *= s->count[d];
    }
    if (s->dims && job_below(random, 30) == 0) s->count[job_below(random, (size_t)s->dims)] = s->n = 0;
}

/* side_nested: strides without overlap, nested in a random order, with gaps of some units or without, of either sign.
 */
static inline void side_nested(uint64_t *random, const struct shape *s, struct side *x, size_t unit) {
    int order[RMA_DIMS_MAX];
    ptrdiff_t extent = (ptrdiff_t)s->elem;
    for (int d = 0; d < s->dims; d++) {
        const int other = (int)job_below(random, (size_t)d + 1);
        order[d] = order[other];
        order[other] = d;
    }
    if (job_below(random, 2))
        for (int d = 0; d < s->dims; d++) order[d] = s->dims - 1 - d; /* C's order */
    for (int i = 0; i < s->dims; i++) {
        const int d = order[i];
        const ptrdiff_t gap = job_below(random, 2) ? 0 : (ptrdiff_t)(job_length(random, 24 / unit) * unit);
        x->stride[d] = (extent + gap) * (job_below(random, 5) ? 1 : -1);
        if (s->count[d]) extent += (extent + gap) * ((ptrdiff_t)s->count[d] - 1);
    }
}

/* cut: `total` bytes into at most 40 blocks in `room` bytes, in units, in a random order; `at` the place from which
 * the offsets count. Returns how many. */
static inline size_t cut(uint64_t *random, struct rma_block *list, size_t total, size_t room, ptrdiff_t at,
                         size_t unit) {
    size_t n = 0, left = total / unit, place = 0, gaps = room / unit - left;
    while (left && n < 39) {
        const size_t gap = job_below(random, 3) ? job_length(random, gaps) / 8 : 0;
        const size_t len = job_below(random, 10) ? 1 + job_length(random, left - 1) : 0;
        place += gap, gaps -= gap;
        list[n++] = (struct rma_block){(ptrdiff_t)(place * unit) - at, len * unit};
        place += len, left -= len;
    }
    if (left) list[n++] = (struct rma_block){(ptrdiff_t)(place * unit) - at, left * unit};
    for (size_t i = 1; i < n; i++) {
        const size_t other = job_below(random, i + 1);
        const struct rma_block b = list[i];
        list[i] = list[other];
        list[other] = b;
    }
    return n;
}

#endif
