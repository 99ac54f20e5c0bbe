/* SPDX-License-Identifier: BSD-3-Clause */
/* The native functions that programs compiled with RMA_PROFILE call instead of inlined code. The functions by type are
 * expanded from rma_typed.h, with the tracing functions (as.h) instead of librma's. The others are here. Their C names
 * differ, since the header has inlined functions of the right names; the linker sees the right names. */
#include "config.h"

#define RMA_NO_TYPED_
#include "rma.h"

#include <string.h>

#include "trace/as.h"
#include "trace/native.h"
#undef RMA_NO_TYPED_

/* ---- by type ---- */

#undef RMA_INLINE_
#define RMA_INLINE_ /* functions, not inlined */
#include "rma_typed.h"

/* ---- inlined in the header ---- */

#define DEFINE(RESULT, CALL, PARAMETERS)                                                                               \
    RESULT tool_##CALL PARAMETERS __asm__(#CALL) __attribute__((visibility("default")));                               \
    RESULT tool_##CALL PARAMETERS

#define MOVES(F, CALL, AS)                                                                                             \
    DEFINE(int, CALL, (RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe)) {                           \
        return AS(#CALL, RMA_##F##_OF_, dest, source, len, pe);                                                        \
    }
#define PUT_SIGNALS(F, CALL, NBI)                                                                                      \
    DEFINE(int, CALL,                                                                                                  \
           (RMA_##F##_CTX_ void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op,       \
            int pe)) {                                                                                                 \
        return rma_put_signal_as_(#CALL, RMA_##F##_OF_, dest, source, len, signal, value, op, pe, NBI);                \
    }
#define SIGNALS(F, CALL, OP)                                                                                           \
    DEFINE(int, CALL, (RMA_##F##_CTX_ uint64_t * signal, uint64_t value, int pe)) {                                    \
        return rma_signal_as_(#CALL, RMA_##F##_OF_, signal, value, OP, pe);                                            \
    }
#define BOTH(F, STEM)                                                                                                  \
    MOVES(F, STEM##put, rma_put_as_)                                                                                   \
    MOVES(F, STEM##get, rma_get_as_)                                                                                   \
    MOVES(F, STEM##put_nbi, rma_put_nbi_as_)                                                                           \
    MOVES(F, STEM##get_nbi, rma_get_nbi_as_)                                                                           \
    PUT_SIGNALS(F, STEM##put_signal, 0)                                                                                \
    PUT_SIGNALS(F, STEM##put_signal_nbi, 1)                                                                            \
    SIGNALS(F, STEM##signal_set, RMA_SIGNAL_SET)                                                                       \
    SIGNALS(F, STEM##signal_add, RMA_SIGNAL_ADD)
BOTH(SYM, rma_)
BOTH(CTX, rma_ctx_)

DEFINE(int, rma_fence, (void)) { return rma_order_("rma_fence"); }
DEFINE(int, rma_quiet, (void)) { return rma_order_("rma_quiet"); }
DEFINE(int, rma_ctx_fence, (rma_ctx * ctx)) { return rma_ctx_order_("rma_ctx_fence", ctx); }
DEFINE(int, rma_ctx_quiet, (rma_ctx * ctx)) { return rma_ctx_order_("rma_ctx_quiet", ctx); }
DEFINE(uint64_t, rma_signal_wait_until, (uint64_t * signal, int cmp, uint64_t value)) {
    uint64_t seen = 0;
    rma_wait_slow_("rma_signal_wait_until", RMA_WORD_(uint64_t), signal, cmp, &value, &seen);
    return seen;
}

#define LOCKS(CALL, KIND)                                                                                              \
    PRMA(CALL);                                                                                                        \
    DEFINE(int, CALL, (rma_lock_t * lock)) {                                                                           \
        int result;                                                                                                    \
        TRACE_CALL(KIND, #CALL, -1, 0, trace_place(lock), 0, result = p##CALL(lock));                                  \
        return result;                                                                                                 \
    }
LOCKS(rma_set_lock, TRACE_LOCK)
LOCKS(rma_test_lock, TRACE_TEST)
LOCKS(rma_clear_lock, TRACE_UNLOCK)

/* ---- by global pointer ---- */

#define CTX_NUMBER_SYM 0
#define CTX_NUMBER_CTX trace_context(ctx, 1)
#define GPTR_MOVE(F, CALL, KIND, DEST, SOURCE, FAR)                                                                    \
    PRMA(CALL);                                                                                                        \
    DEFINE(int, CALL, (RMA_##F##_CTX_ DEST dest, SOURCE source, size_t len)) {                                         \
        int result;                                                                                                    \
        TRACE_CALL(KIND, #CALL, TRACE_GPTR_PE(FAR), len, trace_gptr_place(FAR), CTX_NUMBER_##F,                        \
                   result = p##CALL(TRACE_ARG_##F dest, source, len));                                                 \
        return result;                                                                                                 \
    }
#define GPTR_SIGNAL(F, CALL, NBI)                                                                                      \
    DEFINE(                                                                                                            \
        int, CALL,                                                                                                     \
        (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len, rma_gptr_t signal, uint64_t value, int op)) { \
        return rma_gptr_put_signal_as_(#CALL, RMA_##F##_OF_, dest, source, len, signal, value, op, NBI);               \
    }
#define BY_GPTR(F, STEM)                                                                                               \
    GPTR_MOVE(F, STEM##put, TRACE_PUT, rma_gptr_t, const void *, dest)                                                 \
    GPTR_MOVE(F, STEM##get, TRACE_GET, void *, rma_gptr_t, source)                                                     \
    GPTR_MOVE(F, STEM##put_nbi, TRACE_PUT_NBI, rma_gptr_t, const void *, dest)                                         \
    GPTR_MOVE(F, STEM##get_nbi, TRACE_GET_NBI, void *, rma_gptr_t, source)                                             \
    GPTR_SIGNAL(F, STEM##put_signal, 0)                                                                                \
    GPTR_SIGNAL(F, STEM##put_signal_nbi, 1)
BY_GPTR(SYM, rma_gptr_)
BY_GPTR(CTX, rma_ctx_gptr_)

/* ---- strided ---- */

#define STRIDED_CALL(F, CALL, KIND, PARAMETERS, PE, PLACE, ...)                                                        \
    PRMA(CALL);                                                                                                        \
    int CALL PARAMETERS {                                                                                              \
        int result;                                                                                                    \
        TRACE_CALL(KIND, #CALL, PE, n *elem, PLACE, CTX_NUMBER_##F, result = p##CALL(TRACE_ARG_##F __VA_ARGS__));      \
        return result;                                                                                                 \
    }
#define STRIDES ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n
#define STRIDED(F, STEM)                                                                                               \
    STRIDED_CALL(F, STEM##iput, TRACE_PUT, (RMA_##F##_CTX_ void *dest, const void *source, STRIDES, int pe),           \
                 TRACE_PE_##F, trace_place(dest), dest, source, dst, sst, elem, n, pe)                                 \
    STRIDED_CALL(F, STEM##iget, TRACE_GET, (RMA_##F##_CTX_ void *dest, const void *source, STRIDES, int pe),           \
                 TRACE_PE_##F, trace_place(source), dest, source, dst, sst, elem, n, pe)                               \
    STRIDED_CALL(                                                                                                      \
        F, STEM##iput_signal, TRACE_PUT_SIGNAL,                                                                        \
        (RMA_##F##_CTX_ void *dest, const void *source, STRIDES, uint64_t *signal, uint64_t value, int op, int pe),    \
        TRACE_PE_##F, trace_place(signal), dest, source, dst, sst, elem, n, signal, value, op, pe)
STRIDED(SYM, rma_)
STRIDED(CTX, rma_ctx_)

#define STRIDED_BY_GPTR(F, STEM)                                                                                       \
    STRIDED_CALL(F, STEM##iput, TRACE_PUT, (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, STRIDES),              \
                 TRACE_GPTR_PE(dest), trace_gptr_place(dest), dest, source, dst, sst, elem, n)                         \
    STRIDED_CALL(F, STEM##iget, TRACE_GET, (RMA_##F##_CTX_ void *dest, rma_gptr_t source, STRIDES),                    \
                 TRACE_GPTR_PE(source), trace_gptr_place(source), dest, source, dst, sst, elem, n)                     \
    STRIDED_CALL(                                                                                                      \
        F, STEM##iput_signal, TRACE_PUT_SIGNAL,                                                                        \
        (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, STRIDES, rma_gptr_t signal, uint64_t value, int op),      \
        TRACE_GPTR_PE(dest), trace_gptr_place(signal), dest, source, dst, sst, elem, n, signal, value, op)
STRIDED_BY_GPTR(SYM, rma_gptr_)
STRIDED_BY_GPTR(CTX, rma_ctx_gptr_)

/* ---- life cycle ---- */

PRMA(rma_init);
PRMA(rma_init_thread);
PRMA(rma_finalize);
int rma_init(void) {
    int code = prma_init();
    if (code == RMA_SUCCESS) trace_open();
    return code;
}

int rma_init_thread(int required, int *provided) {
    int code = prma_init_thread(required, provided);
    if (code == RMA_SUCCESS) trace_open();
    return code;
}

int rma_finalize(void) {
    int code, last = trace_close();
    code = prma_finalize();
    if (last) trace_report();
    return code;
}

/* ---- barriers and memory ---- */

#define BARRIER(CALL, PARAMETERS, GROUP, ...)                                                                          \
    TRACE_MEETING_OF(int, TRACE_COLLECTIVE, CALL, PARAMETERS, GROUP, -1, 0, __VA_ARGS__)
BARRIER(rma_barrier_all, (void), trace_world(), )
BARRIER(rma_sync_all, (void), trace_world(), )
BARRIER(rma_team_sync, (rma_team * team), trace_team(team), team)
BARRIER(rma_team_barrier, (rma_team * team), trace_team(team), team)

TRACE_ALLOCATES(rma_malloc, (size_t size), size, size)
TRACE_ALLOCATES(rma_calloc, (size_t count, size_t size), count *size, count, size)
TRACE_ALLOCATES(rma_aligned_alloc, (size_t alignment, size_t size), size, alignment, size)
TRACE_ALLOCATES(rma_realloc, (void *block, size_t size), size, block, size)

int rma_free(void *block) {
    int result;
    TRACE_MEET(TRACE_COLLECTIVE, "rma_free", trace_world(), -1, 0, result = prma_free(block));
    trace_heap_changed();
    return result;
}

#define LOCAL_HEAP(CALL, PARAMETERS, PE, SIZE, ...)                                                                    \
    PRMA(CALL);                                                                                                        \
    int CALL PARAMETERS {                                                                                              \
        int result;                                                                                                    \
        TRACE_CALL(TRACE_MEMORY, #CALL, PE, SIZE, 0, 0, result = p##CALL(__VA_ARGS__));                                \
        trace_heap_changed();                                                                                          \
        return result;                                                                                                 \
    }
LOCAL_HEAP(rma_alloc_mem, (size_t size, void *base), -1, size, size, base)
LOCAL_HEAP(rma_alloc_mem_hints, (size_t size, struct rma_hints *hints, void *base), -1, size, size, hints, base)
LOCAL_HEAP(rma_alloc_mem_on, (int pe, size_t size, rma_gptr_t *g), pe, size, pe, size, g)
LOCAL_HEAP(rma_free_mem, (void *base), -1, 0, base)
LOCAL_HEAP(rma_gptr_free, (rma_gptr_t g), TRACE_GPTR_PE(g), 0, g)
LOCAL_HEAP(rma_attach, (void *base, size_t size, rma_gptr_t *g), -1, size, base, size, g)
LOCAL_HEAP(rma_detach, (void *base), -1, 0, base)

TRACE_MEETING_OF(int, TRACE_COLLECTIVE, rma_expose, (void *base, size_t size, size_t unit, rma_exposure **e),
                 trace_world(), -1, 0, base, size, unit, e)
BARRIER(rma_unexpose, (rma_exposure * e), trace_world(), e)

/* ---- teams and contexts ---- */

BARRIER(rma_team_split_strided, (rma_team * parent, int start, int stride, int size, rma_team **team),
        trace_team(parent), parent, start, stride, size, team)
BARRIER(rma_team_split_2d, (rma_team * parent, int xrange, rma_team **xteam, rma_team **yteam), trace_team(parent),
        parent, xrange, xteam, yteam)
BARRIER(rma_team_split_color, (rma_team * parent, int color, int key, rma_team **team), trace_team(parent), parent,
        color, key, team)

PRMA(rma_team_destroy);
int rma_team_destroy(rma_team *team) {
    trace_team_gone(team);
    return prma_team_destroy(team);
}

PRMA(rma_team_create_ctx);
int rma_team_create_ctx(rma_team *team, int options, rma_ctx **ctx) {
    int code = prma_team_create_ctx(team, options, ctx);
    if (code == RMA_SUCCESS) trace_context_made(*ctx, team);
    return code;
}

#define SOME(CALL, KIND)                                                                                               \
    PRMA(rma_##CALL);                                                                                                  \
    PRMA(rma_ctx_##CALL);                                                                                              \
    int rma_##CALL(const int *pes, size_t n) {                                                                         \
        int result;                                                                                                    \
        TRACE_CALL(KIND, "rma_" #CALL, -1, 0, 0, 0, result = prma_##CALL(pes, n));                                     \
        return result;                                                                                                 \
    }                                                                                                                  \
    int rma_ctx_##CALL(rma_ctx *ctx, const int *pes, size_t n) {                                                       \
        int result;                                                                                                    \
        TRACE_CALL(KIND, "rma_ctx_" #CALL, -1, 0, 0, trace_context(ctx, 1), result = prma_ctx_##CALL(ctx, pes, n));    \
        return result;                                                                                                 \
    }
SOME(pe_quiet, TRACE_QUIET)
SOME(pe_fence, TRACE_FENCE)

/* ---- collectives ---- */

#define TEAM_OF(KIND, CALL, PARAMETERS, ROOT, BYTES, ...)                                                              \
    TRACE_MEETING_OF(int, KIND, CALL, PARAMETERS, trace_team(team), ROOT, BYTES, __VA_ARGS__)
TEAM_OF(TRACE_FROM_ROOT, rma_broadcast, (rma_team * team, void *dest, const void *source, size_t len, int root), root,
        len, team, dest, source, len, root)
TEAM_OF(TRACE_COLLECTIVE, rma_collect, (rma_team * team, void *dest, const void *source, size_t len), -1, len, team,
        dest, source, len)
TEAM_OF(TRACE_COLLECTIVE, rma_fcollect, (rma_team * team, void *dest, const void *source, size_t len), -1, len, team,
        dest, source, len)
TEAM_OF(TRACE_COLLECTIVE, rma_alltoall, (rma_team * team, void *dest, const void *source, size_t len), -1, len, team,
        dest, source, len)
TEAM_OF(TRACE_COLLECTIVE, rma_alltoalls,
        (rma_team * team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n), -1,
        n *elem, team, dest, source, dst, sst, elem, n)
TEAM_OF(TRACE_TO_ROOT, rma_gather, (rma_team * team, void *dest, const void *source, size_t len, int root), root, len,
        team, dest, source, len, root)
TEAM_OF(TRACE_FROM_ROOT, rma_scatter, (rma_team * team, void *dest, const void *source, size_t len, int root), root,
        len, team, dest, source, len, root)

#define REDUCES(CALL, TYPE)                                                                                            \
    TEAM_OF(TRACE_COLLECTIVE, CALL, (rma_team * team, TYPE * dest, const TYPE *source, size_t n), -1,                  \
            n * sizeof(TYPE), team, dest, source, n)
#define REDUCES_BOTH(CALL, NAME, TYPE)                                                                                 \
    REDUCES(CALL##_##NAME, TYPE)                                                                                       \
    TEAM_OF(TRACE_TO_ROOT, CALL##_root_##NAME, (rma_team * team, TYPE * dest, const TYPE *source, size_t n, int root), \
            root, n * sizeof(TYPE), team, dest, source, n, root)
#define BITS(NAME, TYPE)                                                                                               \
    REDUCES_BOTH(rma_and_reduce, NAME, TYPE)                                                                           \
    REDUCES_BOTH(rma_or_reduce, NAME, TYPE)                                                                            \
    REDUCES_BOTH(rma_xor_reduce, NAME, TYPE)
#define LIMIT(NAME, TYPE)                                                                                              \
    REDUCES_BOTH(rma_min_reduce, NAME, TYPE)                                                                           \
    REDUCES_BOTH(rma_max_reduce, NAME, TYPE)                                                                           \
    REDUCES(rma_min_inscan_##NAME, TYPE)                                                                               \
    REDUCES(rma_min_exscan_##NAME, TYPE)                                                                               \
    REDUCES(rma_max_inscan_##NAME, TYPE)                                                                               \
    REDUCES(rma_max_exscan_##NAME, TYPE)
#define SUM(NAME, TYPE)                                                                                                \
    REDUCES_BOTH(rma_sum_reduce, NAME, TYPE)                                                                           \
    REDUCES_BOTH(rma_prod_reduce, NAME, TYPE)                                                                          \
    REDUCES(rma_sum_inscan_##NAME, TYPE)                                                                               \
    REDUCES(rma_sum_exscan_##NAME, TYPE)
RMA_INTEGER_TYPES(BITS)
RMA_TYPE_ALIASES(BITS)
RMA_TYPES(LIMIT)
RMA_TYPE_ALIASES(LIMIT)
RMA_TYPES(SUM)
RMA_TYPE_ALIASES(SUM)
RMA_COMPLEX_TYPES(SUM)
