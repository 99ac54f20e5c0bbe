/* SPDX-License-Identifier: BSD-3-Clause */
/* irregular.h: the common part of the benchmarks of irregular access: random words of a table that is distributed over
 * all PEs. A PE begins as many accesses as --window says, and completes them. The k-th access of a PE is a function of
 * these two numbers, so a check can compute those of all PEs.
 *
 * The exchange is how programs aggregate such accesses by hand, after programs of Bale (J. DeVinney, M. Haines, K.
 * Hermosillo et al., "Bale", the Institute for Defense Analyses' Center for Computing Sciences; its exstack): a PE
 * collects its requests in a bucket for each PE; when a bucket is full, or nothing is left, it calls an alltoall of all
 * buckets, and executes the others' requests. All PEs repeat this until none has anything left. */
#ifndef BENCH_IRREGULAR_H
#define BENCH_IRREGULAR_H

#include "bench.h"

struct irregular {
    uint64_t *table;     /* symmetric: this PE's words */
    uint64_t *base;      /* this PE's part of win */
    MPI_Win win;         /* of MPI_Win_allocate over all PEs, inside lock_all */
    uint64_t *out, *in;  /* a block for each PE: a head, and room for `bucket` words */
    long window, bucket; /* options */
    uint64_t drawn;      /* accesses of each PE so far */
};

extern struct irregular irregular;

/* The target word of an access, and a random number. */
struct irregular_access {
    int pe;
    uint64_t word, value;
};

/* The k-th access by a PE, to tables of bench.size bytes. The number is the finalizer of splitmix64; its upper half
 * gives the PE, its lower half the word. */
BENCH_INLINE struct irregular_access irregular_access(int by, uint64_t k) {
    uint64_t x = ((uint64_t)by << 40 | k) + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (struct irregular_access){.pe = (int)((x >> 32) * (uint64_t)bench.n_pes >> 32),
                                     .word = (uint64_t)(uint32_t)x * (bench.size / sizeof(uint64_t)) >> 32,
                                     .value = x};
}

/* irregular_open: allocate tables of bench.sizes.max bytes, zero. irregular_close: free them. Collective. */
void irregular_open(void);
void irregular_close(void);

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

/* Ways to synchronize before the clock starts, and to complete. */
void irregular_meet(void);
void irregular_complete_rma(void);
void irregular_complete_mpi(void);

/* The functions run_plain and run_session, by librma without and with a session of the default context, and run_mpi. */
#define IRREGULAR_RUNS(BY_RMA, BY_MPI)                                                                                 \
    static double run_plain(long n) { return irregular_loop(n, irregular_meet, BY_RMA, irregular_complete_rma); }      \
    static double run_session(long n) {                                                                                \
        BENCH_RMA(rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));                                      \
        double time = run_plain(n);                                                                                    \
        BENCH_RMA(rma_ctx_session_stop(RMA_CTX_DEFAULT));                                                              \
        return time;                                                                                                   \
    }                                                                                                                  \
    static double run_mpi(long n) { return irregular_loop(n, bench_sync_mpi, BY_MPI, irregular_complete_mpi); }

/* irregular_check: n updates by m to an empty table, `here` on this PE. Then the owner of each word undoes all that
 * were for it, and must find 0. Returns how many words are wrong. Collective. */
size_t irregular_check(const struct bench_method *m, uint64_t *here, uint64_t n,
                       void (*undo)(uint64_t *word, uint64_t value));

/* The block for or from a PE. Its head is twice the number of its words, plus 1 if the sending PE has nothing left. */
BENCH_INLINE uint64_t *irregular_block(uint64_t *blocks, int pe) {
    return blocks + (size_t)pe * (size_t)(irregular.bucket + 1);
}
BENCH_INLINE uint64_t irregular_words(const uint64_t *block) { return block[0] >> 1; }

/* irregular_swap: block PE of `to` is block bench.pe of that PE's `from`. By librma's alltoall or MPI's. Collective.
 * irregular_mark: write to the heads whether something is left. irregular_all_through: 1 if the received heads say that
 * no PE has anything left. irregular_empty: empty all buckets. */
void irregular_swap(const uint64_t *from, uint64_t *to, bool by_mpi);
void irregular_mark(bool nothing_left);
bool irregular_all_through(void);
void irregular_empty(void);

/* irregular_exchange: as irregular_loop, by exchanges of buckets. `asks` is called for each access that goes into a
 * bucket: with its PE, its place in the bucket, and its place in the window. `does` executes the requests in
 * irregular.in, and does not change the heads there. Collective. */
BENCH_INLINE double irregular_exchange(long n, bool by_mpi, void (*asks)(int pe, uint64_t at, long k),
                                       void (*does)(bool by_mpi)) {
    if (by_mpi)
        bench_sync_mpi();
    else
        irregular_meet();
    double start = rma_wtime();
    for (long left = n; left > 0;) {
        long some = left < irregular.window ? left : irregular.window, next = 0;
        do {
            for (; next < some; next++) {
                struct irregular_access a = irregular_access(bench.pe, irregular.drawn + (uint64_t)next);
                uint64_t *block = irregular_block(irregular.out, a.pe), so_many = irregular_words(block);
                if (so_many == (uint64_t)irregular.bucket) break;
                asks(a.pe, so_many, next);
                block[1 + so_many] = a.word;
                block[0] += 2;
            }
            irregular_mark(next == some);
            irregular_swap(irregular.out, irregular.in, by_mpi);
            does(by_mpi);
            irregular_empty();
        } while (!irregular_all_through());
        irregular.drawn += (uint64_t)some;
        left -= some;
    }
    return rma_wtime() - start;
}

/* irregular_main: main of a benchmark that compares librma, an exchange by librma and by MPI, and MPI. Uses the spec's
 * title, help, begin and end; check_mpi is for the last column. */
struct irregular_runs {
    double (*plain)(long n), (*session)(long n), (*exchange)(long n), (*mpi_exchange)(long n), (*mpi)(long n);
    size_t (*check)(const struct bench_method *m), (*check_mpi)(const struct bench_method *m);
};
int irregular_main(int argc, char **argv, const struct bench_spec *spec, const struct irregular_runs *runs);

#endif
