/* SPDX-License-Identifier: BSD-3-Clause */
/* The native functions, for a tool that takes them from the program (instruments/call_lists/README.md). The functions
 * by type are expanded from rma_typed.h, with the tool's functions (wrappers.h) instead of librma's. The others are
 * here. Those that the header has inlined have other names in C; the linker sees the right names. */
#include "config.h"

#define RMA_NO_TYPED_
#include "rma.h"

#include <string.h>

#define CALLS_NATIVE 1
#include CALLS_TOOL
#include "instruments/call_lists/wrappers.h"
#undef RMA_NO_TYPED_

/* ---- by type ---- */

#undef RMA_INLINE_
#define RMA_INLINE_ /* functions, not inlined */
#include "rma_typed.h"

/* ---- inlined in the header ---- */

#define PRMA(CALL) extern __typeof__(CALL) p##CALL
#define DEFINE(RESULT, CALL, PARAMETERS)                                                                               \
    RESULT tool_##CALL PARAMETERS __asm__(#CALL) __attribute__((visibility("default")));                               \
    RESULT tool_##CALL PARAMETERS

/* The context of a call that exists in both forms, and the argument for it. */
#define CTX_OF_SYM RMA_CTX_DEFAULT
#define CTX_OF_CTX ctx
#define ARG_SYM
#define ARG_CTX ctx,

#define MOVE(F, CALL, AS)                                                                                              \
    DEFINE(int, CALL, (RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe)) {                           \
        return AS(#CALL, RMA_##F##_OF_, dest, source, len, pe);                                                        \
    }
#define PUT_SIGNAL(F, CALL, NBI)                                                                                       \
    DEFINE(int, CALL,                                                                                                  \
           (RMA_##F##_CTX_ void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op,       \
            int pe)) {                                                                                                 \
        return rma_put_signal_as_(#CALL, RMA_##F##_OF_, dest, source, len, signal, value, op, pe, NBI);                \
    }
#define SIGNAL(F, CALL, OP)                                                                                            \
    DEFINE(int, CALL, (RMA_##F##_CTX_ uint64_t * signal, uint64_t value, int pe)) {                                    \
        return rma_signal_as_(#CALL, RMA_##F##_OF_, signal, value, OP, pe);                                            \
    }
#define BOTH(F, STEM)                                                                                                  \
    MOVE(F, STEM##put, rma_put_as_)                                                                                    \
    MOVE(F, STEM##get, rma_get_as_)                                                                                    \
    MOVE(F, STEM##put_nbi, rma_put_nbi_as_)                                                                            \
    MOVE(F, STEM##get_nbi, rma_get_nbi_as_)                                                                            \
    PUT_SIGNAL(F, STEM##put_signal, 0)                                                                                 \
    PUT_SIGNAL(F, STEM##put_signal_nbi, 1)                                                                             \
    SIGNAL(F, STEM##signal_set, RMA_SIGNAL_SET)                                                                        \
    SIGNAL(F, STEM##signal_add, RMA_SIGNAL_ADD)
BOTH(SYM, rma_)
BOTH(CTX, rma_ctx_)

DEFINE(int, rma_fence, (void)) { return rma_order_("rma_fence"); }
DEFINE(int, rma_quiet, (void)) { return rma_order_("rma_quiet"); }
DEFINE(int, rma_ctx_fence, (rma_ctx * ctx)) { return rma_ctx_order_("rma_ctx_fence", ctx); }
DEFINE(int, rma_ctx_quiet, (rma_ctx * ctx)) { return rma_ctx_order_("rma_ctx_quiet", ctx); }
DEFINE(uint64_t, rma_signal_fetch, (const uint64_t *signal)) { return rma_signal_fetch(signal); }
DEFINE(uint64_t, rma_signal_wait_until, (uint64_t * signal, int cmp, uint64_t value)) {
    uint64_t seen = 0;
    rma_wait_slow_("rma_signal_wait_until", RMA_WORD_(uint64_t), signal, cmp, &value, &seen);
    return seen;
}

#define LOCK(CALL, ...)                                                                                                \
    PRMA(CALL);                                                                                                        \
    DEFINE(int, CALL, (rma_lock_t * lock)) {                                                                           \
        int result;                                                                                                    \
        __VA_ARGS__;                                                                                                   \
        return result;                                                                                                 \
    }
LOCK(rma_set_lock, ON_SET_LOCK("rma_set_lock", lock, result == RMA_SUCCESS, result = prma_set_lock(lock)))
LOCK(rma_test_lock, ON_TEST_LOCK("rma_test_lock", lock, result == 1, result = prma_test_lock(lock)))
LOCK(rma_clear_lock, ON_CLEAR_LOCK("rma_clear_lock", lock, result = prma_clear_lock(lock)))

#define BY_GPTR(F, STEM)                                                                                               \
    PRMA(STEM##put);                                                                                                   \
    PRMA(STEM##get);                                                                                                   \
    DEFINE(int, STEM##put, (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len)) {                         \
        int result;                                                                                                    \
        ON_PUT(#STEM "put", CTX_OF_##F, AT_GPTR(dest), source, len, 0,                                                 \
               result = p##STEM##put(ARG_##F dest, source, len));                                                      \
        return result;                                                                                                 \
    }                                                                                                                  \
    DEFINE(int, STEM##get, (RMA_##F##_CTX_ void *dest, rma_gptr_t source, size_t len)) {                               \
        int result;                                                                                                    \
        ON_GET(#STEM "get", CTX_OF_##F, dest, AT_GPTR(source), len, 0,                                                 \
               result = p##STEM##get(ARG_##F dest, source, len));                                                      \
        return result;                                                                                                 \
    }                                                                                                                  \
    DEFINE(int, STEM##put_nbi, (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len)) {                     \
        return rma_gptr_put_nbi_as_(#STEM "put_nbi", RMA_##F##_OF_, dest, source, len);                                \
    }                                                                                                                  \
    DEFINE(int, STEM##get_nbi, (RMA_##F##_CTX_ void *dest, rma_gptr_t source, size_t len)) {                           \
        return rma_gptr_get_nbi_as_(#STEM "get_nbi", RMA_##F##_OF_, dest, source, len);                                \
    }                                                                                                                  \
    GPTR_SIGNAL(F, STEM##put_signal, 0)                                                                                \
    GPTR_SIGNAL(F, STEM##put_signal_nbi, 1)
#define GPTR_SIGNAL(F, CALL, NBI)                                                                                      \
    DEFINE(                                                                                                            \
        int, CALL,                                                                                                     \
        (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len, rma_gptr_t signal, uint64_t value, int op)) { \
        return rma_gptr_put_signal_as_(#CALL, RMA_##F##_OF_, dest, source, len, signal, value, op, NBI);               \
    }
BY_GPTR(SYM, rma_gptr_)
BY_GPTR(CTX, rma_ctx_gptr_)

/* ---- the library's own functions from here on ---- */

#define CALL_OF(CALL, PARAMETERS, ...)                                                                                 \
    PRMA(CALL);                                                                                                        \
    int CALL PARAMETERS {                                                                                              \
        int result;                                                                                                    \
        __VA_ARGS__;                                                                                                   \
        return result;                                                                                                 \
    }
#define OK result == RMA_SUCCESS

/* ---- strided ---- */

#define STRIDES ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n
#define STRIDED(F, STEM)                                                                                               \
    CALL_OF(STEM##iput, (RMA_##F##_CTX_ void *dest, const void *source, STRIDES, int pe),                              \
            ON_STRIDED(#STEM "iput", CTX_OF_##F, AT(CTX_OF_##F, dest, pe), source, dst, sst, elem, n, 0, OK,           \
                       result = p##STEM##iput(ARG_##F dest, source, dst, sst, elem, n, pe)))                           \
    CALL_OF(STEM##iget, (RMA_##F##_CTX_ void *dest, const void *source, STRIDES, int pe),                              \
            ON_STRIDED(#STEM "iget", CTX_OF_##F, AT(CTX_OF_##F, source, pe), dest, sst, dst, elem, n, 1, OK,           \
                       result = p##STEM##iget(ARG_##F dest, source, dst, sst, elem, n, pe)))                           \
    CALL_OF(                                                                                                           \
        STEM##iput_signal,                                                                                             \
        (RMA_##F##_CTX_ void *dest, const void *source, STRIDES, uint64_t *signal, uint64_t value, int op, int pe),    \
        ON_STRIDED_SIGNAL(                                                                                             \
            #STEM "iput_signal", CTX_OF_##F, AT(CTX_OF_##F, dest, pe), source, dst, sst, elem, n, signal, op, pe,      \
            result = p##STEM##iput_signal(ARG_##F dest, source, dst, sst, elem, n, signal, value, op, pe)))
STRIDED(SYM, rma_)
STRIDED(CTX, rma_ctx_)

#define STRIDED_BY_GPTR(F, STEM)                                                                                       \
    CALL_OF(STEM##iput, (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, STRIDES),                                 \
            ON_STRIDED(#STEM "iput", CTX_OF_##F, AT_GPTR(dest), source, dst, sst, elem, n, 0, OK,                      \
                       result = p##STEM##iput(ARG_##F dest, source, dst, sst, elem, n)))                               \
    CALL_OF(STEM##iget, (RMA_##F##_CTX_ void *dest, rma_gptr_t source, STRIDES),                                       \
            ON_STRIDED(#STEM "iget", CTX_OF_##F, AT_GPTR(source), dest, sst, dst, elem, n, 1, OK,                      \
                       result = p##STEM##iget(ARG_##F dest, source, dst, sst, elem, n)))                               \
    CALL_OF(STEM##iput_signal,                                                                                         \
            (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, STRIDES, rma_gptr_t signal, uint64_t value, int op),  \
            ON_GPTR_STRIDED_SIGNAL(                                                                                    \
                #STEM "iput_signal", CTX_OF_##F, AT_GPTR(dest), source, dst, sst, elem, n, signal,                     \
                result = p##STEM##iput_signal(ARG_##F dest, source, dst, sst, elem, n, signal, value, op)))
STRIDED_BY_GPTR(SYM, rma_gptr_)
STRIDED_BY_GPTR(CTX, rma_ctx_gptr_)

/* ---- life cycle ---- */

CALL_OF(rma_init, (void), ON_INIT(OK, result = prma_init()))
CALL_OF(rma_init_thread, (int required, int *provided), ON_INIT(OK, result = prma_init_thread(required, provided)))
CALL_OF(rma_finalize, (void), ON_FINALIZE(result = prma_finalize()))

/* ---- barriers and memory ---- */

#define BARRIER(CALL, PARAMETERS, GROUP, QUIET, ...)                                                                   \
    CALL_OF(CALL, PARAMETERS, ON_BARRIER(#CALL, GROUP, QUIET, result, result = p##CALL(__VA_ARGS__)))
BARRIER(rma_barrier_all, (void), WORLD, 1, )
BARRIER(rma_sync_all, (void), WORLD, 0, )
BARRIER(rma_team_sync, (rma_team * team), TEAM(team), 0, team)
BARRIER(rma_team_barrier, (rma_team * team), TEAM(team), 1, team)
BARRIER(rma_unexpose, (rma_exposure * e), WORLD, 1, e)

#define ALLOCATE(CALL, PARAMETERS, SIZE, ...)                                                                          \
    PRMA(CALL);                                                                                                        \
    void *CALL PARAMETERS {                                                                                            \
        void *result;                                                                                                  \
        ON_ALLOCATE(#CALL, SIZE, result = p##CALL(__VA_ARGS__));                                                       \
        return result;                                                                                                 \
    }
ALLOCATE(rma_malloc, (size_t size), size, size)
ALLOCATE(rma_calloc, (size_t count, size_t size), count *size, count, size)
ALLOCATE(rma_aligned_alloc, (size_t alignment, size_t size), size, alignment, size)

PRMA(rma_realloc);
void *rma_realloc(void *block, size_t size) {
    void *result;
    ON_REALLOCATE("rma_realloc", block, size, result = prma_realloc(block, size));
    return result;
}
CALL_OF(rma_free, (void *block), ON_FREE("rma_free", block, result, result = prma_free(block)))

PRMA(rma_exposed_at);
CALL_OF(rma_alloc_mem, (size_t size, void *base),
        ON_ALLOC_MEM("rma_alloc_mem", base, size, result = prma_alloc_mem(size, base)))
CALL_OF(rma_alloc_mem_hints, (size_t size, struct rma_hints *hints, void *base),
        ON_ALLOC_MEM("rma_alloc_mem_hints", base, size, result = prma_alloc_mem_hints(size, hints, base)))
CALL_OF(rma_alloc_mem_on, (int pe, size_t size, rma_gptr_t *g),
        ON_ALLOC_MEM_ON("rma_alloc_mem_on", pe, g, size, result = prma_alloc_mem_on(pe, size, g)))
CALL_OF(rma_free_mem, (void *base), ON_FREE_MEM("rma_free_mem", base, result = prma_free_mem(base)))
CALL_OF(rma_gptr_free, (rma_gptr_t g), ON_GPTR_FREE("rma_gptr_free", g, result = prma_gptr_free(g)))
CALL_OF(rma_attach, (void *base, size_t size, rma_gptr_t *g),
        ON_ATTACH("rma_attach", base, size, g, result = prma_attach(base, size, g)))
CALL_OF(rma_detach, (void *base), ON_DETACH("rma_detach", base, result = prma_detach(base)))
CALL_OF(rma_expose, (void *base, size_t size, size_t unit, rma_exposure **e),
        ON_EXPOSE("rma_expose", base, size, e, result = prma_expose(base, size, unit, e)))

/* ---- teams and contexts ---- */

CALL_OF(rma_team_split_strided, (rma_team * parent, int start, int stride, int size, rma_team **team),
        ON_SPLIT("rma_team_split_strided", parent, OK, team, team,
                 result = prma_team_split_strided(parent, start, stride, size, team)))
CALL_OF(rma_team_split_2d, (rma_team * parent, int xrange, rma_team **xteam, rma_team **yteam),
        ON_SPLIT("rma_team_split_2d", parent, OK, xteam, yteam,
                 result = prma_team_split_2d(parent, xrange, xteam, yteam)))
CALL_OF(rma_team_split_color, (rma_team * parent, int color, int key, rma_team **team),
        ON_SPLIT("rma_team_split_color", parent, OK, team, team,
                 result = prma_team_split_color(parent, color, key, team)))
CALL_OF(rma_team_destroy, (rma_team * team), ON_TEAM_DESTROY(team, result = prma_team_destroy(team)))
CALL_OF(rma_ctx_create, (int options, rma_ctx **ctx), ON_CTX_CREATE(OK, ctx, result = prma_ctx_create(options, ctx)))
CALL_OF(rma_team_create_ctx, (rma_team * team, int options, rma_ctx **ctx),
        ON_TEAM_CREATE_CTX(team, OK, ctx, result = prma_team_create_ctx(team, options, ctx)))
CALL_OF(rma_ctx_destroy, (rma_ctx * ctx), ON_CTX_DESTROY(ctx, result = prma_ctx_destroy(ctx)))

CALL_OF(rma_test_quiet, (void), ON_TEST_QUIET("rma_test_quiet", RMA_CTX_DEFAULT, result = prma_test_quiet()))
CALL_OF(rma_ctx_test_quiet, (rma_ctx * ctx),
        ON_TEST_QUIET("rma_ctx_test_quiet", ctx, result = prma_ctx_test_quiet(ctx)))
#define SOME(F, CALL, ON)                                                                                              \
    CALL_OF(CALL, (RMA_##F##_CTX_ const int *pes, size_t n),                                                           \
            ON(#CALL, CTX_OF_##F, pes, n, result = p##CALL(ARG_##F pes, n)))
SOME(SYM, rma_pe_quiet, ON_PE_QUIET)
SOME(CTX, rma_ctx_pe_quiet, ON_PE_QUIET)
SOME(SYM, rma_pe_fence, ON_PE_FENCE)
SOME(CTX, rma_ctx_pe_fence, ON_PE_FENCE)

/* ---- collectives ---- */

#define COLLECTIVE(SHAPE, CALL, TYPE, SIZE)                                                                            \
    CALL_OF(CALL, (rma_team * team, TYPE * dest, const TYPE *source, size_t n),                                        \
            ON_COLLECTIVE(SHAPE, #CALL, TEAM(team), -1, n *SIZE, result, result = p##CALL(team, dest, source, n)))
#define ROOTED(SHAPE, CALL, TYPE, SIZE)                                                                                \
    CALL_OF(                                                                                                           \
        CALL, (rma_team * team, TYPE * dest, const TYPE *source, size_t n, int root),                                  \
        ON_COLLECTIVE(SHAPE, #CALL, TEAM(team), root, n *SIZE, result, result = p##CALL(team, dest, source, n, root)))
ROOTED(BROADCAST, rma_broadcast, void, 1)
COLLECTIVE(COLLECT, rma_collect, void, 1)
COLLECTIVE(FCOLLECT, rma_fcollect, void, 1)
COLLECTIVE(ALLTOALL, rma_alltoall, void, 1)
ROOTED(GATHER, rma_gather, void, 1)
ROOTED(SCATTER, rma_scatter, void, 1)
CALL_OF(rma_alltoalls, (rma_team * team, void *dest, const void *source, STRIDES),
        ON_ALLTOALLS("rma_alltoalls", TEAM(team), dest, source, dst, sst, elem, n, result,
                     result = prma_alltoalls(team, dest, source, dst, sst, elem, n)))

#define REDUCE(CALL, NAME, TYPE)                                                                                       \
    COLLECTIVE(REDUCE, CALL##_##NAME, TYPE, sizeof(TYPE))                                                              \
    ROOTED(ROOT_REDUCE, CALL##_root_##NAME, TYPE, sizeof(TYPE))
#define SCAN(CALL, NAME, TYPE) COLLECTIVE(SCAN, CALL##_##NAME, TYPE, sizeof(TYPE))
#define BITS(NAME, TYPE)                                                                                               \
    REDUCE(rma_and_reduce, NAME, TYPE)                                                                                 \
    REDUCE(rma_or_reduce, NAME, TYPE)                                                                                  \
    REDUCE(rma_xor_reduce, NAME, TYPE)
#define LIMIT(NAME, TYPE)                                                                                              \
    REDUCE(rma_min_reduce, NAME, TYPE)                                                                                 \
    REDUCE(rma_max_reduce, NAME, TYPE)                                                                                 \
    SCAN(rma_min_inscan, NAME, TYPE)                                                                                   \
    SCAN(rma_min_exscan, NAME, TYPE)                                                                                   \
    SCAN(rma_max_inscan, NAME, TYPE)                                                                                   \
    SCAN(rma_max_exscan, NAME, TYPE)
#define SUM(NAME, TYPE)                                                                                                \
    REDUCE(rma_sum_reduce, NAME, TYPE)                                                                                 \
    REDUCE(rma_prod_reduce, NAME, TYPE)                                                                                \
    SCAN(rma_sum_inscan, NAME, TYPE)                                                                                   \
    SCAN(rma_sum_exscan, NAME, TYPE)
RMA_INTEGER_TYPES(BITS)
RMA_TYPE_ALIASES(BITS)
RMA_TYPES(LIMIT)
RMA_TYPE_ALIASES(LIMIT)
RMA_TYPES(SUM)
RMA_TYPE_ALIASES(SUM)
RMA_COMPLEX_TYPES(SUM)
