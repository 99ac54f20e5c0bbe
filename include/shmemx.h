/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx.h: calls beyond OpenSHMEM 1.6 that other libraries have, under the names that their programs use; man 7 shmem
 * describes them. librma's other extensions are in rma.h; one program may use both rma.h and OpenSHMEM.
 *
 * The functions are one table, as those of shmem.h (shmem_table.h). */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The team of the PEs of this node: each of them reaches the others' memory by shmem_ptr. */
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED

/* A hint for shmem_malloc_with_hints: the program does not need the barrier at the end of the call. */
#define SHMEMX_MALLOC_NO_BARRIER 4L

/* The counters of a context, which the calls shmemx_pcntr_get_... return one by one. `pending` are those of
 * ..._get_issued_write and ..._read; they also count operations that are already complete. */
typedef struct {
    uint64_t pending_put;
    uint64_t pending_get;
    uint64_t completed_put;
    uint64_t completed_get;
    uint64_t target;
} shmemx_pcntr_t;

/* clang-format off */

/* Older names for calls that shmem.h has since 1.5 and 1.6. */
#define SHMEMX_SIGNAL_CALLS_(X)                                                                         \
    SHMEM_SIGNAL_(X, SYM, shmemx_signal_set, SET) SHMEM_SIGNAL_(X, CTX, shmemx_ctx_signal_set, SET)     \
    SHMEM_SIGNAL_(X, SYM, shmemx_signal_add, ADD) SHMEM_SIGNAL_(X, CTX, shmemx_ctx_signal_add, ADD)
#define SHMEMX_BLOCKS_(X, NAME, TYPE, RNAME)                                                            \
    SHMEM_BLOCKED_(X, SYM, shmemx_##NAME##_ibput, TYPE) SHMEM_BLOCKED_(X, SYM, shmemx_##NAME##_ibget, TYPE) \
    SHMEM_BLOCKED_(X, CTX, shmemx_ctx_##NAME##_ibput, TYPE) SHMEM_BLOCKED_(X, CTX, shmemx_ctx_##NAME##_ibget, TYPE)
#define SHMEMX_SIZED_BLOCKS_(X, F, STEM, BITS, SIZE)                                                    \
    SHMEM_BLOCKED_(X, F, STEM##ibput##BITS, void) SHMEM_BLOCKED_(X, F, STEM##ibget##BITS, void)
#define SHMEMX_BLOCK_CALLS_(X)                                                                          \
    SHMEM_TYPES_(SHMEMX_BLOCKS_, X)                                                                     \
    SHMEM_EACH_SIZE_(SHMEMX_SIZED_BLOCKS_, X, SYM, shmemx_)                                             \
    SHMEM_EACH_SIZE_(SHMEMX_SIZED_BLOCKS_, X, CTX, shmemx_ctx_)
#define SHMEMX_SCANS_(X, NAME, TYPE, RNAME)                                                             \
    SHMEM_REDUCTION_(X, shmemx_##NAME##_sum_inscan, TYPE, nelems)                                       \
    SHMEM_REDUCTION_(X, shmemx_##NAME##_sum_exscan, TYPE, nelems)
#define SHMEMX_SCAN_CALLS_(X) SHMEM_SUM_TYPES_(SHMEMX_SCANS_, X)

/* Counters, and calls that belong to no family. */
#define SHMEMX_OWN_CALLS_(X)                                                                            \
    X(void, shmemx_pcntr_get_issued_write, (shmem_ctx_t ctx, uint64_t *cntr_value), )                   \
    X(void, shmemx_pcntr_get_issued_read, (shmem_ctx_t ctx, uint64_t *cntr_value), )                    \
    X(void, shmemx_pcntr_get_completed_write, (shmem_ctx_t ctx, uint64_t *cntr_value), )                \
    X(void, shmemx_pcntr_get_completed_read, (shmem_ctx_t ctx, uint64_t *cntr_value), )                 \
    X(void, shmemx_pcntr_get_completed_target, (uint64_t *cntr_value), )                                \
    X(void, shmemx_pcntr_get_all, (shmem_ctx_t ctx, shmemx_pcntr_t *pcntr), )                           \
    X(void, shmemx_register_gettid, (uint64_t (*gettid_fn)(void)), )

#define SHMEMX_INLINED_CALLS_(X) SHMEMX_SIGNAL_CALLS_(X)
#define SHMEMX_OTHER_CALLS_(X) SHMEMX_BLOCK_CALLS_(X) SHMEMX_SCAN_CALLS_(X) SHMEMX_OWN_CALLS_(X)

#ifdef SHMEM_PROFILE
SHMEMX_INLINED_CALLS_(SHMEM_DECLARE_)
#else
SHMEMX_INLINED_CALLS_(SHMEM_DEFINE_)
#endif
SHMEMX_OTHER_CALLS_(SHMEM_DECLARE_)

/* The generic forms are those of shmem.h: a tool sees the typed calls of shmem.h. */
#ifndef SHMEM_NO_GENERIC_
#define shmemx_ibput(...) shmem_ibput(__VA_ARGS__)
#define shmemx_ibget(...) shmem_ibget(__VA_ARGS__)
#define shmemx_sum_inscan(...) shmem_sum_inscan(__VA_ARGS__)
#define shmemx_sum_exscan(...) shmem_sum_exscan(__VA_ARGS__)
#endif

/* Also with a context as the first argument. */
#if defined __cplusplus
extern "C++" {
inline void shmemx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) {
    shmemx_ctx_signal_set(ctx, sig_addr, signal, pe);
}
inline void shmemx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) {
    shmemx_ctx_signal_add(ctx, sig_addr, signal, pe);
}
}
#elif __STDC_VERSION__ >= 201112L && !defined SHMEM_NO_GENERIC_
#define shmemx_signal_set(...) SHMEM_PICK3_(__VA_ARGS__, shmemx_ctx_signal_set, shmemx_signal_set, )(__VA_ARGS__)
#define shmemx_signal_add(...) SHMEM_PICK3_(__VA_ARGS__, shmemx_ctx_signal_add, shmemx_signal_add, )(__VA_ARGS__)
#endif

/* clang-format on */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
