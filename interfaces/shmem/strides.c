/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM's strided and blocked transfers. In a blocked transfer the strides count elements from one block to the
 * next, and each block is a separate transfer. The last block goes first: if its range is valid, so are those of the
 * blocks before it, since a segment has no holes. So a call that fails has moved nothing. */
#include "config.h"

#include "interfaces/shmem/define.h"

typedef int one_block(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);

/* The distance in bytes to block i, or -1 if that overflows. */
static size_t block_distance(size_t i, ptrdiff_t stride, size_t elem) {
    size_t elements, bytes;
    if (__builtin_mul_overflow(i, (size_t)stride, &elements) || __builtin_mul_overflow(elements, elem, &bytes))
        return (size_t)-1;
    return bytes;
}

static void move_blocks(const char *call, one_block *move, rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dst,
                        ptrdiff_t sst, size_t elem, size_t bsize, size_t nblocks, int pe) {
    size_t len, last = nblocks - 1;
    if (dst < 1 || sst < 1) {
        rma_fail_(RMA_ERR_ARG, "%s: the strides dst %td and sst %td are not both at least 1", call, dst, sst);
        return;
    }
    if (__builtin_mul_overflow(bsize, elem, &len) || (nblocks > 0 && (block_distance(last, dst, elem) == (size_t)-1 ||
                                                                      block_distance(last, sst, elem) == (size_t)-1))) {
        rma_fail_(RMA_ERR_ARG, "%s: bsize %zu, nblocks %zu, dst %td and sst %td with elements of %zu bytes overflow",
                  call, bsize, nblocks, dst, sst, elem);
        return;
    }
    rma_call_as_(call);
    if (nblocks == 0) {
        move(ctx, dest, source, 0, pe); /* checks the PE */
    } else if (nblocks == 1 || move(ctx, (char *)dest + block_distance(last, dst, elem),
                                    (const char *)source + block_distance(last, sst, elem), len, pe) == RMA_SUCCESS) {
        for (size_t i = 0; i < nblocks; i++)
            if (move(ctx, (char *)dest + block_distance(i, dst, elem),
                     (const char *)source + block_distance(i, sst, elem), len, pe) != RMA_SUCCESS)
                break;
    }
    rma_call_as_(NULL);
}

#define OF_SYM RMA_CTX_DEFAULT
#define OF_CTX ctx
#define STRIDED(F, CALL, TYPE, SIZE, MOVE)                                                                             \
    void p##CALL(SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,         \
                 int pe) {                                                                                             \
        rma_call_as_(#CALL);                                                                                           \
        MOVE(OF_##F, dest, source, dst, sst, SIZE, nelems, pe);                                                        \
        rma_call_as_(NULL);                                                                                            \
    }
#define BLOCKED(F, CALL, TYPE, SIZE, MOVE)                                                                             \
    void p##CALL(SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,          \
                 size_t nblocks, int pe) {                                                                             \
        move_blocks(#CALL, MOVE, OF_##F, dest, source, dst, sst, SIZE, bsize, nblocks, pe);                            \
    }
#define BLOCKS(X, F, STEM, TYPE, RNAME)                                                                                \
    BLOCKED(F, STEM##_ibput, TYPE, sizeof(TYPE), rma_ctx_put)                                                          \
    BLOCKED(F, STEM##_ibget, TYPE, sizeof(TYPE), rma_ctx_get)
#define SIZED_BLOCKS(X, F, STEM, BITS, SIZE)                                                                           \
    BLOCKED(F, STEM##ibput##BITS, void, SIZE, rma_ctx_put)                                                             \
    BLOCKED(F, STEM##ibget##BITS, void, SIZE, rma_ctx_get)
#define STRIDES(X, F, STEM, TYPE, RNAME)                                                                               \
    STRIDED(F, STEM##_iput, TYPE, sizeof(TYPE), rma_ctx_iput)                                                          \
    STRIDED(F, STEM##_iget, TYPE, sizeof(TYPE), rma_ctx_iget)                                                          \
    BLOCKS(X, F, STEM, TYPE, RNAME)
#define SIZED_STRIDES(X, F, STEM, BITS, SIZE)                                                                          \
    STRIDED(F, STEM##iput##BITS, void, SIZE, rma_ctx_iput)                                                             \
    STRIDED(F, STEM##iget##BITS, void, SIZE, rma_ctx_iget)                                                             \
    SIZED_BLOCKS(X, F, STEM, BITS, SIZE)
#define TYPED_STRIDES(X, NAME, TYPE, RNAME) SHMEM_BOTH_(STRIDES, X, NAME, TYPE, RNAME)

SHMEM_TYPES_(TYPED_STRIDES, )
SHMEM_EACH_SIZE_(SIZED_STRIDES, , SYM, shmem_)
SHMEM_EACH_SIZE_(SIZED_STRIDES, , CTX, shmem_ctx_)

/* The extensions: the same calls under other names. */
#define TYPED_BLOCKS(X, NAME, TYPE, RNAME)                                                                             \
    BLOCKS(X, SYM, shmemx_##NAME, TYPE, RNAME)                                                                         \
    BLOCKS(X, CTX, shmemx_ctx_##NAME, TYPE, RNAME)
SHMEM_TYPES_(TYPED_BLOCKS, )
SHMEM_EACH_SIZE_(SIZED_BLOCKS, , SYM, shmemx_)
SHMEM_EACH_SIZE_(SIZED_BLOCKS, , CTX, shmemx_ctx_)

SHMEM_STRIDE_CALLS_(ALIAS)
SHMEMX_BLOCK_CALLS_(ALIAS)
