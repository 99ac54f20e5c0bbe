/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.h: the common part of the benchmarks that move bytes between the two PEs of a pair. */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "bench.h"

/* Blocks of the same size on each PE of the job, page-aligned if the program chooses, all pages touched. */
struct bench_pair {
    bool gets;         /* the program's: the origin gets from its target; else it puts */
    size_t size;       /* of each block, whole pages */
    char *own;         /* ordinary memory of this PE */
    char *heap;        /* this PE's block of librma's memory, symmetric unless --way: then so is the peer's */
    rma_gptr_t target; /* the peer's block */
    char *peer;        /* the peer's heap by load and store; null if the peer is off-node, and for bystanders */
    char *base;        /* this PE's part of win */
    MPI_Win win;       /* of MPI_Win_allocate over all PEs, inside lock_all; with --way bench_dynamic_window's */
    MPI_Aint disp;     /* of the peer's part in win */
};

extern struct bench_pair pair;

/* bench_pair_open: allocate, and set bench.on_node. Collective. If memory is short, ends the program on all PEs with
 * code 1 and the library's own text. */
void bench_pair_open(size_t size);

/* bench_pair_close: free everything: MPI ends the job if a window still exists at its end. Collective. */
void bench_pair_close(void);

/* bench_dynamic_window: make a window of MPI_Win_create_dynamic over all PEs, whose errors are returned, and begin
 * MPI_Win_lock_all on it. Returns whether MPI has one that supports put and get; if not, *win is MPI_WIN_NULL.
 * bench_dynamic_window_free: free the window, if there is one; memory must have been detached. Collective. */
bool bench_dynamic_window(MPI_Win *win);
void bench_dynamic_window_free(MPI_Win *win);

/* bench_pair_check: a check for methods that copy bench.size bytes from `from` on one PE of each pair, that of
 * from_role, to `to` on the other one: fills both with different bytes, runs m once, compares. Each PE passes its own
 * addresses. win is the window that one of the buffers belongs to, or MPI_WIN_NULL. Collective. Returns wrong bytes
 * where `to` is, 0 elsewhere.
 *
 * bench_pair_check_heap, bench_pair_check_window: the same for the pair's own, and its heap or its base. */
size_t bench_pair_check(const struct bench_method *m, char *from, enum bench_role from_role, char *to, MPI_Win win);
size_t bench_pair_check_heap(const struct bench_method *m);
size_t bench_pair_check_window(const struct bench_method *m);

/* bench_pair_fill, bench_pair_wrong: write bench.size bytes that differ for each of 256 seeds, and count the bytes that
 * are not as written. Local. */
void bench_pair_fill(char *p, unsigned seed);
size_t bench_pair_wrong(const char *p, unsigned seed);

/* The function NAME: seconds of n times the statements, which move len = bench.size bytes to `to` from `from`. The
 * statements may use peer, the target, and i. If KNOWN is true, the compiler knows the lengths of scalars. */
#define BENCH_PAIR_LOOP(NAME, KNOWN, TO, FROM, ...)                                                                    \
    BENCH_INLINE double NAME##_loop(long n, size_t len) {                                                              \
        __typeof__(TO) to = TO;                                                                                        \
        __typeof__(FROM) from = FROM;                                                                                  \
        char *own = pair.own;                                                                                          \
        const int peer = bench.peer;                                                                                   \
        double start = rma_wtime();                                                                                    \
        (void)peer;                                                                                                    \
        for (long i = 0; i < n; i++) {                                                                                 \
            __VA_ARGS__;                                                                                               \
            bench_keep(own);                                                                                           \
        }                                                                                                              \
        return rma_wtime() - start;                                                                                    \
    }                                                                                                                  \
    static double NAME(long n) { return BENCH_BY_SIZE(NAME##_loop, n, KNOWN); }

#endif
