/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of OpenSHMEM, for a tool that takes them from the program (instruments/call_lists/README.md). Functions
 * with bodies in the table (include/shmem_table.h) are expanded from it, with the tool's functions (wrappers.h) instead
 * of librma's; the others forward to their second names. */
#include "config.h"

#define RMA_NO_TYPED_
#include "rma.h"
#undef RMA_NO_TYPED_
#define SHMEM_PROFILE
#define SHMEM_NO_GENERIC_
#include "pshmem.h"

#include <string.h>

#define CALLS_NATIVE 0
#include CALLS_TOOL
#include "instruments/call_lists/wrappers.h"

#define DEFINE(RESULT, CALL, PARAMETERS, ...) RESULT CALL PARAMETERS __VA_ARGS__

SHMEM_MOVE_CALLS_(DEFINE)
SHMEMX_SIGNAL_CALLS_(DEFINE)
SHMEM_ATOMIC_CALLS_(DEFINE)
SHMEM_WAIT_CALLS_(DEFINE)
SHMEM_ORDER_CALLS_(DEFINE)

/* ---- strided and blocked ---- */

#define CTX_OF_SYM RMA_CTX_DEFAULT
#define CTX_OF_CTX ((const rma_ctx *)ctx)
#define ARG_SYM
#define ARG_CTX ctx,
#define STRIDED(F, CALL, TYPE, SIZE, GET, FAR, NEAR, FAR_STRIDE, NEAR_STRIDE)                                          \
    void CALL(SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe) {       \
        ON_STRIDED(#CALL, CTX_OF_##F, AT(CTX_OF_##F, FAR, pe), NEAR, FAR_STRIDE, NEAR_STRIDE, SIZE, n, GET, 1,         \
                   p##CALL(ARG_##F dest, source, dst, sst, n, pe));                                                    \
    }
#define BLOCKED(F, CALL, TYPE, SIZE, GET, FAR, NEAR, FAR_STRIDE, NEAR_STRIDE)                                          \
    void CALL(SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,             \
              size_t nblocks, int pe) {                                                                                \
        ON_BLOCKED(#CALL, CTX_OF_##F, FAR, pe, NEAR, FAR_STRIDE, NEAR_STRIDE, SIZE, bsize, nblocks, GET,               \
                   p##CALL(ARG_##F dest, source, dst, sst, bsize, nblocks, pe));                                       \
    }
#define BLOCKS(F, PUT, GET, TYPE, SIZE)                                                                                \
    BLOCKED(F, PUT, TYPE, SIZE, 0, dest, source, dst, sst)                                                             \
    BLOCKED(F, GET, TYPE, SIZE, 1, source, dest, sst, dst)
#define STRIDES(F, STEM, TYPE)                                                                                         \
    STRIDED(F, STEM##_iput, TYPE, sizeof(TYPE), 0, dest, source, dst, sst)                                             \
    STRIDED(F, STEM##_iget, TYPE, sizeof(TYPE), 1, source, dest, sst, dst)                                             \
    BLOCKS(F, STEM##_ibput, STEM##_ibget, TYPE, sizeof(TYPE))
#define TYPED_STRIDES(X, NAME, TYPE, RNAME)                                                                            \
    STRIDES(SYM, shmem_##NAME, TYPE)                                                                                   \
    STRIDES(CTX, shmem_ctx_##NAME, TYPE)                                                                               \
    BLOCKS(SYM, shmemx_##NAME##_ibput, shmemx_##NAME##_ibget, TYPE, sizeof(TYPE))                                      \
    BLOCKS(CTX, shmemx_ctx_##NAME##_ibput, shmemx_ctx_##NAME##_ibget, TYPE, sizeof(TYPE))
#define SIZED_STRIDES(X, F, STEM, BITS, SIZE)                                                                          \
    STRIDED(F, STEM##iput##BITS, void, SIZE, 0, dest, source, dst, sst)                                                \
    STRIDED(F, STEM##iget##BITS, void, SIZE, 1, source, dest, sst, dst)                                                \
    BLOCKS(F, STEM##ibput##BITS, STEM##ibget##BITS, void, SIZE)
#define SIZED_BLOCKS(X, F, STEM, BITS, SIZE) BLOCKS(F, STEM##ibput##BITS, STEM##ibget##BITS, void, SIZE)
SHMEM_TYPES_(TYPED_STRIDES, )
SHMEM_EACH_SIZE_(SIZED_STRIDES, , SYM, shmem_)
SHMEM_EACH_SIZE_(SIZED_STRIDES, , CTX, shmem_ctx_)
SHMEM_EACH_SIZE_(SIZED_BLOCKS, , SYM, shmemx_)
SHMEM_EACH_SIZE_(SIZED_BLOCKS, , CTX, shmemx_ctx_)

/* ---- life cycle ---- */

#define CALL_OF(CALL, PARAMETERS, ...)                                                                                 \
    int CALL PARAMETERS {                                                                                              \
        int result;                                                                                                    \
        __VA_ARGS__;                                                                                                   \
        return result;                                                                                                 \
    }
#define OK result == 0

void shmem_init(void) { ON_SHMEM_INIT(1, pshmem_init()); }
void start_pes(int npes) { ON_SHMEM_INIT(1, pstart_pes(npes)); }
void shmem_finalize(void) { ON_SHMEM_FINALIZE(pshmem_finalize()); }
CALL_OF(shmem_init_thread, (int requested, int *provided),
        ON_SHMEM_INIT(OK, result = pshmem_init_thread(requested, provided)))

/* ---- barriers and memory ---- */

#define SET_ARGUMENTS PE_start, logPE_stride, PE_size
#define BARRIER(CALL, PARAMETERS, GROUP, QUIET, ...)                                                                   \
    void CALL PARAMETERS { ON_BARRIER(#CALL, GROUP, QUIET, 0, p##CALL(__VA_ARGS__)); }
BARRIER(shmem_barrier_all, (void), WORLD, 1, )
BARRIER(shmem_sync_all, (void), WORLD, 0, )
BARRIER(shmem_barrier, (SHMEM_SET_PARAMETERS_, long *pSync), SET(SET_ARGUMENTS), 1, SET_ARGUMENTS, pSync)
BARRIER(shmem_sync, (SHMEM_SET_PARAMETERS_, long *pSync), SET(SET_ARGUMENTS), 0, SET_ARGUMENTS, pSync)
CALL_OF(shmem_team_sync, (shmem_team_t team),
        ON_BARRIER("shmem_team_sync", TEAM(team), 0, result, result = pshmem_team_sync(team)))

#define ALLOCATE(CALL, PARAMETERS, SIZE, ...)                                                                          \
    void *CALL PARAMETERS {                                                                                            \
        void *result;                                                                                                  \
        ON_ALLOCATE(#CALL, SIZE, result = p##CALL(__VA_ARGS__));                                                       \
        return result;                                                                                                 \
    }
#define REALLOCATE(CALL)                                                                                               \
    void *CALL(void *ptr, size_t size) {                                                                               \
        void *result;                                                                                                  \
        ON_REALLOCATE(#CALL, ptr, size, result = p##CALL(ptr, size));                                                  \
        return result;                                                                                                 \
    }
ALLOCATE(shmem_malloc, (size_t size), size, size)
ALLOCATE(shmem_calloc, (size_t count, size_t size), count *size, count, size)
ALLOCATE(shmem_align, (size_t alignment, size_t size), size, alignment, size)
ALLOCATE(shmem_malloc_with_hints, (size_t size, long hints), size, size, hints)
ALLOCATE(shmalloc, (size_t size), size, size)
ALLOCATE(shmemalign, (size_t alignment, size_t size), size, alignment, size)
REALLOCATE(shmem_realloc)
REALLOCATE(shrealloc)
void shmem_free(void *ptr) { ON_FREE("shmem_free", ptr, 0, pshmem_free(ptr)); }
void shfree(void *ptr) { ON_FREE("shfree", ptr, 0, pshfree(ptr)); }

/* ---- teams, contexts, order, locks ---- */

CALL_OF(shmem_team_split_strided,
        (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config, long config_mask,
         shmem_team_t *new_team),
        ON_SPLIT("shmem_team_split_strided", parent_team, OK, new_team, new_team,
                 result = pshmem_team_split_strided(parent_team, start, stride, size, config, config_mask, new_team)))
CALL_OF(shmem_team_split_2d,
        (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
         shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team),
        ON_SPLIT("shmem_team_split_2d", parent_team, OK, xaxis_team, yaxis_team,
                 result = pshmem_team_split_2d(parent_team, xrange, xaxis_config, xaxis_mask, xaxis_team, yaxis_config,
                                               yaxis_mask, yaxis_team)))
void shmem_team_destroy(shmem_team_t team) { ON_TEAM_DESTROY(team, pshmem_team_destroy(team)); }
CALL_OF(shmem_ctx_create, (long options, shmem_ctx_t *ctx),
        ON_CTX_CREATE(OK &&ctx, ctx, result = pshmem_ctx_create(options, ctx)))
CALL_OF(shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx),
        ON_TEAM_CREATE_CTX(team, OK &&ctx, ctx, result = pshmem_team_create_ctx(team, options, ctx)))
void shmem_ctx_destroy(shmem_ctx_t ctx) { ON_CTX_DESTROY(ctx, pshmem_ctx_destroy(ctx)); }

void shmem_pe_quiet(const int *target_pes, size_t npes) {
    ON_PE_QUIET("shmem_pe_quiet", RMA_CTX_DEFAULT, target_pes, npes, pshmem_pe_quiet(target_pes, npes));
}
void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes) {
    ON_PE_QUIET("shmem_ctx_pe_quiet", CTX_OF_CTX, target_pes, npes, pshmem_ctx_pe_quiet(ctx, target_pes, npes));
}

void shmem_set_lock(long *lock) { ON_SET_LOCK("shmem_set_lock", lock, 1, pshmem_set_lock(lock)); }
void shmem_clear_lock(long *lock) { ON_CLEAR_LOCK("shmem_clear_lock", lock, pshmem_clear_lock(lock)); }
CALL_OF(shmem_test_lock, (long *lock), ON_TEST_LOCK("shmem_test_lock", lock, OK, result = pshmem_test_lock(lock)))

/* ---- collectives of teams ---- */

#define COLLECTIVE(SHAPE, CALL, TYPE, SIZE)                                                                            \
    CALL_OF(CALL, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t n),                                      \
            ON_COLLECTIVE(SHAPE, #CALL, TEAM(team), -1, n *SIZE, result, result = p##CALL(team, dest, source, n)))
#define MOVES(BROADCAST_, COLLECT_, FCOLLECT_, ALLTOALL_, ALLTOALLS_, TYPE, SIZE)                                      \
    CALL_OF(BROADCAST_, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t n, int root),                      \
            ON_COLLECTIVE(BROADCAST, #BROADCAST_, TEAM(team), root, n *SIZE, result,                                   \
                          result = p##BROADCAST_(team, dest, source, n, root)))                                        \
    COLLECTIVE(COLLECT, COLLECT_, TYPE, SIZE)                                                                          \
    COLLECTIVE(FCOLLECT, FCOLLECT_, TYPE, SIZE)                                                                        \
    COLLECTIVE(ALLTOALL, ALLTOALL_, TYPE, SIZE)                                                                        \
    CALL_OF(ALLTOALLS_, (shmem_team_t team, TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t n),  \
            ON_ALLTOALLS(#ALLTOALLS_, TEAM(team), dest, source, dst, sst, SIZE, n, result,                             \
                         result = p##ALLTOALLS_(team, dest, source, dst, sst, n)))
#define TYPED(A, NAME, TYPE, RNAME)                                                                                    \
    MOVES(shmem_##NAME##_broadcast, shmem_##NAME##_collect, shmem_##NAME##_fcollect, shmem_##NAME##_alltoall,          \
          shmem_##NAME##_alltoalls, TYPE, sizeof(TYPE))
SHMEM_TYPES_(TYPED, )
MOVES(shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem, shmem_alltoallsmem, void, 1)

#define REDUCES(CALL, TYPE) COLLECTIVE(REDUCE, CALL, TYPE, sizeof(TYPE))
#define SCANS(CALL, TYPE)   COLLECTIVE(SCAN, CALL, TYPE, sizeof(TYPE))
#define BIT_REDUCES(A, NAME, TYPE, RNAME)                                                                              \
    REDUCES(shmem_##NAME##_and_reduce, TYPE)                                                                           \
    REDUCES(shmem_##NAME##_or_reduce, TYPE)                                                                            \
    REDUCES(shmem_##NAME##_xor_reduce, TYPE)
#define LIMIT_REDUCES(A, NAME, TYPE, RNAME)                                                                            \
    REDUCES(shmem_##NAME##_max_reduce, TYPE)                                                                           \
    REDUCES(shmem_##NAME##_min_reduce, TYPE)
#define SUM_REDUCES(A, NAME, TYPE, RNAME)                                                                              \
    REDUCES(shmem_##NAME##_sum_reduce, TYPE)                                                                           \
    REDUCES(shmem_##NAME##_prod_reduce, TYPE)                                                                          \
    SCANS(shmem_##NAME##_sum_inscan, TYPE)                                                                             \
    SCANS(shmem_##NAME##_sum_exscan, TYPE)                                                                             \
    SCANS(shmemx_##NAME##_sum_inscan, TYPE)                                                                            \
    SCANS(shmemx_##NAME##_sum_exscan, TYPE)
SHMEM_BIT_TYPES_(BIT_REDUCES, )
SHMEM_TYPES_(LIMIT_REDUCES, )
SHMEM_SUM_TYPES_(SUM_REDUCES, )

/* ---- collectives of active sets ---- */

#define SET_COLLECTIVE(SHAPE, CALL, PARAMETERS, ROOT, BYTES, ...)                                                      \
    void CALL PARAMETERS { ON_COLLECTIVE(SHAPE, #CALL, SET(SET_ARGUMENTS), ROOT, BYTES, 0, p##CALL(__VA_ARGS__)); }
#define SET_MOVE(SHAPE, CALL, BITS)                                                                                    \
    SET_COLLECTIVE(SHAPE, CALL##BITS, (void *dest, const void *source, size_t n, SHMEM_SET_PARAMETERS_, long *pSync),  \
                   -1, n *(BITS / 8), dest, source, n, SET_ARGUMENTS, pSync)
#define SET_MOVES(BITS)                                                                                                \
    SET_COLLECTIVE(SET_BROADCAST, shmem_broadcast##BITS,                                                               \
                   (void *dest, const void *source, size_t n, int root, SHMEM_SET_PARAMETERS_, long *pSync), root,     \
                   n *(BITS / 8), dest, source, n, root, SET_ARGUMENTS, pSync)                                         \
    SET_MOVE(COLLECT, shmem_collect, BITS)                                                                             \
    SET_MOVE(FCOLLECT, shmem_fcollect, BITS)                                                                           \
    SET_MOVE(ALLTOALL, shmem_alltoall, BITS)                                                                           \
    void shmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t n,                 \
                               SHMEM_SET_PARAMETERS_, long *pSync) {                                                   \
        ON_ALLTOALLS("shmem_alltoalls" #BITS, SET(SET_ARGUMENTS), dest, source, dst, sst, BITS / 8, n, 0,              \
                     pshmem_alltoalls##BITS(dest, source, dst, sst, n, SET_ARGUMENTS, pSync));                         \
    }
SET_MOVES(32)
SET_MOVES(64)

#define TO_ALL(CALL, TYPE)                                                                                             \
    SET_COLLECTIVE(REDUCE, CALL,                                                                                       \
                   (TYPE * dest, const TYPE *source, int n, SHMEM_SET_PARAMETERS_, TYPE *pWrk, long *pSync), -1,       \
                   (size_t)n * sizeof(TYPE), dest, source, n, SET_ARGUMENTS, pWrk, pSync)
#define BIT_TO_ALL(A, NAME, TYPE, RNAME)                                                                               \
    TO_ALL(shmem_##NAME##_and_to_all, TYPE)                                                                            \
    TO_ALL(shmem_##NAME##_or_to_all, TYPE)                                                                             \
    TO_ALL(shmem_##NAME##_xor_to_all, TYPE)
#define LIMIT_TO_ALL(A, NAME, TYPE, RNAME)                                                                             \
    TO_ALL(shmem_##NAME##_max_to_all, TYPE)                                                                            \
    TO_ALL(shmem_##NAME##_min_to_all, TYPE)
#define SUM_TO_ALL(A, NAME, TYPE, RNAME)                                                                               \
    TO_ALL(shmem_##NAME##_sum_to_all, TYPE)                                                                            \
    TO_ALL(shmem_##NAME##_prod_to_all, TYPE)
SHMEM_TO_ALL_BIT_TYPES_(BIT_TO_ALL, )
SHMEM_TO_ALL_TYPES_(LIMIT_TO_ALL, )
SHMEM_TO_ALL_SUM_TYPES_(SUM_TO_ALL, )
