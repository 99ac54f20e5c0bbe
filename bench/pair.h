/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.h: the common part of the benchmarks that move bytes between the two PEs of a pair. */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "bench.h"

/* The kind of librma's memory at the target; the words of --memory. 0 means symmetric memory. */
enum bench_memory {
    BENCH_MEMORY_UNSET = -1, /* symmetric, with --ways local: bench_pair_open chooses */
    BENCH_SYMMETRIC,
    BENCH_LOCAL,   /* rma_alloc_mem */
    BENCH_ATTACHED /* rma_attach */
};
#define BENCH_MEMORY_WORDS "symmetric|local|attached"

/* Blocks of the same size on each PE of the job, page-aligned if the program chooses, all pages touched. */
struct bench_pair {
    int memory;        /* enum bench_memory */
    size_t size;       /* of each block, whole pages */
    char *own;         /* ordinary memory of this PE */
    char *heap;        /* this PE's block of librma's memory; if that is symmetric, the peer's by symmetric address */
    rma_gptr_t target; /* the peer's block */
    char *peer;        /* the peer's heap by load and store; null if the peer is off-node, and for bystanders */
    char *base;        /* this PE's part of win */
    MPI_Win win;       /* of MPI_Win_allocate over all PEs, inside lock_all; with --ways bench_dynamic_window's */
    MPI_Aint disp;     /* of the peer's part in win */
};

/* bench_pair_open: allocate, and set bench.on_node. Collective. If memory is short, ends the program on all PEs with
 * code 1 and the library's own text. */
void bench_pair_open(struct bench_pair *pair, size_t size);

/* bench_pair_close: free everything: MPI ends the job if a window still exists at its end. Collective. */
void bench_pair_close(struct bench_pair *pair);

/* bench_pair_open_heap, bench_pair_close_heap: the same only for librma's memory, of a pair that has been open before,
 * for a spec's open and close. Collective. */
void bench_pair_open_heap(struct bench_pair *pair);
void bench_pair_close_heap(struct bench_pair *pair);

/* bench_pair_check: a check for methods that copy bench.size bytes from `from` on one PE of each pair, that of
 * from_role, to `to` on the other one: fills both with different bytes, runs m once, compares. Each PE passes its own
 * addresses. win is the window that one of the buffers belongs to, or MPI_WIN_NULL. Collective. Returns wrong bytes
 * where `to` is, 0 elsewhere. */
size_t bench_pair_check(const struct bench_method *m, char *from, enum bench_role from_role, char *to, MPI_Win win);

/* bench_pair_fill, bench_pair_wrong: write bench.size bytes that differ for each of 256 seeds, and count the bytes that
 * are not as written. Local. */
void bench_pair_fill(char *p, unsigned seed);
size_t bench_pair_wrong(const char *p, unsigned seed);

/* The columns of --ways: librma's method for messages, the dynamic window and, on symmetric memory, the static one, and
 * MPI's, PAIR_WAY_MPI. bench_way_ratios are the ratios. bench_pair_ways writes the columns, with these functions, into
 * ways. Local. */
enum { PAIR_WAY_MPI = 2, PAIR_WAYS = 4 };
extern const struct bench_ratio bench_way_ratios[];
void bench_pair_ways(const struct bench_pair *pair, const struct bench_method *rma, const struct bench_method *mpi,
                     struct bench_method ways[PAIR_WAYS + 1]);

#endif
