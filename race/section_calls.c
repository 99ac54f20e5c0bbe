/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on sections and lists, and accumulates: eight forms each, which differ in how they name the remote memory,
 * in the context, and in when they are complete. */
#include "config.h"

#include "rma.h"

#include "race/native.h"
#define RACE_BY_NATIVE 1
#include "race/calls.h"
#include "race/pieces.h"

#define UNPACK(...) __VA_ARGS__

/* One function. What it reports uses the call `c`, the remote memory `far`, and `nbi`. EARLY: before the library's
 * call, because a PE may wait for what the call writes. */
#define FORM(CALL, PARAMETERS, ARGUMENTS, CTX, FAR, NBI, EARLY, ...)                                                   \
    PRMA(CALL);                                                                                                        \
    int CALL PARAMETERS {                                                                                              \
        RACE_CALL_AS(#CALL);                                                                                           \
        const struct race_target far = FAR;                                                                            \
        const int nbi = NBI;                                                                                           \
        int code;                                                                                                      \
        c.ctx = CTX;                                                                                                   \
        if (EARLY) __VA_ARGS__;                                                                                        \
        RACE_FORWARD(code = p##CALL ARGUMENTS);                                                                        \
        if (!EARLY && code == RMA_SUCCESS) __VA_ARGS__;                                                                \
        return code;                                                                                                   \
    }

#define AT(addr_) ((struct race_target){.addr = (uint64_t)(uintptr_t)(addr_), .pe = pe})
#define AT_GPTR(g)                                                                                                     \
    ((struct race_target){                                                                                             \
        .addr = (g) & (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1), .pe = (int)((g) >> RMA_GPTR_BITS_), .gptr = 1})

#define TWO_FORMS(CALL, PARAMETERS, ARGUMENTS, CTX, FAR, EARLY, ...)                                                   \
    FORM(CALL, PARAMETERS, ARGUMENTS, CTX, FAR, 0, EARLY, __VA_ARGS__)                                                 \
    FORM(CALL##_nbi, PARAMETERS, ARGUMENTS, CTX, FAR, 1, EARLY, __VA_ARGS__)

/* REMOTE: which of dest and source is remote. */
#define EIGHT_FORMS(CALL, EARLY, REMOTE, DEST, SOURCE, PARAMETERS, ARGUMENTS, ...)                                     \
    TWO_FORMS(rma_##CALL, (void *dest, const void *source, UNPACK PARAMETERS, int pe),                                 \
              (dest, source, UNPACK ARGUMENTS, pe), NULL, AT(REMOTE), EARLY, __VA_ARGS__)                              \
    TWO_FORMS(rma_ctx_##CALL, (rma_ctx * ctx, void *dest, const void *source, UNPACK PARAMETERS, int pe),              \
              (ctx, dest, source, UNPACK ARGUMENTS, pe), RACE_CTX_OF_CTX, AT(REMOTE), EARLY, __VA_ARGS__)              \
    TWO_FORMS(rma_gptr_##CALL, (DEST dest, SOURCE source, UNPACK PARAMETERS), (dest, source, UNPACK ARGUMENTS), NULL,  \
              AT_GPTR(REMOTE), EARLY, __VA_ARGS__)                                                                     \
    TWO_FORMS(rma_ctx_gptr_##CALL, (rma_ctx * ctx, DEST dest, SOURCE source, UNPACK PARAMETERS),                       \
              (ctx, dest, source, UNPACK ARGUMENTS), RACE_CTX_OF_CTX, AT_GPTR(REMOTE), EARLY, __VA_ARGS__)
#define PUT_FORMS(CALL, ...)    EIGHT_FORMS(CALL, 0, dest, rma_gptr_t, const void *, __VA_ARGS__)
#define GET_FORMS(CALL, ...)    EIGHT_FORMS(CALL, 0, source, void *, rma_gptr_t, __VA_ARGS__)
#define UPDATE_FORMS(CALL, ...) EIGHT_FORMS(CALL, 1, dest, rma_gptr_t, const void *, __VA_ARGS__)

/* ---- sections and lists ---- */

#define SECTION_ARGUMENTS (dest_stride, source_stride, elem, dims, count)
#define INDEXED_ARGUMENTS (index, elem, n)
#define BLOCKS_ARGUMENTS  (to, n_to, from, n_from)

#define SIDE_SECTION(SIDE) race_section(SIDE##_stride, count, dims, elem)
#define SIDE_TO            race_blocks(to, n_to, from, n_from)
#define SIDE_FROM          race_blocks(from, n_from, to, n_to)

PUT_FORMS(put_section, (RMA_SECTION_), SECTION_ARGUMENTS,
          race_put_pieces(&c, far, source, SIDE_SECTION(dest), SIDE_SECTION(source), nbi))
GET_FORMS(get_section, (RMA_SECTION_), SECTION_ARGUMENTS,
          race_get_pieces(&c, dest, far, SIDE_SECTION(dest), SIDE_SECTION(source), nbi))
PUT_FORMS(put_indexed, (RMA_INDEXED_), INDEXED_ARGUMENTS,
          race_put_pieces(&c, far, source, race_indexed(index, elem, n), race_indexed(NULL, elem, n), nbi))
GET_FORMS(get_indexed, (RMA_INDEXED_), INDEXED_ARGUMENTS,
          race_get_pieces(&c, dest, far, race_indexed(NULL, elem, n), race_indexed(index, elem, n), nbi))
PUT_FORMS(put_blocks, (RMA_BLOCKS_), BLOCKS_ARGUMENTS, race_put_pieces(&c, far, source, SIDE_TO, SIDE_FROM, nbi))
GET_FORMS(get_blocks, (RMA_BLOCKS_), BLOCKS_ARGUMENTS, race_get_pieces(&c, dest, far, SIDE_TO, SIDE_FROM, nbi))

/* ---- accumulates ---- */

/* 0: there is no such type. */
static size_t size_of(int type) {
    static const size_t sizes[] = {
        [RMA_INT8] = 1,
        [RMA_INT16] = 2,
        [RMA_INT32] = 4,
        [RMA_INT64] = 8,
        [RMA_UINT8] = 1,
        [RMA_UINT16] = 2,
        [RMA_UINT32] = 4,
        [RMA_UINT64] = 8,
        [RMA_FLOAT] = sizeof(float),
        [RMA_DOUBLE] = sizeof(double),
        [RMA_LDOUBLE] = sizeof(long double),
        [RMA_COMPLEXF] = sizeof(rma_complexf_),
        [RMA_COMPLEXD] = sizeof(rma_complexd_),
    };
    return type >= 0 && (size_t)type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

static struct race_update update_of(int type, int op, int nbi) {
    return (struct race_update){.size = size_of(type), .writes = op != RMA_OP_FETCH, .nbi = nbi};
}

#define UPDATE update_of(type, op, nbi)

/* The sides of a section, whose elements are of the type. */
#define TYPED_SECTION(SIDE) race_section(SIDE##_stride, count, dims, size_of(type))
#define TYPED_LIST(INDEX)   race_indexed(INDEX, size_of(type), n)

/* A fetch alone reads no source. */
#define FETCHING(FAR, NEAR, INTO)                                                                                      \
    race_accumulate(&c, far, op == RMA_OP_FETCH ? NULL : source, fetch, UPDATE, FAR, NEAR, INTO)
#define OR_ELSE(LIST, A, B) race_blocks(LIST, n_##LIST, A ? A : B, A ? n_##A : n_##B)
#define UPDATING(FAR, NEAR) race_accumulate(&c, far, source, NULL, UPDATE, FAR, NEAR, NEAR)

UPDATE_FORMS(accumulate, (size_t n, RMA_UPDATE_), (n, type, op, scale), UPDATING(TYPED_LIST(NULL), TYPED_LIST(NULL)))
UPDATE_FORMS(get_accumulate, (void *fetch, size_t n, RMA_UPDATE_), (fetch, n, type, op, scale),
             FETCHING(TYPED_LIST(NULL), TYPED_LIST(NULL), TYPED_LIST(NULL)))
UPDATE_FORMS(accumulate_section,
             (const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, int dims, const size_t *count, RMA_UPDATE_),
             (dest_stride, source_stride, dims, count, type, op, scale),
             UPDATING(TYPED_SECTION(dest), TYPED_SECTION(source)))
UPDATE_FORMS(get_accumulate_section,
             (void *fetch, const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, const ptrdiff_t *fetch_stride,
              int dims, const size_t *count, RMA_UPDATE_),
             (fetch, dest_stride, source_stride, fetch_stride, dims, count, type, op, scale),
             FETCHING(TYPED_SECTION(dest), TYPED_SECTION(source), TYPED_SECTION(fetch)))
UPDATE_FORMS(accumulate_indexed, (const ptrdiff_t *index, size_t n, RMA_UPDATE_), (index, n, type, op, scale),
             UPDATING(TYPED_LIST(index), TYPED_LIST(NULL)))
UPDATE_FORMS(get_accumulate_indexed, (void *fetch, const ptrdiff_t *index, size_t n, RMA_UPDATE_),
             (fetch, index, n, type, op, scale), FETCHING(TYPED_LIST(index), TYPED_LIST(NULL), TYPED_LIST(NULL)))
UPDATE_FORMS(accumulate_blocks, (RMA_BLOCKS_, RMA_UPDATE_), (to, n_to, from, n_from, type, op, scale),
             UPDATING(SIDE_TO, SIDE_FROM))
UPDATE_FORMS(get_accumulate_blocks,
             (void *fetch, RMA_BLOCKS_, const struct rma_block *into, size_t n_into, RMA_UPDATE_),
             (fetch, to, n_to, from, n_from, into, n_into, type, op, scale),
             FETCHING(OR_ELSE(to, from, into), OR_ELSE(from, to, into), OR_ELSE(into, to, from)))
