/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of OpenSHMEM that programs compiled with SHMEM_PROFILE call instead of inlined code. Functions with
 * bodies in the table (include/shmem_table.h) are expanded from it, with the tracing functions (as.h) instead of
 * librma's; the others forward to their second names. */
#include "config.h"

#define RMA_NO_TYPED_
#include "rma.h"
#undef RMA_NO_TYPED_
#define SHMEM_PROFILE
#define SHMEM_NO_GENERIC_
#include "pshmem.h"

#include <string.h>

#include "trace/as.h"

#define DEFINE(RESULT, CALL, PARAMETERS, ...) RESULT CALL PARAMETERS __VA_ARGS__

SHMEM_MOVE_CALLS_(DEFINE)
SHMEMX_SIGNAL_CALLS_(DEFINE)
SHMEM_ATOMIC_CALLS_(DEFINE)
SHMEM_WAIT_CALLS_(DEFINE)
SHMEM_ORDER_CALLS_(DEFINE)

/* ---- strided and blocked ---- */

#define CTX_NUMBER_SYM 0
#define CTX_NUMBER_CTX trace_context(ctx, 1)
#define STRIDED(F, CALL, TYPE, SIZE, KIND, FAR)                                                                        \
    void CALL(SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) {  \
        TRACE_CALL(KIND, #CALL, TRACE_PE_##F, nelems *(SIZE), trace_place(FAR), CTX_NUMBER_##F,                        \
                   p##CALL(TRACE_ARG_##F dest, source, dst, sst, nelems, pe));                                         \
    }
#define BLOCKED(F, CALL, TYPE, SIZE, KIND, FAR)                                                                        \
    void CALL(SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,             \
              size_t nblocks, int pe) {                                                                                \
        TRACE_CALL(KIND, #CALL, TRACE_PE_##F, bsize *nblocks *(SIZE), trace_place(FAR), CTX_NUMBER_##F,                \
                   p##CALL(TRACE_ARG_##F dest, source, dst, sst, bsize, nblocks, pe));                                 \
    }
#define STRIDES(X, F, STEM, TYPE, RNAME)                                                                               \
    STRIDED(F, STEM##_iput, TYPE, sizeof(TYPE), TRACE_PUT, dest)                                                       \
    STRIDED(F, STEM##_iget, TYPE, sizeof(TYPE), TRACE_GET, source)                                                     \
    BLOCKED(F, STEM##_ibput, TYPE, sizeof(TYPE), TRACE_PUT, dest)                                                      \
    BLOCKED(F, STEM##_ibget, TYPE, sizeof(TYPE), TRACE_GET, source)
#define SIZED_STRIDES(X, F, STEM, BITS, SIZE)                                                                          \
    STRIDED(F, STEM##iput##BITS, void, SIZE, TRACE_PUT, dest)                                                          \
    STRIDED(F, STEM##iget##BITS, void, SIZE, TRACE_GET, source)                                                        \
    BLOCKED(F, STEM##ibput##BITS, void, SIZE, TRACE_PUT, dest)                                                         \
    BLOCKED(F, STEM##ibget##BITS, void, SIZE, TRACE_GET, source)
#define TYPED_STRIDES(X, NAME, TYPE, RNAME) SHMEM_BOTH_(STRIDES, X, NAME, TYPE, RNAME)
SHMEM_TYPES_(TYPED_STRIDES, )
SHMEM_EACH_SIZE_(SIZED_STRIDES, , SYM, shmem_)
SHMEM_EACH_SIZE_(SIZED_STRIDES, , CTX, shmem_ctx_)

/* ---- barriers and memory ---- */

#define ALL(CALL, PARAMETERS, ...)                                                                                     \
    TRACE_MEETING_VOID(TRACE_COLLECTIVE, CALL, PARAMETERS, trace_world(), -1, 0, __VA_ARGS__)
ALL(shmem_barrier_all, (void), )
ALL(shmem_sync_all, (void), )
TRACE_MEETING_OF(int, TRACE_COLLECTIVE, shmem_team_sync, (shmem_team_t team), trace_team(team), -1, 0, team)

#define SET           trace_set(PE_start, logPE_stride, PE_size)
#define SET_ARGUMENTS PE_start, logPE_stride, PE_size
TRACE_MEETING_VOID(TRACE_COLLECTIVE, shmem_barrier, (SHMEM_SET_PARAMETERS_, long *pSync), SET, -1, 0, SET_ARGUMENTS,
                   pSync)
TRACE_MEETING_VOID(TRACE_COLLECTIVE, shmem_sync, (SHMEM_SET_PARAMETERS_, long *pSync), SET, -1, 0, SET_ARGUMENTS, pSync)

TRACE_ALLOCATES(shmem_malloc, (size_t size), size, size)
TRACE_ALLOCATES(shmem_calloc, (size_t count, size_t size), count *size, count, size)
TRACE_ALLOCATES(shmem_align, (size_t alignment, size_t size), size, alignment, size)
TRACE_ALLOCATES(shmem_malloc_with_hints, (size_t size, long hints), size, size, hints)
TRACE_ALLOCATES(shmalloc, (size_t size), size, size)
TRACE_ALLOCATES(shmemalign, (size_t alignment, size_t size), size, alignment, size)
TRACE_ALLOCATES(shmem_realloc, (void *ptr, size_t size), size, ptr, size)
TRACE_ALLOCATES(shrealloc, (void *ptr, size_t size), size, ptr, size)

#define FREES(CALL)                                                                                                    \
    void CALL(void *ptr) {                                                                                             \
        TRACE_MEET(TRACE_COLLECTIVE, #CALL, trace_world(), -1, 0, p##CALL(ptr));                                       \
        trace_heap_changed();                                                                                          \
    }
FREES(shmem_free)
FREES(shfree)

/* ---- teams, contexts, order, locks ---- */

TRACE_MEETING_OF(int, TRACE_COLLECTIVE, shmem_team_split_strided,
                 (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
                  long config_mask, shmem_team_t *new_team),
                 trace_team(parent_team), -1, 0, parent_team, start, stride, size, config, config_mask, new_team)
TRACE_MEETING_OF(int, TRACE_COLLECTIVE, shmem_team_split_2d,
                 (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                  shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                  shmem_team_t *yaxis_team),
                 trace_team(parent_team), -1, 0, parent_team, xrange, xaxis_config, xaxis_mask, xaxis_team,
                 yaxis_config, yaxis_mask, yaxis_team)

void shmem_team_destroy(shmem_team_t team) {
    trace_team_gone(team);
    pshmem_team_destroy(team);
}

int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx) {
    int code = pshmem_team_create_ctx(team, options, ctx);
    if (code == 0 && ctx) trace_context_made(*ctx, team);
    return code;
}

void shmem_pe_quiet(const int *target_pes, size_t npes) {
    TRACE_CALL(TRACE_QUIET, "shmem_pe_quiet", -1, 0, 0, 0, pshmem_pe_quiet(target_pes, npes));
}

void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes) {
    TRACE_CALL(TRACE_QUIET, "shmem_ctx_pe_quiet", -1, 0, 0, trace_context(ctx, 1),
               pshmem_ctx_pe_quiet(ctx, target_pes, npes));
}

void shmem_set_lock(long *lock) {
    TRACE_CALL(TRACE_LOCK, "shmem_set_lock", -1, 0, trace_place(lock), 0, pshmem_set_lock(lock));
}

int shmem_test_lock(long *lock) {
    int result;
    TRACE_CALL(TRACE_TEST, "shmem_test_lock", -1, 0, trace_place(lock), 0, result = pshmem_test_lock(lock));
    return result;
}

void shmem_clear_lock(long *lock) {
    TRACE_CALL(TRACE_UNLOCK, "shmem_clear_lock", -1, 0, trace_place(lock), 0, pshmem_clear_lock(lock));
}

/* ---- collectives of teams ---- */

#define TEAM_OF(KIND, CALL, PARAMETERS, ROOT, BYTES, ...)                                                              \
    TRACE_MEETING_OF(int, KIND, CALL, PARAMETERS, trace_team(team), ROOT, BYTES, __VA_ARGS__)
#define REDUCES(CALL, TYPE)                                                                                            \
    TEAM_OF(TRACE_COLLECTIVE, CALL, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t n), -1,                \
            n * sizeof(TYPE), team, dest, source, n)
#define MOVES(BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, TYPE, SIZE)                                           \
    TEAM_OF(TRACE_FROM_ROOT, BROADCAST, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t n, int root),      \
            root, n *(SIZE), team, dest, source, n, root)                                                              \
    TEAM_OF(TRACE_COLLECTIVE, COLLECT, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t n), -1, n *(SIZE),  \
            team, dest, source, n)                                                                                     \
    TEAM_OF(TRACE_COLLECTIVE, FCOLLECT, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t n), -1, n *(SIZE), \
            team, dest, source, n)                                                                                     \
    TEAM_OF(TRACE_COLLECTIVE, ALLTOALL, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t n), -1, n *(SIZE), \
            team, dest, source, n)                                                                                     \
    TEAM_OF(TRACE_COLLECTIVE, ALLTOALLS,                                                                               \
            (shmem_team_t team, TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t n), -1,          \
            n *(SIZE), team, dest, source, dst, sst, n)
#define TYPED(A, NAME, TYPE, RNAME)                                                                                    \
    MOVES(shmem_##NAME##_broadcast, shmem_##NAME##_collect, shmem_##NAME##_fcollect, shmem_##NAME##_alltoall,          \
          shmem_##NAME##_alltoalls, TYPE, sizeof(TYPE))
SHMEM_TYPES_(TYPED, )
MOVES(shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem, shmem_alltoallsmem, void, 1)

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
    REDUCES(shmem_##NAME##_sum_inscan, TYPE)                                                                           \
    REDUCES(shmem_##NAME##_sum_exscan, TYPE)
SHMEM_BIT_TYPES_(BIT_REDUCES, )
SHMEM_TYPES_(LIMIT_REDUCES, )
SHMEM_SUM_TYPES_(SUM_REDUCES, )

/* ---- collectives of active sets ---- */

#define SET_OF(KIND, CALL, PARAMETERS, ROOT, BYTES, ...)                                                               \
    TRACE_MEETING_VOID(KIND, CALL, PARAMETERS, SET, ROOT, BYTES, __VA_ARGS__)
#define SET_MOVE(CALL, BITS)                                                                                           \
    SET_OF(TRACE_COLLECTIVE, CALL##BITS,                                                                               \
           (void *dest, const void *source, size_t n, SHMEM_SET_PARAMETERS_, long *pSync), -1, n *(BITS / 8), dest,    \
           source, n, SET_ARGUMENTS, pSync)
#define SET_MOVES(BITS)                                                                                                \
    SET_OF(TRACE_FROM_ROOT, shmem_broadcast##BITS,                                                                     \
           (void *dest, const void *source, size_t n, int root, SHMEM_SET_PARAMETERS_, long *pSync), root,             \
           n *(BITS / 8), dest, source, n, root, SET_ARGUMENTS, pSync)                                                 \
    SET_MOVE(shmem_collect, BITS)                                                                                      \
    SET_MOVE(shmem_fcollect, BITS)                                                                                     \
    SET_MOVE(shmem_alltoall, BITS)                                                                                     \
    SET_OF(                                                                                                            \
        TRACE_COLLECTIVE, shmem_alltoalls##BITS,                                                                       \
        (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t n, SHMEM_SET_PARAMETERS_, long *pSync),  \
        -1, n *(BITS / 8), dest, source, dst, sst, n, SET_ARGUMENTS, pSync)
SET_MOVES(32)
SET_MOVES(64)

#define TO_ALL(CALL, TYPE)                                                                                             \
    SET_OF(TRACE_COLLECTIVE, CALL,                                                                                     \
           (TYPE * dest, const TYPE *source, int n, SHMEM_SET_PARAMETERS_, TYPE *pWrk, long *pSync), -1,               \
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
