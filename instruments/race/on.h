/* SPDX-License-Identifier: BSD-3-Clause */
/* What the detector does about each kind of call (instruments/call_lists/README.md). A put or a get of OpenSHMEM is
 * recorded before the library executes it, since a waiting PE may learn from a put. No PE learns from a native put, so
 * native calls are recorded afterwards, and only if they succeeded. */
#include "instruments/race/calls.h"
#include "instruments/race/job.h"

#define AT(CTX, ADDR, PE) ((struct race_target){.addr = (uint64_t)(uintptr_t)(ADDR), .pe = (PE)})
#define AT_GPTR(G)                                                                                                     \
    ((struct race_target){                                                                                             \
        .addr = (G) & (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1), .pe = (int)((G) >> RMA_GPTR_BITS_), .gptr = 1})
#define WORLD    race_team(RMA_TEAM_WORLD)
#define TEAM(T)  race_team(T)
#define SET(...) race_set(pSync, __VA_ARGS__)

#define RACE_BEGIN(NAME, CTX)                                                                                          \
    struct race_call c = {.name = (NAME), .pc = RACE_CALLED, .native = CALLS_NATIVE};                                  \
    c.ctx = (CTX) == RMA_CTX_DEFAULT ? NULL : (const void *)(CTX);                                                     \
    (void)c.ctx

/* A call that is recorded before the library executes it, or after. */
#define RACE_EARLY(NAME, CTX, RECORD, ...)                                                                             \
    do {                                                                                                               \
        RACE_BEGIN(NAME, CTX);                                                                                         \
        RECORD;                                                                                                        \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
    } while (0)
#define RACE_LATE(NAME, CTX, OK, RECORD, ...)                                                                          \
    do {                                                                                                               \
        RACE_BEGIN(NAME, CTX);                                                                                         \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
        if (OK) RECORD;                                                                                                \
    } while (0)
#define RACE_EARLY_OR_LATE(NAME, CTX, OK, RECORD, ...)                                                                 \
    do {                                                                                                               \
        RACE_BEGIN(NAME, CTX);                                                                                         \
        if (!CALLS_NATIVE) RECORD;                                                                                     \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
        if (CALLS_NATIVE && (OK)) RECORD;                                                                              \
    } while (0)

#define ON_PUT(NAME, CTX, FAR, SOURCE, LEN, NBI, ...)                                                                  \
    RACE_EARLY_OR_LATE(NAME, CTX, result == 0, race_put(&c, FAR, SOURCE, LEN, NBI), __VA_ARGS__)
#define ON_GET(NAME, CTX, DEST, FAR, LEN, NBI, ...)                                                                    \
    RACE_EARLY_OR_LATE(NAME, CTX, result == 0, race_get(&c, DEST, FAR, LEN, NBI), __VA_ARGS__)
#define ON_P(NAME, CTX, FAR, LEN, ...) RACE_EARLY(NAME, CTX, race_p(&c, FAR, LEN), __VA_ARGS__)
#define ON_G(NAME, CTX, FAR, LEN, ...) RACE_EARLY(NAME, CTX, race_g(&c, FAR, LEN), __VA_ARGS__)
#define ON_PUT_SIGNAL(NAME, CTX, FAR, SOURCE, LEN, SIGNAL, OP, PE, NBI, ...)                                           \
    RACE_EARLY(NAME, CTX, race_put_signal(&c, FAR, SOURCE, LEN, SIGNAL, (OP) == RMA_SIGNAL_ADD, NBI), __VA_ARGS__)
#define ON_SIGNAL(NAME, CTX, SIGNAL, OP, PE, ...)                                                                      \
    ON_PUT_SIGNAL(NAME, CTX, AT(CTX, NULL, PE), NULL, 0, SIGNAL, OP, PE, 0, __VA_ARGS__)

/* The signal is an atomic, which may be of another PE: a release of the put before it. */
#define ON_GPTR_PUT_SIGNAL(NAME, CTX, FAR, SOURCE, LEN, SIGNAL, NBI, ...)                                              \
    RACE_EARLY(NAME, CTX,                                                                                              \
               (race_put(&c, FAR, SOURCE, LEN, NBI), race_atomic(&c, AT_GPTR(SIGNAL), sizeof(uint64_t), 1, 0, NULL)),  \
               __VA_ARGS__)

#define ON_STRIDED(NAME, CTX, FAR, NEAR, FAR_STRIDE, NEAR_STRIDE, ELEM, N, GET, OK, ...)                               \
    RACE_EARLY_OR_LATE(NAME, CTX, OK, race_strided(&c, FAR, NEAR, FAR_STRIDE, NEAR_STRIDE, ELEM, N, GET), __VA_ARGS__)
#define ON_BLOCKED(NAME, CTX, FAR, PE, NEAR, FAR_STRIDE, NEAR_STRIDE, ELEM, LEN, N, GET, ...)                          \
    RACE_EARLY(NAME, CTX,                                                                                              \
               for (size_t i_ = 0; i_ < N; i_++) race_strided(                                                         \
                   &c, AT(CTX, (const char *)FAR + (ptrdiff_t)i_ * FAR_STRIDE * (ptrdiff_t)(ELEM), PE),                \
                   (const char *)NEAR + (ptrdiff_t)i_ * NEAR_STRIDE * (ptrdiff_t)(ELEM), 1, 1, ELEM, LEN, GET),        \
               __VA_ARGS__)
#define ON_STRIDED_SIGNAL(NAME, CTX, FAR, SOURCE, DST, SST, ELEM, N, SIGNAL, OP, PE, ...)                              \
    RACE_EARLY(NAME, CTX,                                                                                              \
               (race_strided(&c, FAR, SOURCE, DST, SST, ELEM, N, 0),                                                   \
                race_put_signal(&c, AT(CTX, NULL, PE), NULL, 0, SIGNAL, (OP) == RMA_SIGNAL_ADD, 0)),                   \
               __VA_ARGS__)
#define ON_GPTR_STRIDED_SIGNAL(NAME, CTX, FAR, SOURCE, DST, SST, ELEM, N, SIGNAL, ...)                                 \
    RACE_EARLY(NAME, CTX,                                                                                              \
               (race_strided(&c, FAR, SOURCE, DST, SST, ELEM, N, 0),                                                   \
                race_atomic(&c, AT_GPTR(SIGNAL), sizeof(uint64_t), 1, 0, NULL)),                                       \
               __VA_ARGS__)

#define ON_FETCH(NAME, CTX, FAR, LEN, OP, ...)                                                                         \
    do {                                                                                                               \
        RACE_BEGIN(NAME, CTX);                                                                                         \
        race_atomic(&c, FAR, LEN, (OP) != RMA_FETCH_, 1, NULL);                                                        \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
        race_atomic_done(&c, FAR, LEN);                                                                                \
    } while (0)
#define ON_UPDATE(NAME, CTX, FAR, LEN, ...) RACE_EARLY(NAME, CTX, race_atomic(&c, FAR, LEN, 1, 0, NULL), __VA_ARGS__)
#define ON_FETCH_NBI(NAME, CTX, FAR, LEN, OP, FETCH, ...)                                                              \
    RACE_EARLY(NAME, CTX, race_atomic(&c, FAR, LEN, (OP) != RMA_FETCH_, 1, FETCH), __VA_ARGS__)

#define PIECES_SECTION(...) race_section(__VA_ARGS__)
#define PIECES_INDEXED(...) race_indexed(__VA_ARGS__)
#define PIECES_BLOCKS(...)  race_blocks(__VA_ARGS__)
#define SIZE_OF(TYPE)       race_size_of(TYPE)
#define ON_PUT_PIECES(NAME, CTX, FAR, NBI, SOURCE, TO, FROM, ...)                                                      \
    RACE_LATE(NAME, CTX, result == RMA_SUCCESS, race_put_pieces(&c, FAR, SOURCE, TO, FROM, NBI), __VA_ARGS__)
#define ON_GET_PIECES(NAME, CTX, FAR, NBI, DEST, TO, FROM, ...)                                                        \
    RACE_LATE(NAME, CTX, result == RMA_SUCCESS, race_get_pieces(&c, DEST, FAR, TO, FROM, NBI), __VA_ARGS__)

/* Before the library's call, because a PE may wait for what the call writes. A fetch alone reads no source. */
#define ON_ACCUMULATE(NAME, CTX, FAR, NBI, SOURCE, FETCH, TYPE, OP, TO, FROM, INTO, ...)                               \
    RACE_EARLY(                                                                                                        \
        NAME, CTX,                                                                                                     \
        race_accumulate(&c, FAR, (FETCH) && (OP) == RMA_OP_FETCH ? NULL : SOURCE, FETCH,                               \
                        (struct race_update){.size = SIZE_OF(TYPE), .writes = (OP) != RMA_OP_FETCH, .nbi = NBI}, TO,   \
                        FROM, INTO),                                                                                   \
        __VA_ARGS__)

#define ON_WAIT(NAME, IVAR, LEN, ...) RACE_LATE(NAME, RMA_CTX_DEFAULT, 1, race_waited(&c, IVAR, LEN), __VA_ARGS__)
#define ON_TEST(NAME, IVAR, LEN, ...)                                                                                  \
    RACE_LATE(NAME, RMA_CTX_DEFAULT, result == 1, race_waited(&c, IVAR, LEN), __VA_ARGS__)
#define ON_SIGNAL_FETCH(NAME, SIGNAL, ...) ON_WAIT(NAME, SIGNAL, sizeof(uint64_t), __VA_ARGS__)
#define ON_WORDS(NAME, WHAT, WAITS, IVARS, LEN, N, INDICES, STATUS, ...)                                               \
    RACE_LATE(NAME, RMA_CTX_DEFAULT, 1, race_waited_words(&c, WHAT, WAITS, IVARS, LEN, N, INDICES, STATUS, result),    \
              __VA_ARGS__)

#define ON_QUIET(NAME, CTX, ...)            RACE_LATE(NAME, CTX, 1, race_quiet(&c), __VA_ARGS__)
#define ON_FENCE(NAME, CTX, ...)            RACE_LATE(NAME, CTX, 1, race_fence(&c), __VA_ARGS__)
#define ON_TEST_QUIET(NAME, CTX, ...)       RACE_LATE(NAME, CTX, result, race_quiet(&c), __VA_ARGS__)
#define ON_PE_QUIET(NAME, CTX, PES, N, ...) RACE_LATE(NAME, CTX, 1, race_pe_quiet(&c, PES, N), __VA_ARGS__)
#define ON_PE_FENCE(NAME, CTX, PES, N, ...) RACE_LATE(NAME, CTX, 1, race_pe_fence(&c, PES, N), __VA_ARGS__)
#define ON_SET_LOCK(NAME, LOCK, GOT, ...)   RACE_LATE(NAME, RMA_CTX_DEFAULT, GOT, race_lock_got(LOCK), __VA_ARGS__)
#define ON_TEST_LOCK(NAME, LOCK, GOT, ...)  ON_SET_LOCK(NAME, LOCK, GOT, __VA_ARGS__)
#define ON_CLEAR_LOCK(NAME, LOCK, ...)      RACE_EARLY(NAME, RMA_CTX_DEFAULT, race_lock_clear(&c, LOCK), __VA_ARGS__)

/* ---- life cycle, teams and contexts ---- */

#define ON_INIT(OK, ...)                                                                                               \
    do {                                                                                                               \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
        if ((OK) && !race_inside) race_open();                                                                         \
    } while (0)
#define ON_FINALIZE(...)                                                                                               \
    do {                                                                                                               \
        if (!race_inside) race_close();                                                                                \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
    } while (0)
#define ON_SHMEM_INIT     ON_INIT
#define ON_SHMEM_FINALIZE ON_FINALIZE

#define ON_SPLIT(NAME, PARENT, OK, TEAM1, TEAM2, ...)                                                                  \
    do {                                                                                                               \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
        if ((OK) && (TEAM1)) race_team_made(*(TEAM1), PARENT);                                                         \
        if ((OK) && (TEAM2) && (TEAM2) != (TEAM1)) race_team_made(*(TEAM2), PARENT);                                   \
    } while (0)
#define ON_TEAM_DESTROY(T, ...)                                                                                        \
    do {                                                                                                               \
        if (!race_inside) race_team_gone(T);                                                                           \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
    } while (0)
#define ON_CTX_CREATE(OK, CTX, ...)                                                                                    \
    do {                                                                                                               \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
        if ((OK) && !race_inside) race_ctx_made(*(CTX), race_job.n_pes, NULL, 0);                                      \
    } while (0)
#define ON_TEAM_CREATE_CTX(T, OK, CTX, ...)                                                                            \
    do {                                                                                                               \
        const struct race_group *g = race_team(T);                                                                     \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
        if ((OK) && g) race_ctx_made(*(CTX), race_group_n(g), race_group_pes(g), race_team_domain(T));                 \
    } while (0)
#define ON_CTX_DESTROY(CTX, ...)                                                                                       \
    do {                                                                                                               \
        if (!race_inside && (const rma_ctx *)(CTX) != RMA_CTX_DEFAULT) race_ctx_ended(CTX);                            \
        RACE_FORWARD(__VA_ARGS__);                                                                                     \
    } while (0)

/* ---- memory ---- */

#define RACE_OFFSET_OF(G) AT_GPTR(G).addr
#define ON_ALLOC_MEM(NAME, BASE, SIZE, ...)                                                                            \
    RACE_LATE(NAME, RMA_CTX_DEFAULT, result == RMA_SUCCESS,                                                            \
              race_allocated(&c, race_job.my_pe, race_offset(*(void **)(BASE)), SIZE, 1), __VA_ARGS__)
#define ON_ALLOC_MEM_ON(NAME, PE, G, SIZE, ...)                                                                        \
    RACE_LATE(NAME, RMA_CTX_DEFAULT, result == RMA_SUCCESS, race_allocated(&c, PE, RACE_OFFSET_OF(*(G)), SIZE, 1),     \
              __VA_ARGS__)
#define ON_FREE_MEM(NAME, BASE, ...)                                                                                   \
    RACE_EARLY(NAME, RMA_CTX_DEFAULT, race_freed(&c, race_job.my_pe, race_offset(BASE)), __VA_ARGS__)
#define ON_GPTR_FREE(NAME, G, ...)                                                                                     \
    RACE_EARLY(NAME, RMA_CTX_DEFAULT, race_freed(&c, AT_GPTR(G).pe, RACE_OFFSET_OF(G)), __VA_ARGS__)
#define ON_ATTACH(NAME, BASE, SIZE, G, ...)                                                                            \
    RACE_LATE(NAME, RMA_CTX_DEFAULT, result == RMA_SUCCESS, race_attached(&c, BASE, SIZE, RACE_OFFSET_OF(*(G))),       \
              __VA_ARGS__)
#define ON_DETACH(NAME, BASE, ...)                                                                                     \
    RACE_LATE(NAME, RMA_CTX_DEFAULT, result == RMA_SUCCESS, race_detached(&c, BASE), __VA_ARGS__)

/* ---- calls in which PEs meet. A call that is a quiet, too, completes what its thread has under way first. ---- */

#define RACE_MEET(NAME, GROUP, QUIET, CODE, AFTER, ...)                                                                \
    do {                                                                                                               \
        RACE_BEGIN(NAME, RMA_CTX_DEFAULT);                                                                             \
        struct race_group *g;                                                                                          \
        if (QUIET) race_quiet(&c);                                                                                     \
        g = GROUP;                                                                                                     \
        race_collective(g, &c, RACE_NOTHING);                                                                          \
        __VA_ARGS__;                                                                                                   \
        race_collected(g, &c, CODE, RACE_NOTHING, RACE_NOTHING, RACE_ALL);                                             \
        AFTER;                                                                                                         \
    } while (0)
#define ON_BARRIER(NAME, GROUP, QUIET, CODE, ...) RACE_MEET(NAME, GROUP, QUIET, CODE, , __VA_ARGS__)
#define ON_ALLOCATE(NAME, SIZE, ...)                                                                                   \
    RACE_MEET(NAME, WORLD, 1, 0, race_allocated(&c, race_job.my_pe, race_offset(result), SIZE, 0), __VA_ARGS__)
#define ON_FREE(NAME, BLOCK, CODE, ...)                                                                                \
    RACE_MEET(NAME, WORLD, 1, CODE, race_freed(&c, race_job.my_pe, race_offset(BLOCK)), __VA_ARGS__)
#define ON_REALLOCATE(NAME, BLOCK, SIZE, ...)                                                                          \
    RACE_MEET(NAME, WORLD, 1, 0,                                                                                       \
              (race_freed(&c, race_job.my_pe, race_offset(BLOCK)),                                                     \
               race_allocated(&c, race_job.my_pe, race_offset(result), SIZE, 0)),                                      \
              __VA_ARGS__)

/* When the call returns all PEs know all regions. */
#define ON_EXPOSE(NAME, BASE, SIZE, E, ...)                                                                            \
    do {                                                                                                               \
        rma_gptr_t at_ = RMA_GPTR_NULL;                                                                                \
        RACE_MEET(NAME, WORLD, 1, result,                                                                              \
                  if (at_ != RMA_GPTR_NULL) race_attached(&c, BASE, SIZE, RACE_OFFSET_OF(at_)), __VA_ARGS__;           \
                  if (result == RMA_SUCCESS && (SIZE)) at_ = prma_exposed_at(*(E), race_job.my_pe, 0));                \
    } while (0)

/* A collective of a shape of instruments/call_lists/README.md: what this PE gives of `source`, what it gets in `dest`,
 * and from whom. A collective of length 0 moves nothing, and nobody waits. The broadcast of active sets does not write
 * the root's own copy. */
#define RACE_GIVEN_BROADCAST(LEN, ROOT)     (me == (ROOT) ? (LEN) : 0)
#define RACE_GIVEN_SET_BROADCAST(LEN, ROOT) (me == (ROOT) ? (LEN) : 0)
#define RACE_GIVEN_SCATTER(LEN, ROOT)       (me == (ROOT) ? members * (LEN) : 0)
#define RACE_GIVEN_GATHER(LEN, ROOT)        (LEN)
#define RACE_GIVEN_COLLECT(LEN, ROOT)       (LEN)
#define RACE_GIVEN_FCOLLECT(LEN, ROOT)      (LEN)
#define RACE_GIVEN_ALLTOALL(LEN, ROOT)      (members * (LEN))
#define RACE_GIVEN_REDUCE(LEN, ROOT)        (LEN)
#define RACE_GIVEN_ROOT_REDUCE(LEN, ROOT)   (LEN)
#define RACE_GIVEN_SCAN(LEN, ROOT)          (LEN)
#define RACE_GOT_BROADCAST(LEN, ROOT)       (LEN)
#define RACE_GOT_SET_BROADCAST(LEN, ROOT)   (me == (ROOT) ? 0 : (LEN))
#define RACE_GOT_SCATTER(LEN, ROOT)         (LEN)
#define RACE_GOT_GATHER(LEN, ROOT)          (me == (ROOT) ? members * (LEN) : 0)
#define RACE_GOT_COLLECT(LEN, ROOT)         RACE_SUM
#define RACE_GOT_FCOLLECT(LEN, ROOT)        (members * (LEN))
#define RACE_GOT_ALLTOALL(LEN, ROOT)        (members * (LEN))
#define RACE_GOT_REDUCE(LEN, ROOT)          (LEN)
#define RACE_GOT_ROOT_REDUCE(LEN, ROOT)     (me == (ROOT) ? (LEN) : 0)
#define RACE_GOT_SCAN(LEN, ROOT)            (LEN)
#define RACE_FROM_BROADCAST(ROOT)           (ROOT)
#define RACE_FROM_SET_BROADCAST(ROOT)       (ROOT)
#define RACE_FROM_SCATTER(ROOT)             (ROOT)
#define RACE_FROM_GATHER(ROOT)              (me == (ROOT) ? RACE_ALL : me)
#define RACE_FROM_COLLECT(ROOT)             RACE_ALL
#define RACE_FROM_FCOLLECT(ROOT)            RACE_ALL
#define RACE_FROM_ALLTOALL(ROOT)            RACE_ALL
#define RACE_FROM_REDUCE(ROOT)              RACE_ALL
#define RACE_FROM_ROOT_REDUCE(ROOT)         (me == (ROOT) ? RACE_ALL : me)
#define RACE_FROM_SCAN(ROOT)                RACE_BEFORE

#define ON_COLLECTIVE(SHAPE, NAME, GROUP, ROOT, LEN, CODE, ...)                                                        \
    do {                                                                                                               \
        RACE_BEGIN(NAME, RMA_CTX_DEFAULT);                                                                             \
        struct race_group *g = GROUP;                                                                                  \
        const size_t members = (size_t)race_group_n(g);                                                                \
        const int me = race_group_me(g);                                                                               \
        (void)members, (void)me;                                                                                       \
        const struct race_buffer given = RACE_BYTES(source, RACE_GIVEN_##SHAPE(LEN, ROOT));                            \
        const struct race_buffer got = RACE_BYTES(dest, RACE_GOT_##SHAPE(LEN, ROOT));                                  \
        if (!given.elem && !got.elem) g = NULL;                                                                        \
        race_collective(g, &c, given);                                                                                 \
        __VA_ARGS__;                                                                                                   \
        race_collected(g, &c, CODE, given, got, RACE_FROM_##SHAPE(ROOT));                                              \
    } while (0)
#define ON_ALLTOALLS(NAME, GROUP, DEST, SOURCE, DST, SST, ELEM, N, CODE, ...)                                          \
    do {                                                                                                               \
        RACE_BEGIN(NAME, RMA_CTX_DEFAULT);                                                                             \
        struct race_group *g = GROUP;                                                                                  \
        const size_t all_n = (size_t)race_group_n(g) * (N);                                                            \
        const struct race_buffer given = {.at = (SOURCE), .elem = (ELEM), .n = all_n, .stride = (SST)};                \
        const struct race_buffer got = {.at = (DEST), .elem = (ELEM), .n = all_n, .stride = (DST)};                    \
        race_collective(g, &c, given);                                                                                 \
        __VA_ARGS__;                                                                                                   \
        race_collected(g, &c, CODE, given, got, RACE_ALL);                                                             \
    } while (0)
