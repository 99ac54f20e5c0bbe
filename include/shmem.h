/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem.h: OpenSHMEM 1.6 on librma. The specification (openshmem.org) is the manual of the calls; shmem(7) says what is
 * particular to this library. This header has the whole C interface, including everything deprecated since 1.0, and the
 * generic forms for C11.
 *
 * Calls that move data, update words, order or wait are compiled into the program, as the native calls are (rma.h). A
 * program or a tool that is compiled with SHMEM_PROFILE defined calls functions instead, so that a profiling library
 * can define these functions (pshmem.h). With SHMEM_PROFILE this header declares nothing but the specification's names.
 *
 * Names that end with an underscore are internal to the header. */
#ifndef SHMEM_H
#define SHMEM_H

#include <stddef.h>
#include <stdint.h>

/* By the rules of inline before C99, each file that includes this header would define the inlined calls, and two such
 * files would not link. So a program that is compiled by these rules calls functions. */
#if defined __GNUC_GNU_INLINE__ && !defined SHMEM_PROFILE
#define SHMEM_PROFILE
#endif

#ifndef SHMEM_PROFILE
#define RMA_NO_TYPED_
#include <rma.h>
#undef RMA_NO_TYPED_
#endif

#include <shmem_table.h>
#ifdef __cplusplus
#include <rma_complex.h>
#endif

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" /* the inlined calls are C too */
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif

#pragma GCC visibility push(default)

/* ---- constants ---- */

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_VENDOR_STRING "librma 0.4.0"
#define LIBRMA_SHMEM        400 /* this header is librma's; 10000 * major + 100 * minor + patch version */
#define SHMEM_MAX_NAME_LEN  64

#define SHMEM_THREAD_SINGLE     0
#define SHMEM_THREAD_FUNNELED   1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE   3

#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_NE 1
#define SHMEM_CMP_GT 2
#define SHMEM_CMP_GE 3
#define SHMEM_CMP_LT 4
#define SHMEM_CMP_LE 5

#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

/* Hints and options, to be or'ed. */
#define SHMEM_MALLOC_ATOMICS_REMOTE 1L
#define SHMEM_MALLOC_SIGNAL_REMOTE  2L
#define SHMEM_CTX_SERIALIZED        1L
#define SHMEM_CTX_PRIVATE           2L
#define SHMEM_CTX_NOSTORE           4L
#define SHMEM_CTX_SESSION_BATCH     1L

/* Members of the configurations, for their masks. */
#define SHMEM_TEAM_NUM_CONTEXTS     1L
#define SHMEM_CTX_SESSION_TOTAL_OPS 1L

/* Work arrays of active sets: one counter for each round of a barrier of up to 2^24 PEs, and two words that only the
 * array's own PE uses. */
#define SHMEM_SYNC_VALUE              0L
#define SHMEM_SYNC_SIZE               32
#define SHMEM_BARRIER_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE         SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE        SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 16

/* Deprecated since 1.3. */
#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* ---- handles: those of rma.h ---- */

#ifdef __cplusplus
#define SHMEM_HANDLE_(TYPE, n) reinterpret_cast<TYPE>(static_cast<uintptr_t>(n))
#define SHMEM_NO_HANDLE_(TYPE) static_cast<TYPE>(nullptr)
#else
#define SHMEM_HANDLE_(TYPE, n) ((TYPE)(n))
#define SHMEM_NO_HANDLE_(TYPE) ((TYPE)0)
#endif

typedef struct rma_team *shmem_team_t;
typedef struct rma_ctx *shmem_ctx_t;

#define SHMEM_TEAM_INVALID SHMEM_NO_HANDLE_(shmem_team_t)
#define SHMEM_TEAM_WORLD   SHMEM_HANDLE_(shmem_team_t, 1)
#define SHMEM_TEAM_SHARED  SHMEM_HANDLE_(shmem_team_t, 2)
#define SHMEM_CTX_INVALID  SHMEM_NO_HANDLE_(shmem_ctx_t)
#define SHMEM_CTX_DEFAULT  SHMEM_HANDLE_(shmem_ctx_t, 1)

typedef struct {
    int num_contexts;
} shmem_team_config_t;

typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;

__extension__ typedef float _Complex shmem_complexf_; /* C++ has them by extension */
__extension__ typedef double _Complex shmem_complexd_;

/* ---- functions ---- */

#ifdef SHMEM_PROFILE
SHMEM_INLINED_CALLS_(SHMEM_DECLARE_)
#else
SHMEM_INLINED_CALLS_(SHMEM_DEFINE_)
#endif
SHMEM_OTHER_CALLS_(SHMEM_DECLARE_)

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

/* ---- generic forms: macros in C11, overloads in C++. A type outside the table is a compile-time error that names the
 * macro or the function. ---- */

#if !defined __cplusplus && __STDC_VERSION__ >= 201112L && !defined SHMEM_NO_GENERIC_
/* clang-format off */

#define SHMEM_CASE_(CALL, NAME, TYPE, RNAME) , TYPE: shmem_##NAME##CALL
#define SHMEM_CTX_CASE_(CALL, NAME, TYPE, RNAME) , TYPE: shmem_ctx_##NAME##CALL

/* The first argument's pointed-to type selects the function; after a context or a team, that of the second argument. */
#define SHMEM_FRONT_(TYPES, CALL, first, ...) _Generic(*(first) TYPES(SHMEM_CASE_, CALL))(first, __VA_ARGS__)
#define SHMEM_CTX_FRONT_(TYPES, CALL, ctx, first, ...) _Generic(*(first) TYPES(SHMEM_CTX_CASE_, CALL))(ctx, first, \
    __VA_ARGS__)
#define SHMEM_TEAM_FRONT_(TYPES, CALL, team, first, ...) _Generic(*(first) TYPES(SHMEM_CASE_, CALL))(team, first, \
    __VA_ARGS__)

/* If a call has one argument more than its form without a context, its first argument is a context. SHMEM_PICK4_ is for
 * calls that have 4 arguments without a context. */
#define SHMEM_PICK2_(a, b, c, pick, ...) pick
#define SHMEM_PICK3_(a, b, c, d, pick, ...) pick
#define SHMEM_PICK4_(a, b, c, d, e, pick, ...) pick
#define SHMEM_PICK5_(a, b, c, d, e, f, pick, ...) pick
#define SHMEM_PICK6_(a, b, c, d, e, f, g, pick, ...) pick
#define SHMEM_PICK7_(a, b, c, d, e, f, g, h, pick, ...) pick
#define SHMEM_OF2_(TYPES, CALL, ...) SHMEM_PICK2_(__VA_ARGS__, SHMEM_CTX_FRONT_, SHMEM_FRONT_, )(TYPES, CALL, \
    __VA_ARGS__)
#define SHMEM_OF3_(TYPES, CALL, ...) SHMEM_PICK3_(__VA_ARGS__, SHMEM_CTX_FRONT_, SHMEM_FRONT_, )(TYPES, CALL, \
    __VA_ARGS__)
#define SHMEM_OF4_(TYPES, CALL, ...) SHMEM_PICK4_(__VA_ARGS__, SHMEM_CTX_FRONT_, SHMEM_FRONT_, )(TYPES, CALL, \
    __VA_ARGS__)
#define SHMEM_OF5_(TYPES, CALL, ...) SHMEM_PICK5_(__VA_ARGS__, SHMEM_CTX_FRONT_, SHMEM_FRONT_, )(TYPES, CALL, \
    __VA_ARGS__)
#define SHMEM_OF6_(TYPES, CALL, ...) SHMEM_PICK6_(__VA_ARGS__, SHMEM_CTX_FRONT_, SHMEM_FRONT_, )(TYPES, CALL, \
    __VA_ARGS__)
#define SHMEM_OF7_(TYPES, CALL, ...) SHMEM_PICK7_(__VA_ARGS__, SHMEM_CTX_FRONT_, SHMEM_FRONT_, )(TYPES, CALL, \
    __VA_ARGS__)

#define shmem_put(...) SHMEM_OF4_(SHMEM_DISTINCT_TYPES_, _put, __VA_ARGS__)
#define shmem_get(...) SHMEM_OF4_(SHMEM_DISTINCT_TYPES_, _get, __VA_ARGS__)
#define shmem_put_nbi(...) SHMEM_OF4_(SHMEM_DISTINCT_TYPES_, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SHMEM_OF4_(SHMEM_DISTINCT_TYPES_, _get_nbi, __VA_ARGS__)
#define shmem_p(...) SHMEM_OF3_(SHMEM_DISTINCT_TYPES_, _p, __VA_ARGS__)
#define shmem_g(...) SHMEM_OF2_(SHMEM_DISTINCT_TYPES_, _g, __VA_ARGS__)
#define shmem_iput(...) SHMEM_OF6_(SHMEM_DISTINCT_TYPES_, _iput, __VA_ARGS__)
#define shmem_iget(...) SHMEM_OF6_(SHMEM_DISTINCT_TYPES_, _iget, __VA_ARGS__)
#define shmem_ibput(...) SHMEM_OF7_(SHMEM_DISTINCT_TYPES_, _ibput, __VA_ARGS__)
#define shmem_ibget(...) SHMEM_OF7_(SHMEM_DISTINCT_TYPES_, _ibget, __VA_ARGS__)
#define shmem_put_signal(...) SHMEM_OF7_(SHMEM_DISTINCT_TYPES_, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHMEM_OF7_(SHMEM_DISTINCT_TYPES_, _put_signal_nbi, __VA_ARGS__)
#define shmem_signal_set(...) SHMEM_PICK3_(__VA_ARGS__, shmem_ctx_signal_set, shmem_signal_set, )(__VA_ARGS__)
#define shmem_signal_add(...) SHMEM_PICK3_(__VA_ARGS__, shmem_ctx_signal_add, shmem_signal_add, )(__VA_ARGS__)

#define shmem_atomic_fetch(...) SHMEM_OF2_(SHMEM_DISTINCT_ATOMIC_NUMBERS_, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_NUMBERS_, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_NUMBERS_, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_NUMBERS_, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) SHMEM_OF4_(SHMEM_DISTINCT_ATOMIC_NUMBERS_, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) SHMEM_OF4_(SHMEM_DISTINCT_ATOMIC_TYPES_, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) SHMEM_OF5_(SHMEM_DISTINCT_ATOMIC_TYPES_, _atomic_compare_swap_nbi, \
    __VA_ARGS__)
#define shmem_atomic_inc(...) SHMEM_OF2_(SHMEM_DISTINCT_ATOMIC_TYPES_, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) SHMEM_OF2_(SHMEM_DISTINCT_ATOMIC_TYPES_, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_TYPES_, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_add(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_TYPES_, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_TYPES_, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) SHMEM_OF4_(SHMEM_DISTINCT_ATOMIC_TYPES_, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_and(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) SHMEM_OF4_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_or(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) SHMEM_OF4_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_xor(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) SHMEM_OF3_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) SHMEM_OF4_(SHMEM_DISTINCT_ATOMIC_BIT_TYPES_, _atomic_fetch_xor_nbi, __VA_ARGS__)

#define shmem_wait_until(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _wait_until, __VA_ARGS__)
#define shmem_test(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _test, __VA_ARGS__)
#define shmem_wait_until_all(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _wait_until_some_vector, \
    __VA_ARGS__)
#define shmem_test_all(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _test_all, __VA_ARGS__)
#define shmem_test_any(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _test_any, __VA_ARGS__)
#define shmem_test_some(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) SHMEM_FRONT_(SHMEM_DISTINCT_WAIT_TYPES_, _test_some_vector, __VA_ARGS__)

#define shmem_broadcast(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_TYPES_, _broadcast, __VA_ARGS__)
#define shmem_collect(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_TYPES_, _collect, __VA_ARGS__)
#define shmem_fcollect(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_TYPES_, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_TYPES_, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_TYPES_, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_BIT_TYPES_, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_BIT_TYPES_, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_BIT_TYPES_, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_TYPES_, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_TYPES_, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_SUM_TYPES_, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_SUM_TYPES_, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_SUM_TYPES_, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) SHMEM_TEAM_FRONT_(SHMEM_DISTINCT_SUM_TYPES_, _sum_exscan, __VA_ARGS__)

/* With a team: shmem_team_sync. With an active set: the deprecated shmem_sync. */
#define SHMEM_FIRST_(first, ...) first
#define shmem_sync(...) _Generic((SHMEM_FIRST_(__VA_ARGS__, )), shmem_team_t: shmem_team_sync, \
    default: shmem_sync)(__VA_ARGS__)

/* Deprecated since 1.4. */
#define shmem_fetch(...) SHMEM_FRONT_(SHMEM_DISTINCT_ATOMIC_NUMBERS_, _fetch, __VA_ARGS__)
#define shmem_set(...) SHMEM_FRONT_(SHMEM_DISTINCT_ATOMIC_NUMBERS_, _set, __VA_ARGS__)
#define shmem_swap(...) SHMEM_FRONT_(SHMEM_DISTINCT_ATOMIC_NUMBERS_, _swap, __VA_ARGS__)
#define shmem_cswap(...) SHMEM_FRONT_(SHMEM_DISTINCT_ATOMIC_TYPES_, _cswap, __VA_ARGS__)
#define shmem_finc(...) SHMEM_FRONT_(SHMEM_DISTINCT_ATOMIC_TYPES_, _finc, __VA_ARGS__)
#define shmem_inc(...) SHMEM_FRONT_(SHMEM_DISTINCT_ATOMIC_TYPES_, _inc, __VA_ARGS__)
#define shmem_fadd(...) SHMEM_FRONT_(SHMEM_DISTINCT_ATOMIC_TYPES_, _fadd, __VA_ARGS__)
#define shmem_add(...) SHMEM_FRONT_(SHMEM_DISTINCT_ATOMIC_TYPES_, _add, __VA_ARGS__)

/* clang-format on */

#elif defined __cplusplus

/* Inlined at any level of optimisation: a profiling tool or a debugger that asks for the caller finds the program, not
 * these functions. */
#define SHMEM_FORWARD_ inline __attribute__((always_inline))
extern "C++" { /* many programs include C's headers inside extern "C" */
/* A shape has the form of a call without a context and, where there is one, the form with it. */
#define SHMEM_CXX_MOVE_(CALL, NAME, TYPE, RNAME)                                                                       \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *dest, const TYPE *source, size_t n, int pe) {                                \
        shmem_##NAME##CALL(dest, source, n, pe);                                                                       \
    }                                                                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t n, int pe) {               \
        shmem_ctx_##NAME##CALL(ctx, dest, source, n, pe);                                                              \
    }
#define SHMEM_CXX_STRIDED_(CALL, NAME, TYPE, RNAME)                                                                    \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe) {  \
        shmem_##NAME##CALL(dest, source, dst, sst, n, pe);                                                             \
    }                                                                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,     \
                                    size_t n, int pe) {                                                                \
        shmem_ctx_##NAME##CALL(ctx, dest, source, dst, sst, n, pe);                                                    \
    }
#define SHMEM_CXX_BLOCKED_(CALL, NAME, TYPE, RNAME)                                                                    \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,        \
                                    size_t n, int pe) {                                                                \
        shmem_##NAME##CALL(dest, source, dst, sst, bsize, n, pe);                                                      \
    }                                                                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,     \
                                    size_t bsize, size_t n, int pe) {                                                  \
        shmem_ctx_##NAME##CALL(ctx, dest, source, dst, sst, bsize, n, pe);                                             \
    }
#define SHMEM_CXX_SIGNAL_(CALL, NAME, TYPE, RNAME)                                                                     \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *dest, const TYPE *source, size_t n, uint64_t *sig_addr, uint64_t signal,     \
                                    int sig_op, int pe) {                                                              \
        shmem_##NAME##CALL(dest, source, n, sig_addr, signal, sig_op, pe);                                             \
    }                                                                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t n, uint64_t *sig_addr,     \
                                    uint64_t signal, int sig_op, int pe) {                                             \
        shmem_ctx_##NAME##CALL(ctx, dest, source, n, sig_addr, signal, sig_op, pe);                                    \
    }
#define SHMEM_CXX_P_(CALL, NAME, TYPE, RNAME)                                                                          \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *dest, TYPE value, int pe) { shmem_##NAME##CALL(dest, value, pe); }           \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe) {                                 \
        shmem_ctx_##NAME##CALL(ctx, dest, value, pe);                                                                  \
    }
#define SHMEM_CXX_G_(CALL, NAME, TYPE, RNAME)                                                                          \
    SHMEM_FORWARD_ TYPE shmem##CALL(const TYPE *source, int pe) { return shmem_##NAME##CALL(source, pe); }             \
    SHMEM_FORWARD_ TYPE shmem##CALL(shmem_ctx_t ctx, const TYPE *source, int pe) {                                     \
        return shmem_ctx_##NAME##CALL(ctx, source, pe);                                                                \
    }
#define SHMEM_CXX_FETCH_NBI_(CALL, NAME, TYPE, RNAME)                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *fetch, const TYPE *source, int pe) {                                         \
        shmem_##NAME##CALL(fetch, source, pe);                                                                         \
    }                                                                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *fetch, const TYPE *source, int pe) {                        \
        shmem_ctx_##NAME##CALL(ctx, fetch, source, pe);                                                                \
    }
#define SHMEM_CXX_SWAP_(CALL, NAME, TYPE, RNAME)                                                                       \
    SHMEM_FORWARD_ TYPE shmem##CALL(TYPE *dest, TYPE value, int pe) { return shmem_##NAME##CALL(dest, value, pe); }    \
    SHMEM_FORWARD_ TYPE shmem##CALL(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe) {                                 \
        return shmem_ctx_##NAME##CALL(ctx, dest, value, pe);                                                           \
    }
#define SHMEM_CXX_SWAP_NBI_(CALL, NAME, TYPE, RNAME)                                                                   \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *fetch, TYPE *dest, TYPE value, int pe) {                                     \
        shmem_##NAME##CALL(fetch, dest, value, pe);                                                                    \
    }                                                                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest, TYPE value, int pe) {                    \
        shmem_ctx_##NAME##CALL(ctx, fetch, dest, value, pe);                                                           \
    }
#define SHMEM_CXX_CSWAP_(CALL, NAME, TYPE, RNAME)                                                                      \
    SHMEM_FORWARD_ TYPE shmem##CALL(TYPE *dest, TYPE cond, TYPE value, int pe) {                                       \
        return shmem_##NAME##CALL(dest, cond, value, pe);                                                              \
    }                                                                                                                  \
    SHMEM_FORWARD_ TYPE shmem##CALL(shmem_ctx_t ctx, TYPE *dest, TYPE cond, TYPE value, int pe) {                      \
        return shmem_ctx_##NAME##CALL(ctx, dest, cond, value, pe);                                                     \
    }
#define SHMEM_CXX_CSWAP_NBI_(CALL, NAME, TYPE, RNAME)                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe) {                          \
        shmem_##NAME##CALL(fetch, dest, cond, value, pe);                                                              \
    }                                                                                                                  \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe) {         \
        shmem_ctx_##NAME##CALL(ctx, fetch, dest, cond, value, pe);                                                     \
    }
#define SHMEM_CXX_INC_(CALL, NAME, TYPE, RNAME)                                                                        \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *dest, int pe) { shmem_##NAME##CALL(dest, pe); }                              \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *dest, int pe) { shmem_ctx_##NAME##CALL(ctx, dest, pe); }
#define SHMEM_CXX_FINC_(CALL, NAME, TYPE, RNAME)                                                                       \
    SHMEM_FORWARD_ TYPE shmem##CALL(TYPE *dest, int pe) { return shmem_##NAME##CALL(dest, pe); }                       \
    SHMEM_FORWARD_ TYPE shmem##CALL(shmem_ctx_t ctx, TYPE *dest, int pe) {                                             \
        return shmem_ctx_##NAME##CALL(ctx, dest, pe);                                                                  \
    }
#define SHMEM_CXX_FINC_NBI_(CALL, NAME, TYPE, RNAME)                                                                   \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *fetch, TYPE *dest, int pe) { shmem_##NAME##CALL(fetch, dest, pe); }          \
    SHMEM_FORWARD_ void shmem##CALL(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest, int pe) {                                \
        shmem_ctx_##NAME##CALL(ctx, fetch, dest, pe);                                                                  \
    }
#define SHMEM_CXX_OLD_G_(CALL, NAME, TYPE, RNAME)                                                                      \
    SHMEM_FORWARD_ TYPE shmem##CALL(const TYPE *source, int pe) { return shmem_##NAME##CALL(source, pe); }
#define SHMEM_CXX_OLD_P_(CALL, NAME, TYPE, RNAME)                                                                      \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *dest, TYPE value, int pe) { shmem_##NAME##CALL(dest, value, pe); }
#define SHMEM_CXX_OLD_SWAP_(CALL, NAME, TYPE, RNAME)                                                                   \
    SHMEM_FORWARD_ TYPE shmem##CALL(TYPE *dest, TYPE value, int pe) { return shmem_##NAME##CALL(dest, value, pe); }
#define SHMEM_CXX_OLD_CSWAP_(CALL, NAME, TYPE, RNAME)                                                                  \
    SHMEM_FORWARD_ TYPE shmem##CALL(TYPE *dest, TYPE cond, TYPE value, int pe) {                                       \
        return shmem_##NAME##CALL(dest, cond, value, pe);                                                              \
    }
#define SHMEM_CXX_OLD_INC_(CALL, NAME, TYPE, RNAME)                                                                    \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *dest, int pe) { shmem_##NAME##CALL(dest, pe); }
#define SHMEM_CXX_OLD_FINC_(CALL, NAME, TYPE, RNAME)                                                                   \
    SHMEM_FORWARD_ TYPE shmem##CALL(TYPE *dest, int pe) { return shmem_##NAME##CALL(dest, pe); }
#define SHMEM_CXX_WAIT_(CALL, NAME, TYPE, RNAME)                                                                       \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *ivar, int cmp, TYPE value) { shmem_##NAME##CALL(ivar, cmp, value); }
#define SHMEM_CXX_TEST_(CALL, NAME, TYPE, RNAME)                                                                       \
    SHMEM_FORWARD_ int shmem##CALL(TYPE *ivar, int cmp, TYPE value) { return shmem_##NAME##CALL(ivar, cmp, value); }
#define SHMEM_CXX_WAIT_ALL_(CALL, NAME, TYPE, RNAME)                                                                   \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *ivars, size_t n, const int *status, int cmp, TYPE value) {                   \
        shmem_##NAME##CALL(ivars, n, status, cmp, value);                                                              \
    }
#define SHMEM_CXX_TEST_ALL_(CALL, NAME, TYPE, RNAME)                                                                   \
    SHMEM_FORWARD_ int shmem##CALL(TYPE *ivars, size_t n, const int *status, int cmp, TYPE value) {                    \
        return shmem_##NAME##CALL(ivars, n, status, cmp, value);                                                       \
    }
#define SHMEM_CXX_ANY_(CALL, NAME, TYPE, RNAME)                                                                        \
    SHMEM_FORWARD_ size_t shmem##CALL(TYPE *ivars, size_t n, const int *status, int cmp, TYPE value) {                 \
        return shmem_##NAME##CALL(ivars, n, status, cmp, value);                                                       \
    }
#define SHMEM_CXX_SOME_(CALL, NAME, TYPE, RNAME)                                                                       \
    SHMEM_FORWARD_ size_t shmem##CALL(TYPE *ivars, size_t n, size_t *indices, const int *status, int cmp,              \
                                      TYPE value) {                                                                    \
        return shmem_##NAME##CALL(ivars, n, indices, status, cmp, value);                                              \
    }
#define SHMEM_CXX_WAIT_ALL_VECTOR_(CALL, NAME, TYPE, RNAME)                                                            \
    SHMEM_FORWARD_ void shmem##CALL(TYPE *ivars, size_t n, const int *status, int cmp, const TYPE *value) {            \
        shmem_##NAME##CALL(ivars, n, status, cmp, value);                                                              \
    }
#define SHMEM_CXX_TEST_ALL_VECTOR_(CALL, NAME, TYPE, RNAME)                                                            \
    SHMEM_FORWARD_ int shmem##CALL(TYPE *ivars, size_t n, const int *status, int cmp, const TYPE *value) {             \
        return shmem_##NAME##CALL(ivars, n, status, cmp, value);                                                       \
    }
#define SHMEM_CXX_ANY_VECTOR_(CALL, NAME, TYPE, RNAME)                                                                 \
    SHMEM_FORWARD_ size_t shmem##CALL(TYPE *ivars, size_t n, const int *status, int cmp, const TYPE *value) {          \
        return shmem_##NAME##CALL(ivars, n, status, cmp, value);                                                       \
    }
#define SHMEM_CXX_SOME_VECTOR_(CALL, NAME, TYPE, RNAME)                                                                \
    SHMEM_FORWARD_ size_t shmem##CALL(TYPE *ivars, size_t n, size_t *indices, const int *status, int cmp,              \
                                      const TYPE *value) {                                                             \
        return shmem_##NAME##CALL(ivars, n, indices, status, cmp, value);                                              \
    }
#define SHMEM_CXX_BROADCAST_(CALL, NAME, TYPE, RNAME)                                                                  \
    SHMEM_FORWARD_ int shmem##CALL(shmem_team_t team, TYPE *dest, const TYPE *source, size_t n, int root) {            \
        return shmem_##NAME##CALL(team, dest, source, n, root);                                                        \
    }
#define SHMEM_CXX_COLLECT_(CALL, NAME, TYPE, RNAME)                                                                    \
    SHMEM_FORWARD_ int shmem##CALL(shmem_team_t team, TYPE *dest, const TYPE *source, size_t n) {                      \
        return shmem_##NAME##CALL(team, dest, source, n);                                                              \
    }
#define SHMEM_CXX_ALLTOALLS_(CALL, NAME, TYPE, RNAME)                                                                  \
    SHMEM_FORWARD_ int shmem##CALL(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,    \
                                   size_t n) {                                                                         \
        return shmem_##NAME##CALL(team, dest, source, dst, sst, n);                                                    \
    }

SHMEM_DISTINCT_TYPES_(SHMEM_CXX_MOVE_, _put)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_MOVE_, _get)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_MOVE_, _put_nbi)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_MOVE_, _get_nbi)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_STRIDED_, _iput)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_STRIDED_, _iget)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_BLOCKED_, _ibput)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_BLOCKED_, _ibget)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_SIGNAL_, _put_signal)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_SIGNAL_, _put_signal_nbi)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_P_, _p)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_G_, _g)
SHMEM_DISTINCT_ATOMIC_NUMBERS_(SHMEM_CXX_G_, _atomic_fetch)
SHMEM_DISTINCT_ATOMIC_NUMBERS_(SHMEM_CXX_P_, _atomic_set)
SHMEM_DISTINCT_ATOMIC_NUMBERS_(SHMEM_CXX_SWAP_, _atomic_swap)
SHMEM_DISTINCT_ATOMIC_NUMBERS_(SHMEM_CXX_FETCH_NBI_, _atomic_fetch_nbi)
SHMEM_DISTINCT_ATOMIC_NUMBERS_(SHMEM_CXX_SWAP_NBI_, _atomic_swap_nbi)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_CSWAP_, _atomic_compare_swap)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_CSWAP_NBI_, _atomic_compare_swap_nbi)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_INC_, _atomic_inc)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_FINC_, _atomic_fetch_inc)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_FINC_NBI_, _atomic_fetch_inc_nbi)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_P_, _atomic_add)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_SWAP_, _atomic_fetch_add)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_SWAP_NBI_, _atomic_fetch_add_nbi)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_P_, _atomic_and)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_SWAP_, _atomic_fetch_and)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_SWAP_NBI_, _atomic_fetch_and_nbi)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_P_, _atomic_or)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_SWAP_, _atomic_fetch_or)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_SWAP_NBI_, _atomic_fetch_or_nbi)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_P_, _atomic_xor)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_SWAP_, _atomic_fetch_xor)
SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(SHMEM_CXX_SWAP_NBI_, _atomic_fetch_xor_nbi)
SHMEM_DISTINCT_WAIT_TYPES_BUT_LONG_(SHMEM_CXX_WAIT_, _wait_until)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_TEST_, _test)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_WAIT_ALL_, _wait_until_all)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_TEST_ALL_, _test_all)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_ANY_, _wait_until_any)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_ANY_, _test_any)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_SOME_, _wait_until_some)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_SOME_, _test_some)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_WAIT_ALL_VECTOR_, _wait_until_all_vector)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_TEST_ALL_VECTOR_, _test_all_vector)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_ANY_VECTOR_, _wait_until_any_vector)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_ANY_VECTOR_, _test_any_vector)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_SOME_VECTOR_, _wait_until_some_vector)
SHMEM_DISTINCT_WAIT_TYPES_(SHMEM_CXX_SOME_VECTOR_, _test_some_vector)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_BROADCAST_, _broadcast)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_COLLECT_, _collect)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_COLLECT_, _fcollect)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_COLLECT_, _alltoall)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_ALLTOALLS_, _alltoalls)
SHMEM_DISTINCT_BIT_TYPES_(SHMEM_CXX_COLLECT_, _and_reduce)
SHMEM_DISTINCT_BIT_TYPES_(SHMEM_CXX_COLLECT_, _or_reduce)
SHMEM_DISTINCT_BIT_TYPES_(SHMEM_CXX_COLLECT_, _xor_reduce)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_COLLECT_, _max_reduce)
SHMEM_DISTINCT_TYPES_(SHMEM_CXX_COLLECT_, _min_reduce)
SHMEM_DISTINCT_SUM_TYPES_(SHMEM_CXX_COLLECT_, _sum_reduce)
SHMEM_DISTINCT_SUM_TYPES_(SHMEM_CXX_COLLECT_, _prod_reduce)
SHMEM_DISTINCT_SUM_TYPES_(SHMEM_CXX_COLLECT_, _sum_inscan)
SHMEM_DISTINCT_SUM_TYPES_(SHMEM_CXX_COLLECT_, _sum_exscan)
SHMEM_DISTINCT_ATOMIC_NUMBERS_(SHMEM_CXX_OLD_G_, _fetch)
SHMEM_DISTINCT_ATOMIC_NUMBERS_(SHMEM_CXX_OLD_P_, _set)
SHMEM_DISTINCT_ATOMIC_NUMBERS_(SHMEM_CXX_OLD_SWAP_, _swap)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_OLD_CSWAP_, _cswap)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_OLD_FINC_, _finc)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_OLD_INC_, _inc)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_OLD_SWAP_, _fadd)
SHMEM_DISTINCT_ATOMIC_TYPES_(SHMEM_CXX_OLD_P_, _add)

/* shmem_wait_until for long is the function of that name, which is deprecated since 1.4 and does the same. */

inline void shmem_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) {
    shmem_ctx_signal_set(ctx, sig_addr, signal, pe);
}
inline void shmem_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) {
    shmem_ctx_signal_add(ctx, sig_addr, signal, pe);
}

/* With an active set, shmem_sync is the deprecated function. */
inline int shmem_sync(shmem_team_t team) { return shmem_team_sync(team); }

#if __cplusplus >= 201103L
/* std::complex */
#define SHMEM_CXX_COMPLEX_(CALL)                                                                                       \
    template <typename C, typename Z = typename rma_complex_of_<C>::type>                                              \
    SHMEM_FORWARD_ int CALL(shmem_team_t team, C *dest, const C *source, size_t n) {                                   \
        return CALL(team, reinterpret_cast<Z *>(dest), reinterpret_cast<const Z *>(source), n);                        \
    }
SHMEM_CXX_COMPLEX_(shmem_sum_reduce)
SHMEM_CXX_COMPLEX_(shmem_prod_reduce)
SHMEM_CXX_COMPLEX_(shmem_sum_inscan)
SHMEM_CXX_COMPLEX_(shmem_sum_exscan)
#endif
}
#endif

#pragma GCC visibility pop

#endif
