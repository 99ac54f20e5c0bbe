/* SPDX-License-Identifier: BSD-3-Clause */
/* The native calls on sections and lists, and accumulates, for a tool that takes them from the program
 * (instruments/call_lists/README.md): eight forms each, which differ in how they name the remote memory, in the
 * context, and in when they are complete. */
#include "config.h"

#include "rma.h"

#define CALLS_NATIVE 1
#include CALLS_TOOL

#define UNPACK(...)    __VA_ARGS__
#define APPLY(ON, ...) ON(__VA_ARGS__)

/* One function. ON: what the tool does with it, and WHAT the arguments for that. */
#define FORM(CALL, PARAMETERS, ARGUMENTS, CTX, FAR, NBI, ON, WHAT)                                                     \
    extern __typeof__(CALL) p##CALL;                                                                                   \
    int CALL PARAMETERS {                                                                                              \
        int result;                                                                                                    \
        APPLY(ON, #CALL, CTX, FAR, NBI, UNPACK WHAT, result = p##CALL ARGUMENTS);                                      \
        return result;                                                                                                 \
    }
#define TWO_FORMS(CALL, PARAMETERS, ARGUMENTS, CTX, FAR, ...)                                                          \
    FORM(CALL, PARAMETERS, ARGUMENTS, CTX, FAR, 0, __VA_ARGS__)                                                        \
    FORM(CALL##_nbi, PARAMETERS, ARGUMENTS, CTX, FAR, 1, __VA_ARGS__)

/* REMOTE: which of dest and source is remote. */
#define EIGHT_FORMS(CALL, REMOTE, DEST, SOURCE, PARAMETERS, ARGUMENTS, ...)                                            \
    TWO_FORMS(rma_##CALL, (void *dest, const void *source, UNPACK PARAMETERS, int pe),                                 \
              (dest, source, UNPACK ARGUMENTS, pe), RMA_CTX_DEFAULT, AT(RMA_CTX_DEFAULT, REMOTE, pe), __VA_ARGS__)     \
    TWO_FORMS(rma_ctx_##CALL, (rma_ctx * ctx, void *dest, const void *source, UNPACK PARAMETERS, int pe),              \
              (ctx, dest, source, UNPACK ARGUMENTS, pe), ctx, AT(ctx, REMOTE, pe), __VA_ARGS__)                        \
    TWO_FORMS(rma_gptr_##CALL, (DEST dest, SOURCE source, UNPACK PARAMETERS), (dest, source, UNPACK ARGUMENTS),        \
              RMA_CTX_DEFAULT, AT_GPTR(REMOTE), __VA_ARGS__)                                                           \
    TWO_FORMS(rma_ctx_gptr_##CALL, (rma_ctx * ctx, DEST dest, SOURCE source, UNPACK PARAMETERS),                       \
              (ctx, dest, source, UNPACK ARGUMENTS), ctx, AT_GPTR(REMOTE), __VA_ARGS__)
#define PUT_FORMS(CALL, PARAMETERS, ARGUMENTS, TO, FROM)                                                               \
    EIGHT_FORMS(CALL, dest, rma_gptr_t, const void *, PARAMETERS, ARGUMENTS, ON_PUT_PIECES, (source, TO, FROM))
#define GET_FORMS(CALL, PARAMETERS, ARGUMENTS, TO, FROM)                                                               \
    EIGHT_FORMS(CALL, source, void *, rma_gptr_t, PARAMETERS, ARGUMENTS, ON_GET_PIECES, (dest, TO, FROM))

/* ---- sections and lists. For each side the pieces of memory that the call moves. ---- */

#define SECTION(SIDE)       PIECES_SECTION(SIDE##_stride, count, dims, elem)
#define SECTION_ARGUMENTS   (dest_stride, source_stride, elem, dims, count)
#define LIST(INDEX)         PIECES_INDEXED(INDEX, elem, n)
#define BLOCKS(LIST, OTHER) PIECES_BLOCKS(LIST, n_##LIST, OTHER, n_##OTHER)
#define BLOCKS_ARGUMENTS    (to, n_to, from, n_from)
PUT_FORMS(put_section, (RMA_SECTION_), SECTION_ARGUMENTS, SECTION(dest), SECTION(source))
GET_FORMS(get_section, (RMA_SECTION_), SECTION_ARGUMENTS, SECTION(dest), SECTION(source))
PUT_FORMS(put_indexed, (RMA_INDEXED_), (index, elem, n), LIST(index), LIST(NULL))
GET_FORMS(get_indexed, (RMA_INDEXED_), (index, elem, n), LIST(NULL), LIST(index))
PUT_FORMS(put_blocks, (RMA_BLOCKS_), BLOCKS_ARGUMENTS, BLOCKS(to, from), BLOCKS(from, to))
GET_FORMS(get_blocks, (RMA_BLOCKS_), BLOCKS_ARGUMENTS, BLOCKS(to, from), BLOCKS(from, to))

/* ---- accumulates ---- */

#define ACCUMULATE_FORMS(CALL, PARAMETERS, ARGUMENTS, FETCH, ...)                                                      \
    EIGHT_FORMS(CALL, dest, rma_gptr_t, const void *, PARAMETERS, ARGUMENTS, ON_ACCUMULATE,                            \
                (source, FETCH, type, op, __VA_ARGS__))
#define TYPED_SECTION(SIDE) PIECES_SECTION(SIDE##_stride, count, dims, SIZE_OF(type))
#define TYPED_LIST(INDEX)   PIECES_INDEXED(INDEX, SIZE_OF(type), n)
#define OR_ELSE(LIST, A, B) PIECES_BLOCKS(LIST, n_##LIST, A ? A : B, A ? n_##A : n_##B)

ACCUMULATE_FORMS(accumulate, (size_t n, RMA_UPDATE_), (n, type, op, scale), NULL, TYPED_LIST(NULL), TYPED_LIST(NULL),
                 TYPED_LIST(NULL))
ACCUMULATE_FORMS(get_accumulate, (void *fetch, size_t n, RMA_UPDATE_), (fetch, n, type, op, scale), fetch,
                 TYPED_LIST(NULL), TYPED_LIST(NULL), TYPED_LIST(NULL))
ACCUMULATE_FORMS(accumulate_section,
                 (const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, int dims, const size_t *count,
                  RMA_UPDATE_),
                 (dest_stride, source_stride, dims, count, type, op, scale), NULL, TYPED_SECTION(dest),
                 TYPED_SECTION(source), TYPED_SECTION(source))
ACCUMULATE_FORMS(get_accumulate_section,
                 (void *fetch, const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride,
                  const ptrdiff_t *fetch_stride, int dims, const size_t *count, RMA_UPDATE_),
                 (fetch, dest_stride, source_stride, fetch_stride, dims, count, type, op, scale), fetch,
                 TYPED_SECTION(dest), TYPED_SECTION(source), TYPED_SECTION(fetch))
ACCUMULATE_FORMS(accumulate_indexed, (const ptrdiff_t *index, size_t n, RMA_UPDATE_), (index, n, type, op, scale), NULL,
                 TYPED_LIST(index), TYPED_LIST(NULL), TYPED_LIST(NULL))
ACCUMULATE_FORMS(get_accumulate_indexed, (void *fetch, const ptrdiff_t *index, size_t n, RMA_UPDATE_),
                 (fetch, index, n, type, op, scale), fetch, TYPED_LIST(index), TYPED_LIST(NULL), TYPED_LIST(NULL))
ACCUMULATE_FORMS(accumulate_blocks, (RMA_BLOCKS_, RMA_UPDATE_), (to, n_to, from, n_from, type, op, scale), NULL,
                 BLOCKS(to, from), BLOCKS(from, to), BLOCKS(from, to))
ACCUMULATE_FORMS(get_accumulate_blocks,
                 (void *fetch, RMA_BLOCKS_, const struct rma_block *into, size_t n_into, RMA_UPDATE_),
                 (fetch, to, n_to, from, n_from, into, n_into, type, op, scale), fetch, OR_ELSE(to, from, into),
                 OR_ELSE(from, to, into), OR_ELSE(into, to, from))
