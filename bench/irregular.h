/* SPDX-License-Identifier: BSD-3-Clause */
/* irregular.h: what the benchmarks share in which all PEs access random words of a table that is spread over all PEs: a
 * histogram and an index gather, after the programs of these names in Bale (J. DeVinney, M. Haines, K. Hermosillo et
 * al., "Bale", the Institute for Defense Analyses' Center for Computing Sciences).
 *
 * A PE begins as many accesses as --window says, and completes them. The k-th access of a PE is found from the two
 * numbers alone, so a check can find those of all PEs again.
 *
 * The exchange is how programs access irregular memory by hand (Bale's exstack): a PE puts what it wants into a bucket
 * for each PE; when one of its buckets is full, or nothing is left, it calls an alltoall of all buckets, and does what
 * the others want of it. All PEs go on until none has anything left. */
#ifndef BENCH_IRREGULAR_H
#define BENCH_IRREGULAR_H

#include "bench.h"

struct irregular {
    uint64_t *table;     /* symmetric: this PE's words, */
    uint64_t *base;      /* and its part of win */
    MPI_Win win;         /* of MPI_Win_allocate over all PEs, inside lock_all */
    uint64_t *out, *in;  /* a block for each PE: a head, and room for `bucket` words */
    long window, bucket; /* options */
    uint64_t drawn;      /* accesses of each PE so far */
};

extern struct irregular irregular;
extern const struct bench_option irregular_options[];

/* Which word an access is for. */
struct irregular_access {
    int pe;
    uint64_t word;
};

BENCH_INLINE struct irregular_access irregular_access(int by, uint64_t k) {
    uint64_t x = ((uint64_t)by << 40 | k) + 0x9e3779b97f4a7c15u; /* the finalizer of splitmix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (struct irregular_access){.pe = (int)((x >> 32) * (uint64_t)bench.n_pes >> 32),
                                     .word = (uint64_t)(uint32_t)x * (bench.size / sizeof(uint64_t)) >> 32};
}

/* irregular_open: allocate tables of bench.sizes.max bytes, zero, and the blocks. hints are those of MPI's window.
 * Collective, as irregular_close. */
void irregular_open(MPI_Info hints);
void irregular_close(void);

/* The block for or from a PE. Its head is twice the number of its words; the lowest bit is set if its PE has nothing
 * left. */
BENCH_INLINE uint64_t *irregular_block(uint64_t *blocks, int pe) {
    return blocks + (size_t)pe * (size_t)(irregular.bucket + 1);
}
BENCH_INLINE uint64_t irregular_words(const uint64_t *block) { return block[0] >> 1; }

/* irregular_swap: block PE of `to` is block bench.pe of that PE's `from`. By librma's alltoall or MPI's. Collective.
 * irregular_mark: write to the heads whether something is left. irregular_all_through: 1 if nothing is left on any PE,
 * by the heads that have come. irregular_empty: empty all buckets. */
void irregular_swap(const uint64_t *from, uint64_t *to, bool by_mpi);
void irregular_mark(bool nothing_left);
bool irregular_all_through(void);
void irregular_empty(void);

/* irregular_loop: n accesses of this PE, `access` for each, `complete` after each window; returns seconds. k of
 * access is its place in the window. */
BENCH_INLINE double irregular_loop(long n, void (*together)(void), void (*access)(struct irregular_access a, long k),
                                   void (*complete)(void)) {
    uint64_t next = irregular.drawn;
    together();
    double start = rma_wtime();
    for (long left = n; left > 0;) {
        long some = left < irregular.window ? left : irregular.window;
        for (long k = 0; k < some; k++) access(irregular_access(bench.pe, next++), k);
        complete();
        left -= some;
    }
    double time = rma_wtime() - start;
    irregular.drawn = next;
    return time;
}

/* Three ways to meet before the clock starts, and to complete. */
void irregular_meet(void);
void irregular_complete_rma(void);
void irregular_complete_mpi(void);

#endif
