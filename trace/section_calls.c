/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on sections and lists, and accumulates: eight forms each, which differ in how they name the remote memory,
 * in the context, and in when they are complete. */
#include "config.h"

#include "rma.h"

#include "trace/calls.h"
#include "trace/native.h"

#define UNPACK(...) __VA_ARGS__

#define FORM(CALL, PARAMETERS, ARGUMENTS, KIND, PE, PLACE, CONTEXT, BYTES)                                             \
    PRMA(CALL);                                                                                                        \
    int CALL PARAMETERS {                                                                                              \
        int result;                                                                                                    \
        TRACE_CALL(KIND, #CALL, PE, BYTES, PLACE, CONTEXT, result = p##CALL ARGUMENTS);                                \
        return result;                                                                                                 \
    }
#define TWO_FORMS(CALL, PARAMETERS, ARGUMENTS, KIND, KIND_NBI, PE, PLACE, CONTEXT, BYTES)                              \
    FORM(CALL, PARAMETERS, ARGUMENTS, KIND, PE, PLACE, CONTEXT, BYTES)                                                 \
    FORM(CALL##_nbi, PARAMETERS, ARGUMENTS, KIND_NBI, PE, PLACE, CONTEXT, BYTES)

/* REMOTE: which of dest and source is remote. */
#define EIGHT_FORMS(CALL, KIND, KIND_NBI, REMOTE, DEST, SOURCE, PARAMETERS, ARGUMENTS, BYTES)                          \
    TWO_FORMS(rma_##CALL, (void *dest, const void *source, UNPACK PARAMETERS, int pe),                                 \
              (dest, source, UNPACK ARGUMENTS, pe), KIND, KIND_NBI, pe, trace_place(REMOTE), 0, BYTES)                 \
    TWO_FORMS(rma_ctx_##CALL, (rma_ctx * ctx, void *dest, const void *source, UNPACK PARAMETERS, int pe),              \
              (ctx, dest, source, UNPACK ARGUMENTS, pe), KIND, KIND_NBI, trace_pe(ctx, 1, pe), trace_place(REMOTE),    \
              trace_context(ctx, 1), BYTES)                                                                            \
    TWO_FORMS(rma_gptr_##CALL, (DEST dest, SOURCE source, UNPACK PARAMETERS), (dest, source, UNPACK ARGUMENTS), KIND,  \
              KIND_NBI, TRACE_GPTR_PE(REMOTE), trace_gptr_place(REMOTE), 0, BYTES)                                     \
    TWO_FORMS(rma_ctx_gptr_##CALL, (rma_ctx * ctx, DEST dest, SOURCE source, UNPACK PARAMETERS),                       \
              (ctx, dest, source, UNPACK ARGUMENTS), KIND, KIND_NBI, TRACE_GPTR_PE(REMOTE), trace_gptr_place(REMOTE),  \
              trace_context(ctx, 1), BYTES)
#define PUT_FORMS(CALL, ...) EIGHT_FORMS(CALL, TRACE_PUT, TRACE_PUT_NBI, dest, rma_gptr_t, const void *, __VA_ARGS__)
#define GET_FORMS(CALL, ...) EIGHT_FORMS(CALL, TRACE_GET, TRACE_GET_NBI, source, void *, rma_gptr_t, __VA_ARGS__)
#define UPDATE_FORMS(CALL, ...)                                                                                        \
    EIGHT_FORMS(CALL, TRACE_ATOMIC, TRACE_ATOMIC, dest, rma_gptr_t, const void *, __VA_ARGS__)

/* How many elements a section has, and bytes a list of blocks; 0 for arguments that the library refuses. */
static uint64_t elements(int dims, const size_t *extent) {
    uint64_t n = 1;
    if (!extent) return 0;
    for (int i = 0; i < dims; i++) n *= extent[i];
    return n;
}

static uint64_t bytes_of(const struct rma_block *blocks, size_t n) {
    uint64_t bytes = 0;
    for (size_t i = 0; blocks && i < n; i++) bytes += blocks[i].len;
    return bytes;
}

PUT_FORMS(put_section, (RMA_SECTION_), (dest_stride, source_stride, elem, dims, count), elements(dims, count) * elem)
GET_FORMS(get_section, (RMA_SECTION_), (dest_stride, source_stride, elem, dims, count), elements(dims, count) * elem)
PUT_FORMS(put_indexed, (RMA_INDEXED_), (index, elem, n), n *elem)
GET_FORMS(get_indexed, (RMA_INDEXED_), (index, elem, n), n *elem)
PUT_FORMS(put_blocks, (RMA_BLOCKS_), (to, n_to, from, n_from), to ? bytes_of(to, n_to) : bytes_of(from, n_from))
GET_FORMS(get_blocks, (RMA_BLOCKS_), (to, n_to, from, n_from), to ? bytes_of(to, n_to) : bytes_of(from, n_from))

UPDATE_FORMS(accumulate, (size_t n, RMA_UPDATE_), (n, type, op, scale), 0)
UPDATE_FORMS(get_accumulate, (void *fetch, size_t n, RMA_UPDATE_), (fetch, n, type, op, scale), 0)
UPDATE_FORMS(accumulate_section,
             (const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, int dims, const size_t *count, RMA_UPDATE_),
             (dest_stride, source_stride, dims, count, type, op, scale), 0)
UPDATE_FORMS(get_accumulate_section,
             (void *fetch, const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, const ptrdiff_t *fetch_stride,
              int dims, const size_t *count, RMA_UPDATE_),
             (fetch, dest_stride, source_stride, fetch_stride, dims, count, type, op, scale), 0)
UPDATE_FORMS(accumulate_indexed, (const ptrdiff_t *index, size_t n, RMA_UPDATE_), (index, n, type, op, scale), 0)
UPDATE_FORMS(get_accumulate_indexed, (void *fetch, const ptrdiff_t *index, size_t n, RMA_UPDATE_),
             (fetch, index, n, type, op, scale), 0)
UPDATE_FORMS(accumulate_blocks, (RMA_BLOCKS_, RMA_UPDATE_), (to, n_to, from, n_from, type, op, scale), 0)
UPDATE_FORMS(get_accumulate_blocks,
             (void *fetch, RMA_BLOCKS_, const struct rma_block *into, size_t n_into, RMA_UPDATE_),
             (fetch, to, n_to, from, n_from, into, n_into, type, op, scale), 0)
