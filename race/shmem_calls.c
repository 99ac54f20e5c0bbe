/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of OpenSHMEM that programs compiled with SHMEM_PROFILE call instead of inlined code. Functions with
 * bodies in the table (include/shmem_table.h) are expanded from it, with the detector's functions (as.h) instead of
 * librma's; the others forward to their second names. */
#include "config.h"

#define RMA_NO_TYPED_
#include "rma.h"
#undef RMA_NO_TYPED_
#define SHMEM_PROFILE
#define SHMEM_NO_GENERIC_
#include "pshmem.h"

#include <string.h>

#define RACE_BY_NATIVE 0
#include "race/as.h"
#include "race/job.h"

#define DEFINE(RESULT, CALL, PARAMETERS, ...) RESULT CALL PARAMETERS __VA_ARGS__

SHMEM_MOVE_CALLS_(DEFINE)
SHMEMX_SIGNAL_CALLS_(DEFINE)
SHMEM_ATOMIC_CALLS_(DEFINE)
SHMEM_WAIT_CALLS_(DEFINE)
SHMEM_ORDER_CALLS_(DEFINE)

/* ---- strided and blocked ---- */

#define FAR(addr_) ((struct race_target){.addr = (uint64_t)(uintptr_t)(addr_), .pe = pe})
#define STRIDED(F, CALL, TYPE, SIZE, GET, FAR_ARG, NEAR_ARG, FAR_STRIDE, NEAR_STRIDE)                                  \
    void CALL(SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) {  \
        RACE_CALL_AS(#CALL);                                                                                           \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        race_strided(&c, FAR(FAR_ARG), NEAR_ARG, FAR_STRIDE, NEAR_STRIDE, SIZE, nelems, GET);                          \
        RACE_FORWARD(p##CALL(RACE_ARG_##F dest, source, dst, sst, nelems, pe));                                        \
    }
#define BLOCKED(F, CALL, TYPE, SIZE, GET, FAR_ARG, NEAR_ARG, FAR_STRIDE, NEAR_STRIDE)                                  \
    void CALL(SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,             \
              size_t nblocks, int pe) {                                                                                \
        RACE_CALL_AS(#CALL);                                                                                           \
        c.ctx = RACE_CTX_OF_##F;                                                                                       \
        for (size_t i = 0; i < nblocks; i++)                                                                           \
            race_strided(&c, FAR((const char *)FAR_ARG + (ptrdiff_t)i * FAR_STRIDE * (ptrdiff_t)(SIZE)),               \
                         (const char *)NEAR_ARG + (ptrdiff_t)i * NEAR_STRIDE * (ptrdiff_t)(SIZE), 1, 1, SIZE, bsize,   \
                         GET);                                                                                         \
        RACE_FORWARD(p##CALL(RACE_ARG_##F dest, source, dst, sst, bsize, nblocks, pe));                                \
    }
#define STRIDES(X, F, STEM, TYPE, RNAME)                                                                               \
    STRIDED(F, STEM##_iput, TYPE, sizeof(TYPE), 0, dest, source, dst, sst)                                             \
    STRIDED(F, STEM##_iget, TYPE, sizeof(TYPE), 1, source, dest, sst, dst)                                             \
    BLOCKED(F, STEM##_ibput, TYPE, sizeof(TYPE), 0, dest, source, dst, sst)                                            \
    BLOCKED(F, STEM##_ibget, TYPE, sizeof(TYPE), 1, source, dest, sst, dst)
#define SIZED_STRIDES(X, F, STEM, BITS, SIZE)                                                                          \
    STRIDED(F, STEM##iput##BITS, void, SIZE, 0, dest, source, dst, sst)                                                \
    STRIDED(F, STEM##iget##BITS, void, SIZE, 1, source, dest, sst, dst)                                                \
    BLOCKED(F, STEM##ibput##BITS, void, SIZE, 0, dest, source, dst, sst)                                               \
    BLOCKED(F, STEM##ibget##BITS, void, SIZE, 1, source, dest, sst, dst)
#define TYPED_STRIDES(X, NAME, TYPE, RNAME) SHMEM_BOTH_(STRIDES, X, NAME, TYPE, RNAME)
SHMEM_TYPES_(TYPED_STRIDES, )
SHMEM_EACH_SIZE_(SIZED_STRIDES, , SYM, shmem_)
SHMEM_EACH_SIZE_(SIZED_STRIDES, , CTX, shmem_ctx_)
/* ---- life cycle ---- */

void shmem_init(void) {
    RACE_FORWARD(pshmem_init());
    race_open();
}

int shmem_init_thread(int requested, int *provided) {
    int code;
    RACE_FORWARD(code = pshmem_init_thread(requested, provided));
    if (code == 0) race_open();
    return code;
}

void start_pes(int npes) {
    RACE_FORWARD(pstart_pes(npes));
    race_open();
}

void shmem_finalize(void) {
    race_close();
    RACE_FORWARD(pshmem_finalize());
}

/* ---- barriers ---- */

void shmem_barrier_all(void) {
    RACE_CALL_AS("shmem_barrier_all");
    struct race_group *g = race_world(&c);
    race_collective(g, &c, NULL, 0);
    pshmem_barrier_all();
    race_collected(g, &c, 0, NULL, 0, RACE_ALL);
}

void shmem_sync_all(void) {
    RACE_CALL_AS("shmem_sync_all");
    struct race_group *g = race_world(NULL);
    race_collective(g, &c, NULL, 0);
    pshmem_sync_all();
    race_collected(g, &c, 0, NULL, 0, RACE_ALL);
}

int shmem_team_sync(shmem_team_t team) {
    RACE_CALL_AS("shmem_team_sync");
    struct race_group *g = race_team(team);
    int code;
    race_collective(g, &c, NULL, 0);
    code = pshmem_team_sync(team);
    race_collected(g, &c, code, NULL, 0, RACE_ALL);
    return code;
}

#define SET race_set(PE_start, logPE_stride, PE_size)
void shmem_barrier(SHMEM_SET_PARAMETERS_, long *pSync) {
    RACE_CALL_AS("shmem_barrier");
    struct race_group *g = SET;
    race_quiet(&c);
    race_collective(g, &c, NULL, 0);
    pshmem_barrier(PE_start, logPE_stride, PE_size, pSync);
    race_collected(g, &c, 0, NULL, 0, RACE_ALL);
}

void shmem_sync(SHMEM_SET_PARAMETERS_, long *pSync) {
    RACE_CALL_AS("shmem_sync");
    struct race_group *g = SET;
    race_collective(g, &c, NULL, 0);
    pshmem_sync(PE_start, logPE_stride, PE_size, pSync);
    race_collected(g, &c, 0, NULL, 0, RACE_ALL);
}

/* ---- memory: each call is a barrier, before the release of a block or after its allocation ---- */

RACE_ALLOCATES(shmem_malloc, (size_t size), size, size)
RACE_ALLOCATES(shmem_calloc, (size_t count, size_t size), count *size, count, size)
RACE_ALLOCATES(shmem_align, (size_t alignment, size_t size), size, alignment, size)
RACE_ALLOCATES(shmem_malloc_with_hints, (size_t size, long hints), size, size, hints)
RACE_ALLOCATES(shmalloc, (size_t size), size, size)
RACE_ALLOCATES(shmemalign, (size_t alignment, size_t size), size, alignment, size)

#define REALLOCATES(CALL)                                                                                              \
    void *CALL(void *ptr, size_t size) {                                                                               \
        RACE_CALL_AS(#CALL);                                                                                           \
        struct race_group *g = race_world(&c);                                                                         \
        void *p;                                                                                                       \
        race_collective(g, &c, NULL, 0);                                                                               \
        p = p##CALL(ptr, size);                                                                                        \
        race_collected(g, &c, 0, NULL, 0, RACE_ALL);                                                                   \
        race_freed(&c, race_job.my_pe, race_offset(ptr));                                                              \
        race_allocated(&c, race_job.my_pe, race_offset(p), size, 0);                                                   \
        return p;                                                                                                      \
    }
REALLOCATES(shmem_realloc)
REALLOCATES(shrealloc)

#define FREES(CALL)                                                                                                    \
    void CALL(void *ptr) {                                                                                             \
        RACE_CALL_AS(#CALL);                                                                                           \
        struct race_group *g = race_world(&c);                                                                         \
        race_collective(g, &c, NULL, 0);                                                                               \
        p##CALL(ptr);                                                                                                  \
        race_collected(g, &c, 0, NULL, 0, RACE_ALL);                                                                   \
        race_freed(&c, race_job.my_pe, race_offset(ptr));                                                              \
    }
FREES(shmem_free)
FREES(shfree)

/* ---- teams and contexts ---- */

int shmem_ctx_create(long options, shmem_ctx_t *ctx) {
    int code;
    RACE_FORWARD(code = pshmem_ctx_create(options, ctx));
    if (code == 0 && !race_inside && ctx) race_ctx_made(*ctx, race_job.n_pes, NULL, 0);
    return code;
}

int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx) {
    const struct race_group *g = race_team(team);
    int code;
    RACE_FORWARD(code = pshmem_team_create_ctx(team, options, ctx));
    if (code == 0 && g && ctx) race_ctx_made(*ctx, race_group_n(g), race_group_pes(g), race_team_domain(team));
    return code;
}

void shmem_ctx_destroy(shmem_ctx_t ctx) {
    if (!race_inside && ctx != SHMEM_CTX_DEFAULT) race_ctx_ended(ctx);
    RACE_FORWARD(pshmem_ctx_destroy(ctx));
}

int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                             const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team) {
    int code;
    RACE_FORWARD(code = pshmem_team_split_strided(parent_team, start, stride, size, config, config_mask, new_team));
    if (code == 0 && new_team) race_team_made(*new_team, parent_team);
    return code;
}

int shmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                        shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                        shmem_team_t *yaxis_team) {
    int code;
    RACE_FORWARD(code = pshmem_team_split_2d(parent_team, xrange, xaxis_config, xaxis_mask, xaxis_team, yaxis_config,
                                             yaxis_mask, yaxis_team));
    if (code == 0 && xaxis_team) race_team_made(*xaxis_team, parent_team);
    if (code == 0 && yaxis_team) race_team_made(*yaxis_team, parent_team);
    return code;
}

void shmem_team_destroy(shmem_team_t team) {
    if (!race_inside) race_team_gone(team);
    RACE_FORWARD(pshmem_team_destroy(team));
}

void shmem_pe_quiet(const int *target_pes, size_t npes) {
    RACE_CALL_AS("shmem_pe_quiet");
    RACE_FORWARD(pshmem_pe_quiet(target_pes, npes));
    race_pe_quiet(&c, target_pes, npes);
}

void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes) {
    RACE_CALL_AS("shmem_ctx_pe_quiet");
    c.ctx = RACE_CTX_OF_CTX;
    RACE_FORWARD(pshmem_ctx_pe_quiet(ctx, target_pes, npes));
    race_pe_quiet(&c, target_pes, npes);
}

/* ---- locks ---- */

void shmem_set_lock(long *lock) {
    RACE_FORWARD(pshmem_set_lock(lock));
    race_lock_got(lock);
}

int shmem_test_lock(long *lock) {
    int taken;
    RACE_FORWARD(taken = pshmem_test_lock(lock));
    if (taken == 0) race_lock_got(lock);
    return taken;
}

void shmem_clear_lock(long *lock) {
    RACE_CALL_AS("shmem_clear_lock");
    race_lock_clear(&c, lock);
    RACE_FORWARD(pshmem_clear_lock(lock));
}

/* ---- collectives of teams ---- */

/* Only the root's source is read. */
#define TYPED(A, NAME, TYPE, RNAME)                                                                                    \
    RACE_COLLECTIVE(shmem_##NAME##_broadcast,                                                                          \
                    (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems, int PE_root),                  \
                    me == PE_root ? nelems * sizeof(TYPE) : 0, nelems * sizeof(TYPE), PE_root, team, dest, source,     \
                    nelems, PE_root)                                                                                   \
    MOVES_(shmem_##NAME##_collect, shmem_##NAME##_fcollect, shmem_##NAME##_alltoall, shmem_##NAME##_alltoalls, TYPE,   \
           sizeof(TYPE))
#define MOVES_(COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, TYPE, SIZE)                                                     \
    RACE_COLLECTIVE(COLLECT, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems), nelems *SIZE,        \
                    RACE_SUM, RACE_ALL, team, dest, source, nelems)                                                    \
    RACE_COLLECTIVE(FCOLLECT, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems), nelems *SIZE,       \
                    members *nelems *SIZE, RACE_ALL, team, dest, source, nelems)                                       \
    RACE_COLLECTIVE(ALLTOALL, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems),                     \
                    members *nelems *SIZE, members *nelems *SIZE, RACE_ALL, team, dest, source, nelems)                \
    int ALLTOALLS(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) {    \
        RACE_CALL_AS(#ALLTOALLS);                                                                                      \
        struct race_group *g = race_team(team);                                                                        \
        const size_t n = (size_t)race_group_n(g) * nelems;                                                             \
        int code;                                                                                                      \
        race_elements(g, &c, source, sst, SIZE, n, 0);                                                                 \
        race_collective(g, &c, NULL, 0);                                                                               \
        code = p##ALLTOALLS(team, dest, source, dst, sst, nelems);                                                     \
        race_collected(g, &c, code, NULL, 0, RACE_ALL);                                                                \
        race_elements(g, &c, dest, dst, SIZE, n, 1);                                                                   \
        return code;                                                                                                   \
    }
SHMEM_TYPES_(TYPED, )
RACE_COLLECTIVE(shmem_broadcastmem, (shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root),
                me == PE_root ? nelems : 0, nelems, PE_root, team, dest, source, nelems, PE_root)
MOVES_(shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem, shmem_alltoallsmem, void, 1)

#define REDUCES(CALL, TYPE, FROM)                                                                                      \
    RACE_COLLECTIVE(CALL, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nreduce),                        \
                    nreduce * sizeof(TYPE), nreduce * sizeof(TYPE), FROM, team, dest, source, nreduce)
#define BIT_REDUCES(A, NAME, TYPE, RNAME)                                                                              \
    REDUCES(shmem_##NAME##_and_reduce, TYPE, RACE_ALL)                                                                 \
    REDUCES(shmem_##NAME##_or_reduce, TYPE, RACE_ALL)                                                                  \
    REDUCES(shmem_##NAME##_xor_reduce, TYPE, RACE_ALL)
#define LIMIT_REDUCES(A, NAME, TYPE, RNAME)                                                                            \
    REDUCES(shmem_##NAME##_max_reduce, TYPE, RACE_ALL)                                                                 \
    REDUCES(shmem_##NAME##_min_reduce, TYPE, RACE_ALL)
#define SUM_REDUCES(A, NAME, TYPE, RNAME)                                                                              \
    REDUCES(shmem_##NAME##_sum_reduce, TYPE, RACE_ALL)                                                                 \
    REDUCES(shmem_##NAME##_prod_reduce, TYPE, RACE_ALL)                                                                \
    REDUCES(shmem_##NAME##_sum_inscan, TYPE, RACE_BEFORE)                                                              \
    REDUCES(shmem_##NAME##_sum_exscan, TYPE, RACE_BEFORE)
SHMEM_BIT_TYPES_(BIT_REDUCES, )
SHMEM_TYPES_(LIMIT_REDUCES, )
SHMEM_SUM_TYPES_(SUM_REDUCES, )

/* ---- collectives of active sets. Their broadcast does not write the root's own copy. ---- */

#define SET_COLLECTIVE(CALL, PARAMETERS, GIVEN, GOT, FROM, ...)                                                        \
    void CALL PARAMETERS {                                                                                             \
        RACE_BEGIN_COLLECTIVE(CALL, SET, GIVEN, GOT);                                                                  \
        p##CALL(__VA_ARGS__);                                                                                          \
        race_collected(g, &c, 0, dest, GOT, FROM);                                                                     \
    }
#define SET_ARGUMENTS PE_start, logPE_stride, PE_size
#define SET_MOVES(BITS)                                                                                                \
    SET_COLLECTIVE(shmem_broadcast##BITS,                                                                              \
                   (void *dest, const void *source, size_t nelems, int PE_root, SHMEM_SET_PARAMETERS_, long *pSync),   \
                   me == PE_root ? nelems * (BITS / 8) : 0, me == PE_root ? 0 : nelems * (BITS / 8), PE_root, dest,    \
                   source, nelems, PE_root, SET_ARGUMENTS, pSync)                                                      \
    SET_COLLECTIVE(shmem_collect##BITS,                                                                                \
                   (void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, long *pSync),                \
                   nelems *(BITS / 8), RACE_SUM, RACE_ALL, dest, source, nelems, SET_ARGUMENTS, pSync)                 \
    SET_COLLECTIVE(                                                                                                    \
        shmem_fcollect##BITS, (void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, long *pSync),     \
        nelems *(BITS / 8), members *nelems *(BITS / 8), RACE_ALL, dest, source, nelems, SET_ARGUMENTS, pSync)         \
    SET_COLLECTIVE(shmem_alltoall##BITS,                                                                               \
                   (void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, long *pSync),                \
                   members *nelems *(BITS / 8), members *nelems *(BITS / 8), RACE_ALL, dest, source, nelems,           \
                   SET_ARGUMENTS, pSync)                                                                               \
    void shmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,            \
                               SHMEM_SET_PARAMETERS_, long *pSync) {                                                   \
        RACE_CALL_AS("shmem_alltoalls" #BITS);                                                                         \
        struct race_group *g = SET;                                                                                    \
        const size_t n = (size_t)race_group_n(g) * nelems;                                                             \
        race_elements(g, &c, source, sst, BITS / 8, n, 0);                                                             \
        race_collective(g, &c, NULL, 0);                                                                               \
        pshmem_alltoalls##BITS(dest, source, dst, sst, nelems, SET_ARGUMENTS, pSync);                                  \
        race_collected(g, &c, 0, NULL, 0, RACE_ALL);                                                                   \
        race_elements(g, &c, dest, dst, BITS / 8, n, 1);                                                               \
    }
SET_MOVES(32)
SET_MOVES(64)

#define TO_ALL(CALL, TYPE)                                                                                             \
    SET_COLLECTIVE(CALL,                                                                                               \
                   (TYPE * dest, const TYPE *source, int nreduce, SHMEM_SET_PARAMETERS_, TYPE *pWrk, long *pSync),     \
                   (size_t)nreduce * sizeof(TYPE), (size_t)nreduce * sizeof(TYPE), RACE_ALL, dest, source, nreduce,    \
                   SET_ARGUMENTS, pWrk, pSync)
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
