/* SPDX-License-Identifier: BSD-3-Clause */
/* What the recorder does about each kind of call (instruments/call_lists/README.md): it records its kind, its target,
 * its bytes and the remote place. */
#include "instruments/trace/calls.h"

#define AT(CTX, ADDR, PE) ((struct trace_target){trace_place(ADDR), trace_pe(CTX, PE)})
#define AT_GPTR(G)        ((struct trace_target){trace_gptr_place(G), TRACE_GPTR_PE(G)})
#define WORLD             trace_world()
#define TEAM(T)           trace_team(T)
#define SET(...)          trace_set(__VA_ARGS__)

#define TRACE_MOVE(KIND, NAME, CTX, FAR, LEN, ...)                                                                     \
    TRACE_CALL(KIND, NAME, (FAR).pe, LEN, (FAR).place, trace_context(CTX), __VA_ARGS__)

#define ON_PUT(NAME, CTX, FAR, SOURCE, LEN, NBI, ...)                                                                  \
    TRACE_MOVE((NBI) ? TRACE_PUT_NBI : TRACE_PUT, NAME, CTX, FAR, LEN, __VA_ARGS__)
#define ON_GET(NAME, CTX, DEST, FAR, LEN, NBI, ...)                                                                    \
    TRACE_MOVE((NBI) ? TRACE_GET_NBI : TRACE_GET, NAME, CTX, FAR, LEN, __VA_ARGS__)
#define ON_P(NAME, CTX, FAR, LEN, ...) TRACE_MOVE(TRACE_PUT, NAME, CTX, FAR, LEN, __VA_ARGS__)
#define ON_G(NAME, CTX, FAR, LEN, ...) TRACE_MOVE(TRACE_GET, NAME, CTX, FAR, LEN, __VA_ARGS__)

/* The place of a put with a signal is the signal's. */
#define ON_PUT_SIGNAL(NAME, CTX, FAR, SOURCE, LEN, SIGNAL, OP, PE, NBI, ...)                                           \
    TRACE_MOVE((NBI) ? TRACE_PUT_SIGNAL_NBI : TRACE_PUT_SIGNAL, NAME, CTX, AT(CTX, SIGNAL, PE), LEN, __VA_ARGS__)
#define ON_SIGNAL(NAME, CTX, SIGNAL, OP, PE, ...)                                                                      \
    TRACE_MOVE(TRACE_SIGNAL, NAME, CTX, AT(CTX, SIGNAL, PE), 0, __VA_ARGS__)
#define ON_GPTR_PUT_SIGNAL(NAME, CTX, FAR, SOURCE, LEN, SIGNAL, NBI, ...)                                              \
    TRACE_CALL((NBI) ? TRACE_PUT_SIGNAL_NBI : TRACE_PUT_SIGNAL, NAME, (FAR).pe, LEN, trace_gptr_place(SIGNAL),         \
               trace_context(CTX), __VA_ARGS__)

#define ON_STRIDED(NAME, CTX, FAR, NEAR, FAR_STRIDE, NEAR_STRIDE, ELEM, N, GET, OK, ...)                               \
    TRACE_MOVE((GET) ? TRACE_GET : TRACE_PUT, NAME, CTX, FAR, (N) * (ELEM), __VA_ARGS__)
#define ON_BLOCKED(NAME, CTX, FAR, PE, NEAR, FAR_STRIDE, NEAR_STRIDE, ELEM, LEN, N, GET, ...)                          \
    TRACE_MOVE((GET) ? TRACE_GET : TRACE_PUT, NAME, CTX, AT(CTX, FAR, PE), (N) * (LEN) * (ELEM), __VA_ARGS__)
#define ON_STRIDED_SIGNAL(NAME, CTX, FAR, SOURCE, DST, SST, ELEM, N, SIGNAL, OP, PE, ...)                              \
    ON_PUT_SIGNAL(NAME, CTX, FAR, SOURCE, (N) * (ELEM), SIGNAL, OP, PE, 0, __VA_ARGS__)
#define ON_GPTR_STRIDED_SIGNAL(NAME, CTX, FAR, SOURCE, DST, SST, ELEM, N, SIGNAL, ...)                                 \
    ON_GPTR_PUT_SIGNAL(NAME, CTX, FAR, SOURCE, (N) * (ELEM), SIGNAL, 0, __VA_ARGS__)

#define TRACE_ATOMIC_OF(OP)                    ((OP) == RMA_FETCH_ ? TRACE_FETCH : TRACE_ATOMIC)
#define ON_FETCH(NAME, CTX, FAR, LEN, OP, ...) TRACE_MOVE(TRACE_ATOMIC_OF(OP), NAME, CTX, FAR, 0, __VA_ARGS__)
#define ON_UPDATE(NAME, CTX, FAR, LEN, ...)    TRACE_MOVE(TRACE_ATOMIC, NAME, CTX, FAR, 0, __VA_ARGS__)
#define ON_FETCH_NBI(NAME, CTX, FAR, LEN, OP, FETCH, ...)                                                              \
    TRACE_MOVE(TRACE_ATOMIC_OF(OP), NAME, CTX, FAR, 0, __VA_ARGS__)

/* The pieces of a side, in bytes; 0 for arguments that the library refuses. */
#define PIECES_SECTION(STRIDE, COUNT, DIMS, ELEM)                 trace_bytes_of_section(COUNT, DIMS, ELEM)
#define PIECES_INDEXED(INDEX, ELEM, N)                            ((N) * (ELEM))
#define PIECES_BLOCKS(LIST, N, OTHER, N_OTHER)                    trace_bytes_of_blocks(LIST, N, OTHER, N_OTHER)
#define ON_PUT_PIECES(NAME, CTX, FAR, NBI, SOURCE, TO, FROM, ...) ON_PUT(NAME, CTX, FAR, SOURCE, TO, NBI, __VA_ARGS__)
#define ON_GET_PIECES(NAME, CTX, FAR, NBI, DEST, TO, FROM, ...)   ON_GET(NAME, CTX, DEST, FAR, TO, NBI, __VA_ARGS__)
#define ON_ACCUMULATE(NAME, CTX, FAR, NBI, SOURCE, FETCH, TYPE, OP, TO, FROM, INTO, ...)                               \
    TRACE_MOVE(TRACE_ATOMIC, NAME, CTX, FAR, 0, __VA_ARGS__)

/* Waiting. The PE that ends the wait is found when the records are compared. */
#define TRACE_OWN(KIND, NAME, WORD, ...)   TRACE_CALL(KIND, NAME, -1, 0, trace_place(WORD), 0, __VA_ARGS__)
#define ON_WAIT(NAME, IVAR, LEN, ...)      TRACE_OWN(TRACE_WAIT, NAME, IVAR, __VA_ARGS__)
#define ON_TEST(NAME, IVAR, LEN, ...)      TRACE_OWN(TRACE_TEST, NAME, IVAR, __VA_ARGS__)
#define ON_SIGNAL_FETCH(NAME, SIGNAL, ...) TRACE_OWN(TRACE_TEST, NAME, SIGNAL, __VA_ARGS__)
#define ON_WORDS(NAME, WHAT, WAITS, IVARS, LEN, N, INDICES, STATUS, ...)                                               \
    TRACE_OWN((WAITS) ? TRACE_WAIT : TRACE_TEST, NAME,                                                                 \
              (const char *)(IVARS) + (LEN) * ((WHAT) == RMA_ANY_ && result < (N)     ? result                         \
                                               : (WHAT) == RMA_SOME_ && result && (N) ? (INDICES)[result - 1]          \
                                                                                      : 0),                            \
              __VA_ARGS__)
#define ON_SET_LOCK(NAME, LOCK, GOT, ...)  TRACE_OWN(TRACE_LOCK, NAME, LOCK, __VA_ARGS__)
#define ON_TEST_LOCK(NAME, LOCK, GOT, ...) TRACE_OWN(TRACE_TEST, NAME, LOCK, __VA_ARGS__)
#define ON_CLEAR_LOCK(NAME, LOCK, ...)     TRACE_OWN(TRACE_UNLOCK, NAME, LOCK, __VA_ARGS__)

#define TRACE_ORDER(KIND, NAME, CTX, ...)   TRACE_CALL(KIND, NAME, -1, 0, 0, trace_context(CTX), __VA_ARGS__)
#define ON_QUIET(NAME, CTX, ...)            TRACE_ORDER(TRACE_QUIET, NAME, CTX, __VA_ARGS__)
#define ON_FENCE(NAME, CTX, ...)            TRACE_ORDER(TRACE_FENCE, NAME, CTX, __VA_ARGS__)
#define ON_TEST_QUIET(NAME, CTX, ...)       TRACE_ORDER(TRACE_FENCE, NAME, CTX, __VA_ARGS__)
#define ON_PE_QUIET(NAME, CTX, PES, N, ...) TRACE_ORDER(TRACE_QUIET, NAME, CTX, __VA_ARGS__)
#define ON_PE_FENCE(NAME, CTX, PES, N, ...) TRACE_ORDER(TRACE_FENCE, NAME, CTX, __VA_ARGS__)

/* ---- life cycle, teams and contexts. OpenSHMEM's init and finalize call rma_init_thread and rma_finalize. ---- */

#define ON_INIT(OK, ...)                                                                                               \
    do {                                                                                                               \
        __VA_ARGS__;                                                                                                   \
        if (OK) trace_open();                                                                                          \
    } while (0)
#define ON_FINALIZE(...)                                                                                               \
    do {                                                                                                               \
        int last_ = trace_close();                                                                                     \
        __VA_ARGS__;                                                                                                   \
        if (last_) trace_report();                                                                                     \
    } while (0)
#define ON_SHMEM_INIT(OK, ...) __VA_ARGS__
#define ON_SHMEM_FINALIZE(...) __VA_ARGS__

#define ON_SPLIT(NAME, PARENT, OK, TEAM1, TEAM2, ...)                                                                  \
    TRACE_MEET(TRACE_COLLECTIVE, NAME, trace_team(PARENT), -1, 0, __VA_ARGS__)
#define ON_TEAM_DESTROY(T, ...)     (trace_team_gone(T), __VA_ARGS__)
#define ON_CTX_CREATE(OK, CTX, ...) __VA_ARGS__
#define ON_TEAM_CREATE_CTX(T, OK, CTX, ...)                                                                            \
    do {                                                                                                               \
        __VA_ARGS__;                                                                                                   \
        if (OK) trace_context_made(*(CTX), T);                                                                         \
    } while (0)
#define ON_CTX_DESTROY(CTX, ...) (trace_context_gone(CTX), __VA_ARGS__)

/* ---- memory ---- */

#define TRACE_OF_MEMORY(NAME, PE, SIZE, ...)                                                                           \
    do {                                                                                                               \
        TRACE_CALL(TRACE_MEMORY, NAME, PE, SIZE, 0, 0, __VA_ARGS__);                                                   \
        trace_heap_changed();                                                                                          \
    } while (0)
#define ON_ALLOC_MEM(NAME, BASE, SIZE, ...)     TRACE_OF_MEMORY(NAME, -1, SIZE, __VA_ARGS__)
#define ON_ALLOC_MEM_ON(NAME, PE, G, SIZE, ...) TRACE_OF_MEMORY(NAME, PE, SIZE, __VA_ARGS__)
#define ON_FREE_MEM(NAME, BASE, ...)            TRACE_OF_MEMORY(NAME, -1, 0, __VA_ARGS__)
#define ON_GPTR_FREE(NAME, G, ...)              TRACE_OF_MEMORY(NAME, TRACE_GPTR_PE(G), 0, __VA_ARGS__)
#define ON_ATTACH(NAME, BASE, SIZE, G, ...)     TRACE_OF_MEMORY(NAME, -1, SIZE, __VA_ARGS__)
#define ON_DETACH(NAME, BASE, ...)              TRACE_OF_MEMORY(NAME, -1, 0, __VA_ARGS__)

/* ---- calls in which PEs meet ---- */

#define TRACE_HEAP_MEET(NAME, SIZE, ...)                                                                               \
    do {                                                                                                               \
        TRACE_MEET(TRACE_COLLECTIVE, NAME, WORLD, -1, SIZE, __VA_ARGS__);                                              \
        trace_heap_changed();                                                                                          \
    } while (0)
#define ON_ALLOCATE(NAME, SIZE, ...)              TRACE_HEAP_MEET(NAME, SIZE, __VA_ARGS__)
#define ON_REALLOCATE(NAME, BLOCK, SIZE, ...)     TRACE_HEAP_MEET(NAME, SIZE, __VA_ARGS__)
#define ON_FREE(NAME, BLOCK, CODE, ...)           TRACE_HEAP_MEET(NAME, 0, __VA_ARGS__)
#define ON_BARRIER(NAME, GROUP, QUIET, CODE, ...) TRACE_MEET(TRACE_COLLECTIVE, NAME, GROUP, -1, 0, __VA_ARGS__)
#define ON_EXPOSE(NAME, BASE, SIZE, E, ...)       TRACE_MEET(TRACE_COLLECTIVE, NAME, WORLD, -1, 0, __VA_ARGS__)

#define TRACE_KIND_BROADCAST     TRACE_FROM_ROOT
#define TRACE_KIND_SET_BROADCAST TRACE_FROM_ROOT
#define TRACE_KIND_SCATTER       TRACE_FROM_ROOT
#define TRACE_KIND_GATHER        TRACE_TO_ROOT
#define TRACE_KIND_ROOT_REDUCE   TRACE_TO_ROOT
#define TRACE_KIND_COLLECT       TRACE_COLLECTIVE
#define TRACE_KIND_FCOLLECT      TRACE_COLLECTIVE
#define TRACE_KIND_ALLTOALL      TRACE_COLLECTIVE
#define TRACE_KIND_REDUCE        TRACE_COLLECTIVE
#define TRACE_KIND_SCAN          TRACE_COLLECTIVE
#define ON_COLLECTIVE(SHAPE, NAME, GROUP, ROOT, LEN, CODE, ...)                                                        \
    TRACE_MEET(TRACE_KIND_##SHAPE, NAME, GROUP, ROOT, LEN, __VA_ARGS__)
#define ON_ALLTOALLS(NAME, GROUP, DEST, SOURCE, DST, SST, ELEM, N, CODE, ...)                                          \
    TRACE_MEET(TRACE_COLLECTIVE, NAME, GROUP, -1, (N) * (ELEM), __VA_ARGS__)
