/* SPDX-License-Identifier: BSD-3-Clause */
/* The native functions that programs compiled with RMA_PROFILE call instead of inlined code. The functions by type are
 * expanded from rma_typed.h, with the detector's functions (as.h) instead of librma's. The others are here. Their C
 * names differ, since the header has inlined functions of the right names; the linker sees the right names. */
#include "config.h"

#define RMA_NO_TYPED_
#include "rma.h"

#include <string.h>

#include "race/native.h"
#define RACE_BY_NATIVE 1
#include "race/as.h"
#include "race/job.h"
#undef RMA_NO_TYPED_

/* ---- by type ---- */

#undef RMA_INLINE_
#define RMA_INLINE_ /* functions, not inlined */
#include "rma_typed.h"

/* ---- inlined in the header ---- */

#define DEFINE(RESULT, CALL, PARAMETERS)                                                                               \
    RESULT tool_##CALL PARAMETERS __asm__(#CALL) __attribute__((visibility("default")));                               \
    RESULT tool_##CALL PARAMETERS

#define BOTH(F, STEM)                                                                                                  \
    DEFINE(int, STEM##put, (RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe)) {                      \
        return rma_put_as_(#STEM "put", RMA_##F##_OF_, dest, source, len, pe);                                         \
    }                                                                                                                  \
    DEFINE(int, STEM##get, (RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe)) {                      \
        return rma_get_as_(#STEM "get", RMA_##F##_OF_, dest, source, len, pe);                                         \
    }                                                                                                                  \
    DEFINE(int, STEM##put_nbi, (RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe)) {                  \
        return rma_put_nbi_as_(#STEM "put_nbi", RMA_##F##_OF_, dest, source, len, pe);                                 \
    }                                                                                                                  \
    DEFINE(int, STEM##get_nbi, (RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe)) {                  \
        return rma_get_nbi_as_(#STEM "get_nbi", RMA_##F##_OF_, dest, source, len, pe);                                 \
    }                                                                                                                  \
    DEFINE(int, STEM##put_signal,                                                                                      \
           (RMA_##F##_CTX_ void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op,       \
            int pe)) {                                                                                                 \
        return rma_put_signal_as_(#STEM "put_signal", RMA_##F##_OF_, dest, source, len, signal, value, op, pe, 0);     \
    }                                                                                                                  \
    DEFINE(int, STEM##put_signal_nbi,                                                                                  \
           (RMA_##F##_CTX_ void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op,       \
            int pe)) {                                                                                                 \
        return rma_put_signal_as_(#STEM "put_signal_nbi", RMA_##F##_OF_, dest, source, len, signal, value, op, pe, 1); \
    }                                                                                                                  \
    DEFINE(int, STEM##signal_set, (RMA_##F##_CTX_ uint64_t * signal, uint64_t value, int pe)) {                        \
        return rma_signal_as_(#STEM "signal_set", RMA_##F##_OF_, signal, value, RMA_SIGNAL_SET, pe);                   \
    }                                                                                                                  \
    DEFINE(int, STEM##signal_add, (RMA_##F##_CTX_ uint64_t * signal, uint64_t value, int pe)) {                        \
        return rma_signal_as_(#STEM "signal_add", RMA_##F##_OF_, signal, value, RMA_SIGNAL_ADD, pe);                   \
    }
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

PRMA(rma_set_lock);
PRMA(rma_test_lock);
PRMA(rma_clear_lock);
DEFINE(int, rma_set_lock, (rma_lock_t * lock)) {
    int code;
    RACE_FORWARD(code = prma_set_lock(lock));
    if (code == RMA_SUCCESS) race_lock_got(lock);
    return code;
}

DEFINE(int, rma_test_lock, (rma_lock_t * lock)) {
    int taken;
    RACE_FORWARD(taken = prma_test_lock(lock));
    if (taken == 1) race_lock_got(lock);
    return taken;
}

DEFINE(int, rma_clear_lock, (rma_lock_t * lock)) {
    RACE_CALL_AS("rma_clear_lock");
    int code;
    race_lock_clear(&c, lock);
    RACE_FORWARD(code = prma_clear_lock(lock));
    return code;
}

#define BY_GPTR(F, STEM)                                                                                               \
    PRMA(STEM##put);                                                                                                   \
    PRMA(STEM##get);                                                                                                   \
    DEFINE(int, STEM##put, (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len)) {                         \
        RACE_CALL_AS(#STEM "put");                                                                                     \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        RACE_FORWARD(code = p##STEM##put(RACE_ARG_##F dest, source, len));                                             \
        if (code == RMA_SUCCESS) race_put(&c, RACE_GPTR_(dest), source, len, 0);                                       \
        return code;                                                                                                   \
    }                                                                                                                  \
    DEFINE(int, STEM##get, (RMA_##F##_CTX_ void *dest, rma_gptr_t source, size_t len)) {                               \
        RACE_CALL_AS(#STEM "get");                                                                                     \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        RACE_FORWARD(code = p##STEM##get(RACE_ARG_##F dest, source, len));                                             \
        if (code == RMA_SUCCESS) race_get(&c, dest, RACE_GPTR_(source), len, 0);                                       \
        return code;                                                                                                   \
    }                                                                                                                  \
    DEFINE(int, STEM##put_nbi, (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len)) {                     \
        return rma_gptr_put_nbi_as_(#STEM "put_nbi", RMA_##F##_OF_, dest, source, len);                                \
    }                                                                                                                  \
    DEFINE(int, STEM##get_nbi, (RMA_##F##_CTX_ void *dest, rma_gptr_t source, size_t len)) {                           \
        return rma_gptr_get_nbi_as_(#STEM "get_nbi", RMA_##F##_OF_, dest, source, len);                                \
    }                                                                                                                  \
    DEFINE(                                                                                                            \
        int, STEM##put_signal,                                                                                         \
        (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len, rma_gptr_t signal, uint64_t value, int op)) { \
        return rma_gptr_put_signal_as_(#STEM "put_signal", RMA_##F##_OF_, dest, source, len, signal, value, op, 0);    \
    }                                                                                                                  \
    DEFINE(                                                                                                            \
        int, STEM##put_signal_nbi,                                                                                     \
        (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len, rma_gptr_t signal, uint64_t value, int op)) { \
        return rma_gptr_put_signal_as_(#STEM "put_signal_nbi", RMA_##F##_OF_, dest, source, len, signal, value, op,    \
                                       1);                                                                             \
    }
BY_GPTR(SYM, rma_gptr_)
BY_GPTR(CTX, rma_ctx_gptr_)

/* ---- strided ---- */

#define FAR(addr_) ((struct race_target){.addr = (uint64_t)(uintptr_t)(addr_), .pe = pe})
#define STRIDED(F, STEM)                                                                                               \
    PRMA(STEM##iput);                                                                                                  \
    PRMA(STEM##iget);                                                                                                  \
    PRMA(STEM##iput_signal);                                                                                           \
    DEFINE(int, STEM##iput,                                                                                            \
           (RMA_##F##_CTX_ void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n,        \
            int pe)) {                                                                                                 \
        RACE_CALL_AS(#STEM "iput");                                                                                    \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        RACE_FORWARD(code = p##STEM##iput(RACE_ARG_##F dest, source, dst, sst, elem, n, pe));                          \
        if (code == RMA_SUCCESS) race_strided(&c, FAR(dest), source, dst, sst, elem, n, 0);                            \
        return code;                                                                                                   \
    }                                                                                                                  \
    DEFINE(int, STEM##iget,                                                                                            \
           (RMA_##F##_CTX_ void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n,        \
            int pe)) {                                                                                                 \
        RACE_CALL_AS(#STEM "iget");                                                                                    \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        RACE_FORWARD(code = p##STEM##iget(RACE_ARG_##F dest, source, dst, sst, elem, n, pe));                          \
        if (code == RMA_SUCCESS) race_strided(&c, FAR(source), dest, sst, dst, elem, n, 1);                            \
        return code;                                                                                                   \
    }                                                                                                                  \
    DEFINE(int, STEM##iput_signal,                                                                                     \
           (RMA_##F##_CTX_ void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n,        \
            uint64_t *signal, uint64_t value, int op, int pe)) {                                                       \
        RACE_CALL_AS(#STEM "iput_signal");                                                                             \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        race_strided(&c, FAR(dest), source, dst, sst, elem, n, 0);                                                     \
        race_put_signal(&c, FAR(NULL), NULL, 0, signal, op == RMA_SIGNAL_ADD, 0);                                      \
        RACE_FORWARD(code =                                                                                            \
                         p##STEM##iput_signal(RACE_ARG_##F dest, source, dst, sst, elem, n, signal, value, op, pe));   \
        return code;                                                                                                   \
    }
STRIDED(SYM, rma_)
STRIDED(CTX, rma_ctx_)

#define STRIDED_BY_GPTR(F, STEM)                                                                                       \
    PRMA(STEM##iput);                                                                                                  \
    PRMA(STEM##iget);                                                                                                  \
    PRMA(STEM##iput_signal);                                                                                           \
    DEFINE(                                                                                                            \
        int, STEM##iput,                                                                                               \
        (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n)) {   \
        RACE_CALL_AS(#STEM "iput");                                                                                    \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        RACE_FORWARD(code = p##STEM##iput(RACE_ARG_##F dest, source, dst, sst, elem, n));                              \
        if (code == RMA_SUCCESS) race_strided(&c, RACE_GPTR_(dest), source, dst, sst, elem, n, 0);                     \
        return code;                                                                                                   \
    }                                                                                                                  \
    DEFINE(int, STEM##iget,                                                                                            \
           (RMA_##F##_CTX_ void *dest, rma_gptr_t source, ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n)) {      \
        RACE_CALL_AS(#STEM "iget");                                                                                    \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        RACE_FORWARD(code = p##STEM##iget(RACE_ARG_##F dest, source, dst, sst, elem, n));                              \
        if (code == RMA_SUCCESS) race_strided(&c, RACE_GPTR_(source), dest, sst, dst, elem, n, 1);                     \
        return code;                                                                                                   \
    }                                                                                                                  \
    DEFINE(int, STEM##iput_signal,                                                                                     \
           (RMA_##F##_CTX_ rma_gptr_t dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t elem, size_t n,   \
            rma_gptr_t signal, uint64_t value, int op)) {                                                              \
        RACE_CALL_AS(#STEM "iput_signal");                                                                             \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        race_strided(&c, RACE_GPTR_(dest), source, dst, sst, elem, n, 0);                                              \
        race_atomic(&c, RACE_GPTR_(signal), sizeof value, 1, 0, NULL);                                                 \
        RACE_FORWARD(code = p##STEM##iput_signal(RACE_ARG_##F dest, source, dst, sst, elem, n, signal, value, op));    \
        return code;                                                                                                   \
    }
STRIDED_BY_GPTR(SYM, rma_gptr_)
STRIDED_BY_GPTR(CTX, rma_ctx_gptr_)

/* ---- the library's own functions from here on: nothing in the header has their names ---- */

PRMA(rma_init);
PRMA(rma_init_thread);
PRMA(rma_finalize);
int rma_init(void) {
    int code;
    RACE_FORWARD(code = prma_init());
    if (code == RMA_SUCCESS && !race_inside) race_open();
    return code;
}

int rma_init_thread(int required, int *provided) {
    int code;
    RACE_FORWARD(code = prma_init_thread(required, provided));
    if (code == RMA_SUCCESS && !race_inside) race_open();
    return code;
}

int rma_finalize(void) {
    int code;
    if (!race_inside) race_close();
    RACE_FORWARD(code = prma_finalize());
    return code;
}

/* ---- barriers and memory ---- */

#define BARRIER(CALL, PARAMETERS, GROUP, ...)                                                                          \
    PRMA(CALL);                                                                                                        \
    int CALL PARAMETERS {                                                                                              \
        RACE_CALL_AS(#CALL);                                                                                           \
        struct race_group *g = GROUP;                                                                                  \
        int code;                                                                                                      \
        race_collective(g, &c, NULL, 0);                                                                               \
        code = p##CALL(__VA_ARGS__);                                                                                   \
        race_collected(g, &c, code, NULL, 0, RACE_ALL);                                                                \
        return code;                                                                                                   \
    }
BARRIER(rma_barrier_all, (void), race_world(&c), )
BARRIER(rma_sync_all, (void), race_world(NULL), )
BARRIER(rma_team_sync, (rma_team * team), race_team(team), team)
BARRIER(rma_team_barrier, (rma_team * team), (race_quiet(&c), race_team(team)), team)

PRMA(rma_calloc);
PRMA(rma_aligned_alloc);
PRMA(rma_realloc);
RACE_ALLOCATES(rma_malloc, (size_t size), size, size)
RACE_ALLOCATES(rma_calloc, (size_t count, size_t size), count *size, count, size)
RACE_ALLOCATES(rma_aligned_alloc, (size_t alignment, size_t size), size, alignment, size)

void *rma_realloc(void *block, size_t size) {
    RACE_CALL_AS("rma_realloc");
    struct race_group *g = race_world(&c);
    void *p;
    race_collective(g, &c, NULL, 0);
    p = prma_realloc(block, size);
    race_collected(g, &c, 0, NULL, 0, RACE_ALL);
    race_freed(&c, race_job.my_pe, race_offset(block));
    race_allocated(&c, race_job.my_pe, race_offset(p), size, 0);
    return p;
}

int rma_free(void *block) {
    RACE_CALL_AS("rma_free");
    struct race_group *g = race_world(&c);
    int code;
    race_collective(g, &c, NULL, 0);
    code = prma_free(block);
    race_collected(g, &c, code, NULL, 0, RACE_ALL);
    race_freed(&c, race_job.my_pe, race_offset(block));
    return code;
}

/* Local heaps. Accesses to a freed block do not count for the next block in the same memory (docs/memory-model.md:
 * rma_gptr_free releases, the allocation acquires). */
PRMA(rma_alloc_mem);
PRMA(rma_alloc_mem_hints);
PRMA(rma_free_mem);
PRMA(rma_gptr_free);
PRMA(rma_alloc_mem_on);
int rma_alloc_mem(size_t size, void *base) {
    RACE_CALL_AS("rma_alloc_mem");
    int code;
    RACE_FORWARD(code = prma_alloc_mem(size, base));
    if (code == RMA_SUCCESS) race_allocated(&c, race_job.my_pe, race_offset(*(void **)base), size, 1);
    return code;
}

int rma_alloc_mem_hints(size_t size, struct rma_hints *hints, void *base) {
    RACE_CALL_AS("rma_alloc_mem_hints");
    int code;
    RACE_FORWARD(code = prma_alloc_mem_hints(size, hints, base));
    if (code == RMA_SUCCESS) race_allocated(&c, race_job.my_pe, race_offset(*(void **)base), size, 1);
    return code;
}

int rma_alloc_mem_on(int pe, size_t size, rma_gptr_t *g) {
    RACE_CALL_AS("rma_alloc_mem_on");
    int code;
    RACE_FORWARD(code = prma_alloc_mem_on(pe, size, g));
    if (code == RMA_SUCCESS) race_allocated(&c, pe, RACE_GPTR_(*g).addr, size, 1);
    return code;
}

int rma_free_mem(void *base) {
    RACE_CALL_AS("rma_free_mem");
    int code;
    race_freed(&c, race_job.my_pe, race_offset(base));
    RACE_FORWARD(code = prma_free_mem(base));
    return code;
}

int rma_gptr_free(rma_gptr_t g) {
    RACE_CALL_AS("rma_gptr_free");
    int code;
    race_freed(&c, RACE_GPTR_(g).pe, RACE_GPTR_(g).addr);
    RACE_FORWARD(code = prma_gptr_free(g));
    return code;
}

/* ---- attached memory ---- */

PRMA(rma_attach);
PRMA(rma_detach);
PRMA(rma_expose);
PRMA(rma_exposed_at);
int rma_attach(void *base, size_t size, rma_gptr_t *g) {
    RACE_CALL_AS("rma_attach");
    int code;
    RACE_FORWARD(code = prma_attach(base, size, g));
    if (code == RMA_SUCCESS) race_attached(&c, base, size, RACE_GPTR_(*g).addr);
    return code;
}

int rma_detach(void *base) {
    RACE_CALL_AS("rma_detach");
    int code;
    RACE_FORWARD(code = prma_detach(base));
    if (code == RMA_SUCCESS) race_detached(&c, base);
    return code;
}

/* Collective: when the call returns all PEs know all regions, and when rma_unexpose returns all accesses have ended. */
int rma_expose(void *base, size_t size, size_t unit, rma_exposure **e) {
    RACE_CALL_AS("rma_expose");
    struct race_group *g = race_world(&c);
    rma_gptr_t at = RMA_GPTR_NULL;
    int code;
    race_collective(g, &c, NULL, 0);
    code = prma_expose(base, size, unit, e);
    if (code == RMA_SUCCESS && size) at = prma_exposed_at(*e, race_job.my_pe, 0);
    race_collected(g, &c, code, NULL, 0, RACE_ALL);
    if (at != RMA_GPTR_NULL) race_attached(&c, base, size, RACE_GPTR_(at).addr);
    return code;
}

BARRIER(rma_unexpose, (rma_exposure * e), race_world(&c), e)

/* ---- teams and contexts ---- */

PRMA(rma_team_split_strided);
PRMA(rma_team_split_2d);
PRMA(rma_team_destroy);
PRMA(rma_ctx_create);
PRMA(rma_team_create_ctx);
PRMA(rma_ctx_destroy);
PRMA(rma_pe_quiet);
PRMA(rma_pe_fence);
PRMA(rma_ctx_pe_quiet);
PRMA(rma_ctx_pe_fence);
int rma_team_split_strided(rma_team *parent, int start, int stride, int size, rma_team **team) {
    int code;
    RACE_FORWARD(code = prma_team_split_strided(parent, start, stride, size, team));
    if (code == RMA_SUCCESS && team) race_team_made(*team, parent);
    return code;
}

int rma_team_split_2d(rma_team *parent, int xrange, rma_team **xteam, rma_team **yteam) {
    int code;
    RACE_FORWARD(code = prma_team_split_2d(parent, xrange, xteam, yteam));
    if (code == RMA_SUCCESS && xteam) race_team_made(*xteam, parent);
    if (code == RMA_SUCCESS && yteam) race_team_made(*yteam, parent);
    return code;
}

PRMA(rma_team_split_color);
int rma_team_split_color(rma_team *parent, int color, int key, rma_team **team) {
    int code;
    RACE_FORWARD(code = prma_team_split_color(parent, color, key, team));
    if (code == RMA_SUCCESS && team) race_team_made(*team, parent);
    return code;
}

int rma_team_destroy(rma_team *team) {
    int code;
    if (!race_inside) race_team_gone(team);
    RACE_FORWARD(code = prma_team_destroy(team));
    return code;
}

int rma_ctx_create(int options, rma_ctx **ctx) {
    int code;
    RACE_FORWARD(code = prma_ctx_create(options, ctx));
    if (code == RMA_SUCCESS && !race_inside) race_ctx_made(*ctx, race_job.n_pes, NULL, 0);
    return code;
}

int rma_team_create_ctx(rma_team *team, int options, rma_ctx **ctx) {
    const struct race_group *g = race_team(team);
    int code;
    RACE_FORWARD(code = prma_team_create_ctx(team, options, ctx));
    if (code == RMA_SUCCESS && g) race_ctx_made(*ctx, race_group_n(g), race_group_pes(g), race_team_domain(team));
    return code;
}

int rma_ctx_destroy(rma_ctx *ctx) {
    int code;
    if (!race_inside && ctx != RMA_CTX_DEFAULT) race_ctx_ended(ctx);
    RACE_FORWARD(code = prma_ctx_destroy(ctx));
    return code;
}

PRMA(rma_test_quiet);
PRMA(rma_ctx_test_quiet);
int rma_test_quiet(void) {
    RACE_CALL_AS("rma_test_quiet");
    int quiet;
    RACE_FORWARD(quiet = prma_test_quiet());
    if (quiet) race_quiet(&c);
    return quiet;
}

int rma_ctx_test_quiet(rma_ctx *ctx) {
    RACE_CALL_AS("rma_ctx_test_quiet");
    int quiet;
    c.ctx = RACE_CTX_OF_CTX;
    RACE_FORWARD(quiet = prma_ctx_test_quiet(ctx));
    if (quiet) race_quiet(&c);
    return quiet;
}

#define SOME(CALL, ORDER)                                                                                              \
    int rma_##CALL(const int *pes, size_t n) {                                                                         \
        RACE_CALL_AS("rma_" #CALL);                                                                                    \
        int code;                                                                                                      \
        RACE_FORWARD(code = prma_##CALL(pes, n));                                                                      \
        ORDER(&c, pes, n);                                                                                             \
        return code;                                                                                                   \
    }                                                                                                                  \
    int rma_ctx_##CALL(rma_ctx *ctx, const int *pes, size_t n) {                                                       \
        RACE_CALL_AS("rma_ctx_" #CALL);                                                                                \
        int code;                                                                                                      \
        c.ctx = RACE_CTX_OF_CTX;                                                                                       \
        RACE_FORWARD(code = prma_ctx_##CALL(ctx, pes, n));                                                             \
        ORDER(&c, pes, n);                                                                                             \
        return code;                                                                                                   \
    }
SOME(pe_quiet, race_pe_quiet)
SOME(pe_fence, race_pe_fence)

/* ---- collectives ---- */

RACE_COLLECTIVE(rma_broadcast, (rma_team * team, void *dest, const void *source, size_t len, int root),
                me == root ? len : 0, len, root, team, dest, source, len, root)
RACE_COLLECTIVE(rma_collect, (rma_team * team, void *dest, const void *source, size_t len), len, RACE_SUM, RACE_ALL,
                team, dest, source, len)
RACE_COLLECTIVE(rma_fcollect, (rma_team * team, void *dest, const void *source, size_t len), len, members *len,
                RACE_ALL, team, dest, source, len)
RACE_COLLECTIVE(rma_alltoall, (rma_team * team, void *dest, const void *source, size_t len), members *len, members *len,
                RACE_ALL, team, dest, source, len)

/* Only the root gets, or only it gives. */
RACE_COLLECTIVE(rma_gather, (rma_team * team, void *dest, const void *source, size_t len, int root), len,
                me == root ? members * len : 0, me == root ? RACE_ALL : me, team, dest, source, len, root)
RACE_COLLECTIVE(rma_scatter, (rma_team * team, void *dest, const void *source, size_t len, int root),
                me == root ? members * len : 0, len, root, team, dest, source, len, root)

PRMA(rma_alltoalls);
int rma_alltoalls(rma_team *team, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                  size_t elem, size_t n) {
    RACE_CALL_AS("rma_alltoalls");
    struct race_group *g = race_team(team);
    const size_t all_n = (size_t)race_group_n(g) * n;
    int code;
    race_elements(g, &c, source, source_stride, elem, all_n, 0);
    race_collective(g, &c, NULL, 0);
    code = prma_alltoalls(team, dest, source, dest_stride, source_stride, elem, n);
    race_collected(g, &c, code, NULL, 0, RACE_ALL);
    race_elements(g, &c, dest, dest_stride, elem, all_n, 1);
    return code;
}

#define REDUCES(CALL, TYPE, FROM)                                                                                      \
    RACE_COLLECTIVE(CALL, (rma_team * team, TYPE * dest, const TYPE *source, size_t n), n * sizeof(TYPE),              \
                    n * sizeof(TYPE), FROM, team, dest, source, n)
#define REDUCES_BOTH(CALL, NAME, TYPE)                                                                                 \
    REDUCES(CALL##_##NAME, TYPE, RACE_ALL)                                                                             \
    RACE_COLLECTIVE(CALL##_root_##NAME, (rma_team * team, TYPE * dest, const TYPE *source, size_t n, int root),        \
                    n * sizeof(TYPE), me == root ? n * sizeof(TYPE) : 0, me == root ? RACE_ALL : me, team, dest,       \
                    source, n, root)
#define BITS(NAME, TYPE)                                                                                               \
    REDUCES_BOTH(rma_and_reduce, NAME, TYPE)                                                                           \
    REDUCES_BOTH(rma_or_reduce, NAME, TYPE)                                                                            \
    REDUCES_BOTH(rma_xor_reduce, NAME, TYPE)
#define LIMIT(NAME, TYPE)                                                                                              \
    REDUCES_BOTH(rma_min_reduce, NAME, TYPE)                                                                           \
    REDUCES_BOTH(rma_max_reduce, NAME, TYPE)                                                                           \
    REDUCES(rma_min_inscan_##NAME, TYPE, RACE_BEFORE)                                                                  \
    REDUCES(rma_min_exscan_##NAME, TYPE, RACE_BEFORE)                                                                  \
    REDUCES(rma_max_inscan_##NAME, TYPE, RACE_BEFORE)                                                                  \
    REDUCES(rma_max_exscan_##NAME, TYPE, RACE_BEFORE)
#define SUM(NAME, TYPE)                                                                                                \
    REDUCES_BOTH(rma_sum_reduce, NAME, TYPE)                                                                           \
    REDUCES_BOTH(rma_prod_reduce, NAME, TYPE)                                                                          \
    REDUCES(rma_sum_inscan_##NAME, TYPE, RACE_BEFORE)                                                                  \
    REDUCES(rma_sum_exscan_##NAME, TYPE, RACE_BEFORE)
RMA_INTEGER_TYPES(BITS)
RMA_TYPE_ALIASES(BITS)
RMA_TYPES(LIMIT)
RMA_TYPE_ALIASES(LIMIT)
RMA_TYPES(SUM)
RMA_TYPE_ALIASES(SUM)
RMA_COMPLEX_TYPES(SUM)
