/* SPDX-License-Identifier: BSD-3-Clause */
/* count.c: executes each operation n times and 2n times under callgrind, which writes its counts of instructions in
 * between.
 *
 * The difference divided by n is what an operation costs, whatever the start of the program and of the loop took. It is
 * exact and the same in every run as long as the caller waits for nobody. Hence a job of two PEs makes only what PE 0
 * does alone to the memory of PE 1, which sleeps in a barrier meanwhile and is not counted, and a job of one PE makes
 * the collective calls. What a PE waits for in company, and operations to other nodes, have no such count.
 *
 * Global variables are also left out: under valgrind they cannot be moved into shared memory, and are reached in
 * another way.
 *
 * test/perf/check-perf.sh runs it and reads the counts. Without callgrind the requests do nothing. */
#include <rma.h>
#include <shmem.h>

#include "counting.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#define LONG 4096

/* What the operations work on. */
struct place {
    int pe;                  /* the target */
    long *word, *half, *far; /* symmetric: words of an integer and of other types, and LONG bytes */
    uint64_t *signal;        /* symmetric, as the next two */
    rma_lock_t *lock;
    long *ones;             /* 8 words; on this PE each is 1 */
    long *near;             /* LONG bytes */
    double *matrix, *patch; /* symmetric: 128 rows of 1024; and 128 of 128 on this PE */
    ptrdiff_t index[16];
    size_t b8, b64, b4096; /* lengths that the compiler does not know, */
    long one, most;        /* and values */
    rma_ctx *ctx;
    rma_gptr_t symmetric, guest; /* a word of pe, and a block of its local heap */
    rma_gptr_t attached;         /* this PE's own attached memory */
};

static void fail(const char *what) {
    fprintf(stderr, "count: %s: %s\n", what, rma_last_error());
    rma_abort(1);
}

#define OK(call) ((call) == RMA_SUCCESS ? (void)0 : fail(#call))

OPERATION(nothing, )

OPERATION(put_8, USE(rma_put(p.far, p.near, 8, p.pe)))
OPERATION(put_b8, USE(rma_put(p.far, p.near, p.b8, p.pe)))
OPERATION(put_b64, USE(rma_put(p.far, p.near, p.b64, p.pe)))
OPERATION(put_b4096, USE(rma_put(p.far, p.near, p.b4096, p.pe)))
OPERATION(get_8, USE(rma_get(p.near, p.far, 8, p.pe)))
OPERATION(get_b8, USE(rma_get(p.near, p.far, p.b8, p.pe)))
OPERATION(get_b64, USE(rma_get(p.near, p.far, p.b64, p.pe)))
OPERATION(get_b4096, USE(rma_get(p.near, p.far, p.b4096, p.pe)))
OPERATION(p_long, USE(rma_p(p.word, p.one, p.pe)))
OPERATION(g_long, USE(rma_g(p.word, p.pe)))
OPERATION(put_quiet, USE(rma_put(p.far, p.near, 8, p.pe)); USE(rma_quiet()))
OPERATION(put_nbi_quiet, USE(rma_put_nbi(p.far, p.near, 8, p.pe)); USE(rma_quiet()))
OPERATION(get_nbi_quiet, USE(rma_get_nbi(p.near, p.far, 8, p.pe)); USE(rma_quiet()))
OPERATION(quiet, USE(rma_quiet()))
OPERATION(fence, USE(rma_fence()))
OPERATION(test_quiet, USE(rma_test_quiet()))
OPERATION(pe_quiet, USE(rma_pe_quiet(&p.pe, 1)))
OPERATION(put_signal_set, USE(rma_put_signal(p.far, p.near, 8, p.signal, 1, RMA_SIGNAL_SET, p.pe)))
OPERATION(put_signal_add, USE(rma_put_signal(p.far, p.near, 8, p.signal, 1, RMA_SIGNAL_ADD, p.pe)))
OPERATION(put_signal_nbi, USE(rma_put_signal_nbi(p.far, p.near, 8, p.signal, 1, RMA_SIGNAL_SET, p.pe)))
OPERATION(signal_set, USE(rma_signal_set(p.signal, 1, p.pe)))
OPERATION(signal_add, USE(rma_signal_add(p.signal, 1, p.pe)))
OPERATION(signal_fetch, USE(rma_signal_fetch(p.signal)))
OPERATION(iput_16, USE(rma_iput(p.far, p.near, 2, 1, 8, 16, p.pe)))
OPERATION(iget_16, USE(rma_iget(p.near, p.far, 1, 2, 8, 16, p.pe)))

static const ptrdiff_t row[2] = {1024 * sizeof(double), sizeof(double)},
                       packed[2] = {128 * sizeof(double), sizeof(double)};
static const size_t box[2] = {128, 128}, column[2] = {128, 1};
OPERATION(put_section, USE(rma_put_section(p.matrix, p.patch, row, packed, 8, 2, box, p.pe)))
OPERATION(get_section, USE(rma_get_section(p.patch, p.matrix, packed, row, 8, 2, box, p.pe)))
OPERATION(put_column, USE(rma_put_section(p.matrix, p.patch, row, packed + 1, 8, 1, column, p.pe)))
OPERATION(put_indexed, USE(rma_put_indexed(p.matrix, p.patch, p.index, 8, 16, p.pe)))
OPERATION(accumulate_1, USE(rma_accumulate(p.matrix, p.patch, 1, RMA_DOUBLE, RMA_OP_SUM, NULL, p.pe)))
OPERATION(accumulate_1k, USE(rma_accumulate(p.matrix, p.patch, 128, RMA_DOUBLE, RMA_OP_SUM, NULL, p.pe)))
OPERATION(get_accumulate_1, USE(rma_get_accumulate(p.matrix, p.patch, p.near, 1, RMA_DOUBLE, RMA_OP_SUM, NULL, p.pe)))
OPERATION(ptr, USE(rma_ptr(p.far, p.pe)))

OPERATION(a_fetch, USE(rma_atomic_fetch(p.word, p.pe)))
OPERATION(a_set, USE(rma_atomic_set(p.word, p.one, p.pe)))
OPERATION(a_swap, USE(rma_atomic_swap(p.word, p.one, p.pe)))
OPERATION(a_compare_swap, USE(rma_atomic_compare_swap(p.word, p.one, p.one, p.pe)))
OPERATION(a_add, USE(rma_atomic_add(p.word, p.one, p.pe)))
OPERATION(a_fetch_add, USE(rma_atomic_fetch_add(p.word, p.one, p.pe)))
OPERATION(a_inc, USE(rma_atomic_inc(p.word, p.pe)))
OPERATION(a_fetch_inc, USE(rma_atomic_fetch_inc(p.word, p.pe)))
OPERATION(a_and, USE(rma_atomic_and(p.word, p.one, p.pe)))
OPERATION(a_fetch_and, USE(rma_atomic_fetch_and(p.word, p.one, p.pe)))
OPERATION(a_or, USE(rma_atomic_or(p.word, p.one, p.pe)))
OPERATION(a_fetch_or, USE(rma_atomic_fetch_or(p.word, p.one, p.pe)))
OPERATION(a_xor, USE(rma_atomic_xor(p.word, p.one, p.pe)))
OPERATION(a_fetch_xor, USE(rma_atomic_fetch_xor(p.word, p.one, p.pe)))
OPERATION(a_min, USE(rma_atomic_min(p.word, p.most, p.pe)))
OPERATION(a_fetch_min, USE(rma_atomic_fetch_min(p.word, p.most, p.pe)))
OPERATION(a_max, USE(rma_atomic_set(p.word, 0, p.pe)); USE(rma_atomic_max(p.word, p.one, p.pe)))
OPERATION(a_fetch_max, USE(rma_atomic_set(p.word, 0, p.pe)); USE(rma_atomic_fetch_max(p.word, p.one, p.pe)))
OPERATION(a_fetch_add_nbi, USE(rma_atomic_fetch_add_nbi(p.near, p.word, p.one, p.pe)))
OPERATION(a_fetch_add_int, USE(rma_atomic_fetch_add((int *)p.half, 1, p.pe)))
OPERATION(a_add_double, USE(rma_atomic_add((double *)p.half, 1.0, p.pe)))

OPERATION(c_put_8, USE(rma_ctx_put(p.ctx, p.far, p.near, 8, p.pe)))
OPERATION(c_put_b64, USE(rma_ctx_put(p.ctx, p.far, p.near, p.b64, p.pe)))
OPERATION(c_get_8, USE(rma_ctx_get(p.ctx, p.near, p.far, 8, p.pe)))
OPERATION(c_get_b64, USE(rma_ctx_get(p.ctx, p.near, p.far, p.b64, p.pe)))
OPERATION(c_p_long, USE(rma_ctx_p(p.ctx, p.word, p.one, p.pe)))
OPERATION(c_g_long, USE(rma_ctx_g(p.ctx, p.word, p.pe)))
OPERATION(c_put_nbi_quiet, USE(rma_ctx_put_nbi(p.ctx, p.far, p.near, 8, p.pe)); USE(rma_ctx_quiet(p.ctx)))
OPERATION(c_quiet, USE(rma_ctx_quiet(p.ctx)))
OPERATION(c_fence, USE(rma_ctx_fence(p.ctx)))
OPERATION(c_put_signal, USE(rma_ctx_put_signal(p.ctx, p.far, p.near, 8, p.signal, 1, RMA_SIGNAL_SET, p.pe)))
OPERATION(c_a_fetch, USE(rma_ctx_atomic_fetch(p.ctx, p.word, p.pe)))
OPERATION(c_a_set, USE(rma_ctx_atomic_set(p.ctx, p.word, p.one, p.pe)))
OPERATION(c_a_swap, USE(rma_ctx_atomic_swap(p.ctx, p.word, p.one, p.pe)))
OPERATION(c_a_compare_swap, USE(rma_ctx_atomic_compare_swap(p.ctx, p.word, p.one, p.one, p.pe)))
OPERATION(c_a_add, USE(rma_ctx_atomic_add(p.ctx, p.word, p.one, p.pe)))
OPERATION(c_a_fetch_add, USE(rma_ctx_atomic_fetch_add(p.ctx, p.word, p.one, p.pe)))
OPERATION(c_iput_16, USE(rma_ctx_iput(p.ctx, p.far, p.near, 2, 1, 8, 16, p.pe)))
OPERATION(ctx_session, USE(rma_ctx_session_start(p.ctx, RMA_CTX_SESSION_BATCH)); USE(rma_ctx_session_stop(p.ctx)))
OPERATION(ctx_create, rma_ctx *ctx; OK(rma_ctx_create(0, &ctx)); OK(rma_ctx_destroy(ctx)))

OPERATION(gptr, USE(rma_gptr(p.far, p.pe)))
OPERATION(gptr_ptr, USE(rma_gptr_ptr(p.symmetric)))
OPERATION(g_put_8, USE(rma_gptr_put(p.symmetric, p.near, 8)))
OPERATION(g_put_b64, USE(rma_gptr_put(p.symmetric, p.near, p.b64)))
OPERATION(g_get_8, USE(rma_gptr_get(p.near, p.symmetric, 8)))
OPERATION(g_get_b64, USE(rma_gptr_get(p.near, p.symmetric, p.b64)))
OPERATION(g_put_local, USE(rma_gptr_put(p.guest, p.near, 8)))
OPERATION(g_get_local, USE(rma_gptr_get(p.near, p.guest, 8)))
OPERATION(g_get_attached, USE(rma_gptr_get(p.near, p.attached, 8)))
OPERATION(g_put_nbi_quiet, USE(rma_gptr_put_nbi(p.symmetric, p.near, 8)); USE(rma_quiet()))
OPERATION(g_get_nbi_quiet, USE(rma_gptr_get_nbi(p.near, p.symmetric, 8)); USE(rma_quiet()))
OPERATION(g_p_long, USE(rma_gptr_p_long(p.symmetric, p.one)))
OPERATION(g_g_long, USE(rma_gptr_g_long(p.symmetric)))
OPERATION(g_put_signal, USE(rma_gptr_put_signal(p.guest, p.near, 8, p.symmetric, 1, RMA_SIGNAL_SET)))
OPERATION(g_iput_16, USE(rma_gptr_iput(p.guest, p.near, 2, 1, 8, 16)))
OPERATION(g_iget_16, USE(rma_gptr_iget(p.near, p.guest, 1, 2, 8, 16)))
OPERATION(cg_put_8, USE(rma_ctx_gptr_put(p.ctx, p.symmetric, p.near, 8)))
OPERATION(cg_p_long, USE(rma_ctx_gptr_p_long(p.ctx, p.symmetric, p.one)))
OPERATION(cg_g_long, USE(rma_ctx_gptr_g_long(p.ctx, p.symmetric)))
OPERATION(g_a_fetch, USE(rma_gptr_atomic_fetch(p.symmetric)))
OPERATION(g_a_set, USE(rma_gptr_atomic_set(p.symmetric, 1)))
OPERATION(g_a_swap, USE(rma_gptr_atomic_swap(p.symmetric, 1)))
OPERATION(g_a_compare_swap, USE(rma_gptr_atomic_compare_swap(p.symmetric, 1, 1)))
OPERATION(g_a_add, USE(rma_gptr_atomic_add(p.symmetric, 1)))
OPERATION(g_a_fetch_add, USE(rma_gptr_atomic_fetch_add(p.symmetric, 1)))
OPERATION(g_a_local, USE(rma_gptr_atomic_fetch_add(p.guest, 1)))

OPERATION(wait_until, USE(rma_wait_until(p.ones, RMA_CMP_EQ, 1)))
OPERATION(wait_until_any, USE(rma_wait_until_any(p.ones, 8, NULL, RMA_CMP_EQ, 1)))
OPERATION(test, USE(rma_test(p.ones, RMA_CMP_EQ, 1)))
OPERATION(test_vain, USE(rma_test(p.ones, RMA_CMP_NE, 1)))
OPERATION(test_any_vain, USE(rma_test_any(p.ones, 8, NULL, RMA_CMP_NE, 1)))
OPERATION(signal_wait, USE(rma_signal_wait_until((uint64_t *)p.ones, RMA_CMP_EQ, 1)))
OPERATION(lock, OK(rma_set_lock(p.lock)); OK(rma_clear_lock(p.lock)))
OPERATION(test_lock, USE(rma_test_lock(p.lock)); OK(rma_clear_lock(p.lock)))

#define ALLOC_MEM(SIZE)                                                                                                \
    void *block;                                                                                                       \
    OK(rma_alloc_mem(SIZE, &block));                                                                                   \
    OK(rma_free_mem(block))
OPERATION(alloc_64, ALLOC_MEM(64))
OPERATION(alloc_4k, ALLOC_MEM(4096))
OPERATION(alloc_1m, ALLOC_MEM(1 << 20))
OPERATION(alloc_on, rma_gptr_t g; OK(rma_alloc_mem_on(p.pe, 64, &g)); OK(rma_gptr_free(g)))

#define MALLOC(SIZE)                                                                                                   \
    void *block = rma_malloc(SIZE);                                                                                    \
    if (!block) fail("rma_malloc");                                                                                    \
    OK(rma_free(block))
OPERATION(malloc_64, MALLOC(64))
OPERATION(malloc_1m, MALLOC(1 << 20))
OPERATION(barrier_all, OK(rma_barrier_all()))
OPERATION(sync_all, OK(rma_sync_all()))
OPERATION(team_sync, OK(rma_team_sync(RMA_TEAM_SHARED)))
OPERATION(broadcast_8, OK(rma_broadcast(RMA_TEAM_WORLD, p.far, p.word, 8, 0)))
OPERATION(broadcast_4k, OK(rma_broadcast(RMA_TEAM_WORLD, p.far, p.near, LONG, 0)))
OPERATION(sum_1, OK(rma_sum_reduce(RMA_TEAM_WORLD, p.far, p.word, 1)))
OPERATION(sum_512, OK(rma_sum_reduce(RMA_TEAM_WORLD, p.far, p.near, 512)))
OPERATION(sum_root_1, OK(rma_sum_reduce_root(RMA_TEAM_WORLD, p.far, p.word, 1, 0)))
OPERATION(min_scan_1, OK(rma_min_inscan(RMA_TEAM_WORLD, p.far, p.word, 1)))
OPERATION(gather_8, OK(rma_gather(RMA_TEAM_WORLD, p.far, p.word, 8, 0)))
OPERATION(scatter_8, OK(rma_scatter(RMA_TEAM_WORLD, p.far, p.word, 8, 0)))
OPERATION(scan_1, OK(rma_sum_inscan(RMA_TEAM_WORLD, p.far, p.word, 1)))
OPERATION(fcollect_8, OK(rma_fcollect(RMA_TEAM_WORLD, p.far, p.word, 8)))
OPERATION(fcollect_4k, OK(rma_fcollect(RMA_TEAM_WORLD, p.far, p.near, LONG)))
OPERATION(collect_8, OK(rma_collect(RMA_TEAM_WORLD, p.far, p.word, 8)))
OPERATION(alltoall_8, OK(rma_alltoall(RMA_TEAM_WORLD, p.far, p.word, 8)))
OPERATION(alltoall_4k, OK(rma_alltoall(RMA_TEAM_WORLD, p.far, p.near, LONG)))
OPERATION(alltoalls_8, OK(rma_alltoalls(RMA_TEAM_WORLD, p.far, p.near, 2, 1, 8, 16)))

/* OpenSHMEM's, beside the native ones that they stand for. */
OPERATION(osh_put_8, shmem_putmem(p.far, p.near, 8, p.pe))
OPERATION(osh_put_b64, shmem_putmem(p.far, p.near, p.b64, p.pe))
OPERATION(osh_get_b64, shmem_getmem(p.near, p.far, p.b64, p.pe))
OPERATION(osh_p, shmem_long_p(p.word, p.one, p.pe))
OPERATION(osh_g, USE(shmem_long_g(p.word, p.pe)))
OPERATION(osh_fetch_add, USE(shmem_long_atomic_fetch_add(p.word, p.one, p.pe)))
OPERATION(osh_quiet, shmem_quiet())
OPERATION(osh_lock, shmem_set_lock((long *)p.lock); shmem_clear_lock((long *)p.lock))

static const struct operation operations[] = {
    {2, nothing, "loop"}, /* in all others, and taken off them */
    {2, put_8, "put 8 B"},
    {2, put_b8, "put 8 B, length not known to the compiler"},
    {2, put_b64, "put 64 B, length not known"},
    {2, put_b4096, "put 4 KiB, length not known"},
    {2, get_8, "get 8 B"},
    {2, get_b8, "get 8 B, length not known to the compiler"},
    {2, get_b64, "get 64 B, length not known"},
    {2, get_b4096, "get 4 KiB, length not known"},
    {2, p_long, "p"},
    {2, g_long, "g"},
    {2, put_quiet, "put 8 B, quiet"},
    {2, put_nbi_quiet, "put_nbi 8 B, quiet"},
    {2, get_nbi_quiet, "get_nbi 8 B, quiet"},
    {2, quiet, "quiet, nothing pending"},
    {2, fence, "fence"},
    {2, test_quiet, "test_quiet"},
    {2, pe_quiet, "pe_quiet, nothing pending"},
    {2, put_signal_set, "put_signal 8 B, set"},
    {2, put_signal_add, "put_signal 8 B, add"},
    {2, put_signal_nbi, "put_signal_nbi 8 B, set"},
    {2, signal_set, "signal_set"},
    {2, signal_add, "signal_add"},
    {2, signal_fetch, "signal_fetch"},
    {2, iput_16, "iput 16 of 8 B"},
    {2, iget_16, "iget 16 of 8 B"},
    {2, put_section, "put_section 128 x 128 of 8 B"},
    {2, get_section, "get_section 128 x 128 of 8 B"},
    {2, put_column, "put_section 128 of 8 B, 8 KiB apart"},
    {2, put_indexed, "put_indexed 16 of 8 B"},
    {2, accumulate_1, "accumulate 1 double"},
    {2, accumulate_1k, "accumulate 128 doubles"},
    {2, get_accumulate_1, "get_accumulate 1 double"},
    {2, ptr, "ptr"},

    {2, a_fetch, "atomic_fetch"},
    {2, a_set, "atomic_set"},
    {2, a_swap, "atomic_swap"},
    {2, a_compare_swap, "atomic_compare_swap"},
    {2, a_add, "atomic_add"},
    {2, a_fetch_add, "atomic_fetch_add"},
    {2, a_inc, "atomic_inc"},
    {2, a_fetch_inc, "atomic_fetch_inc"},
    {2, a_and, "atomic_and"},
    {2, a_fetch_and, "atomic_fetch_and"},
    {2, a_or, "atomic_or"},
    {2, a_fetch_or, "atomic_fetch_or"},
    {2, a_xor, "atomic_xor"},
    {2, a_fetch_xor, "atomic_fetch_xor"},
    {2, a_min, "atomic_min that changes nothing"},
    {2, a_fetch_min, "atomic_fetch_min that changes nothing"},
    {2, a_max, "atomic_set, atomic_max"},
    {2, a_fetch_max, "atomic_set, atomic_fetch_max"},
    {2, a_fetch_add_nbi, "atomic_fetch_add_nbi"},
    {2, a_fetch_add_int, "atomic_fetch_add of int"},
    {2, a_add_double, "atomic_add of double"},

    {2, c_put_8, "ctx_put 8 B"},
    {2, c_put_b64, "ctx_put 64 B, length not known"},
    {2, c_get_8, "ctx_get 8 B"},
    {2, c_get_b64, "ctx_get 64 B, length not known"},
    {2, c_p_long, "ctx_p"},
    {2, c_g_long, "ctx_g"},
    {2, c_put_nbi_quiet, "ctx_put_nbi 8 B, ctx_quiet"},
    {2, c_quiet, "ctx_quiet, nothing pending"},
    {2, c_fence, "ctx_fence"},
    {2, c_put_signal, "ctx_put_signal 8 B, set"},
    {2, c_a_fetch, "ctx_atomic_fetch"},
    {2, c_a_set, "ctx_atomic_set"},
    {2, c_a_swap, "ctx_atomic_swap"},
    {2, c_a_compare_swap, "ctx_atomic_compare_swap"},
    {2, c_a_add, "ctx_atomic_add"},
    {2, c_a_fetch_add, "ctx_atomic_fetch_add"},
    {2, c_iput_16, "ctx_iput 16 of 8 B"},
    {2, ctx_session, "ctx_session_start, ctx_session_stop"},
    {2, ctx_create, "ctx_create, ctx_destroy"},

    {2, gptr, "gptr"},
    {2, gptr_ptr, "gptr_ptr"},
    {2, g_put_8, "gptr_put 8 B"},
    {2, g_put_b64, "gptr_put 64 B, length not known"},
    {2, g_get_8, "gptr_get 8 B"},
    {2, g_get_b64, "gptr_get 64 B, length not known"},
    {2, g_put_local, "gptr_put 8 B to a local heap"},
    {2, g_get_local, "gptr_get 8 B from a local heap"},
    {2, g_get_attached, "gptr_get 8 B from own attached memory"},
    {2, g_put_nbi_quiet, "gptr_put_nbi 8 B, quiet"},
    {2, g_get_nbi_quiet, "gptr_get_nbi 8 B, quiet"},
    {2, g_p_long, "gptr_p_long"},
    {2, g_g_long, "gptr_g_long"},
    {2, g_put_signal, "gptr_put_signal SET, 8 B"},
    {2, g_iput_16, "gptr_iput 16 of 8 B"},
    {2, g_iget_16, "gptr_iget 16 of 8 B"},
    {2, cg_put_8, "ctx_gptr_put 8 B"},
    {2, cg_p_long, "ctx_gptr_p_long"},
    {2, cg_g_long, "ctx_gptr_g_long"},
    {2, g_a_fetch, "gptr_atomic_fetch"},
    {2, g_a_set, "gptr_atomic_set"},
    {2, g_a_swap, "gptr_atomic_swap"},
    {2, g_a_compare_swap, "gptr_atomic_compare_swap"},
    {2, g_a_add, "gptr_atomic_add"},
    {2, g_a_fetch_add, "gptr_atomic_fetch_add"},
    {2, g_a_local, "gptr_atomic_fetch_add in a local heap"},

    {2, wait_until, "wait_until, holds"},
    {2, wait_until_any, "wait_until_any of 8, holds"},
    {2, test, "test, holds"},
    {2, test_vain, "test in vain"},
    {2, test_any_vain, "test_any of 8 in vain"},
    {2, signal_wait, "signal_wait_until, holds"},
    {2, lock, "set_lock, clear_lock"},
    {2, test_lock, "test_lock, clear_lock"},

    {2, alloc_64, "alloc_mem, free_mem 64 B"},
    {2, alloc_4k, "alloc_mem, free_mem 4 KiB"},
    {2, alloc_1m, "alloc_mem, free_mem 1 MiB"},
    {2, alloc_on, "alloc_mem_on, gptr_free 64 B"},

    {1, malloc_64, "malloc, free 64 B, 1 PE"},
    {1, malloc_1m, "malloc, free 1 MiB, 1 PE"},
    {1, barrier_all, "barrier_all, 1 PE"},
    {1, sync_all, "sync_all, 1 PE"},
    {1, team_sync, "team_sync, 1 PE"},
    {1, broadcast_8, "broadcast 8 B, 1 PE"},
    {1, broadcast_4k, "broadcast 4 KiB, 1 PE"},
    {1, sum_1, "sum_reduce 1 long, 1 PE"},
    {1, sum_512, "sum_reduce 512 longs, 1 PE"},
    {1, sum_root_1, "sum_reduce_root 1 long, 1 PE"},
    {1, scan_1, "sum_inscan 1 long, 1 PE"},
    {1, min_scan_1, "min_inscan 1 long, 1 PE"},
    {1, gather_8, "gather 8 B, 1 PE"},
    {1, scatter_8, "scatter 8 B, 1 PE"},
    {1, fcollect_8, "fcollect 8 B, 1 PE"},
    {1, fcollect_4k, "fcollect 4 KiB, 1 PE"},
    {1, collect_8, "collect 8 B, 1 PE"},
    {1, alltoall_8, "alltoall 8 B, 1 PE"},
    {1, alltoall_4k, "alltoall 4 KiB, 1 PE"},
    {1, alltoalls_8, "alltoalls 16 of 8 B, 1 PE"},
    {2, osh_put_8, "shmem_putmem 8 B"},
    {2, osh_put_b64, "shmem_putmem 64 B, length not known"},
    {2, osh_get_b64, "shmem_getmem 64 B, length not known"},
    {2, osh_p, "shmem_long_p"},
    {2, osh_g, "shmem_long_g"},
    {2, osh_fetch_add, "shmem_long_atomic_fetch_add"},
    {2, osh_quiet, "shmem_quiet, nothing pending"},
    {2, osh_lock, "shmem_set_lock, shmem_clear_lock"},
};

/* What the counts depend on, as this program was compiled. */
static void print_facts(void) {
#ifdef __clang__
    printf("compiler clang-%d %s\n", __clang_major__, __clang_version__);
#else
    printf("compiler gcc-%d %s\n", __GNUC__, __VERSION__);
#endif
    printf("flags %s\n", COUNT_FLAGS);
    printf("defaults");
#ifdef __pie__
    printf(" pie");
#endif
#ifdef __CET__
    printf(" cet");
#endif
#if defined __SSP__ || defined __SSP_STRONG__ || defined __SSP_ALL__
    printf(" ssp");
#endif
#ifdef _FORTIFY_SOURCE
    printf(" fortify");
#endif
    printf("\n");
#ifdef __GLIBC__
    printf("libc glibc %s\n", gnu_get_libc_version());
#else
    printf("libc unknown\n");
#endif
}

int main(int argc, char **argv) {
    static long near[LONG / sizeof(long)] __attribute__((aligned(4096)));
    static long own[8];
    static double patch[128 * 128];
    double *matrix;
    struct place p = {.b8 = 8, .b64 = 64, .b4096 = LONG, .one = 1, .most = LONG_MAX};
    char *block;

    if (argc == 2 && strcmp(argv[1], "--facts") == 0) {
        print_facts();
#ifdef NOT_COUNTED
        return 1;
#else
        return 0;
#endif
    }
    if (argc > 1) {
        fprintf(stderr, "usage: count [--facts]\n");
        return 2;
    }
    OK(rma_init());
    if (!(block = rma_calloc(1, 4 * LONG))) fail("rma_calloc");
    if (!(matrix = rma_calloc(128 * 1024, sizeof *matrix))) fail("rma_calloc");
    if (rma_my_pe() == 0) {
        int pes = rma_n_pes();
        /* The compiler knows none of these. */
        __asm__ volatile("" : "+r"(p.b8), "+r"(p.b64), "+r"(p.b4096), "+r"(p.one), "+r"(p.most));
        p.pe = pes - 1;
        if (!rma_on_node(p.pe)) fail("PE 1 is on another node");
        p.far = (long *)block;
        p.word = p.far + LONG / sizeof(long);
        p.half = p.word + 8;
        p.signal = (uint64_t *)(p.half + 8);
        p.lock = (rma_lock_t *)(p.signal + 8);
        p.ones = (long *)(p.lock + 8);
        for (int i = 0; i < 8; i++) p.ones[i] = 1;
        p.near = near;
        p.matrix = matrix;
        p.patch = patch;
        for (int i = 0; i < 16; i++) p.index[i] = i * 37 % 16 * 50;
        OK(rma_ctx_create(0, &p.ctx));
        p.symmetric = rma_gptr(p.word, p.pe);
        OK(rma_alloc_mem_on(p.pe, LONG, &p.guest));
        OK(rma_attach(own, sizeof own, &p.attached));
        CALLGRIND_START_INSTRUMENTATION;
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
            if (operations[i].pes == pes) measure(i, &operations[i], &p);
        CALLGRIND_STOP_INSTRUMENTATION;
        OK(rma_detach(own));
    }
    OK(rma_barrier_all());
    OK(rma_free(matrix));
    OK(rma_free(block));
    return rma_finalize();
}
