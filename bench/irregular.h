/* SPDX-License-Identifier: BSD-3-Clause */
/* irregular.h: the common part of the benchmarks of irregular access, after programs of Bale (J. DeVinney, M. Haines,
 * K. Hermosillo et al., "Bale", the Institute for Defense Analyses' Center for Computing Sciences): random words of a
 * table that is distributed over all PEs, for a histogram and an index gather; and the exchange of buckets, which
 * rma_sparse.c uses too.
 *
 * A PE begins as many accesses as --window says, and completes them. The k-th access of a PE is a function of these two
 * numbers, so a check can compute those of all PEs.
 *
 * The exchange is how programs aggregate irregular accesses by hand (Bale's exstack): a PE collects its requests in a
 * bucket for each PE; when a bucket is full, or nothing is left, it calls an alltoall of all buckets, and executes the
 * others' requests. All PEs repeat this until none has anything left. */
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

/* One of these benchmarks: five ways to make n accesses, each of which returns seconds, and two checks of the words
 * afterwards.
 */
struct irregular_program {
    const char *title, *help;
    double (*plain)(long n), (*session)(long n), (*exchange)(long n), (*mpi_exchange)(long n), (*mpi)(long n);
    size_t (*check)(const struct bench_method *m), (*check_mpi)(const struct bench_method *m);
    const char *const (*hints)[2]; /* for MPI's window, up to {NULL, NULL}; or NULL */
    void (*open)(void);            /* NULL, or allocates more memory */
    void (*close)(void);           /* NULL, or frees it */
};

/* irregular_main measures and checks such a program. Returns main's code. */
int irregular_main(int argc, char **argv, const struct irregular_program *program);

/* The target word of an access; or of a request of the exchange, whose word the target gets. */
struct irregular_access {
    int pe;
    uint64_t word;
};

/* A random number: the finalizer of splitmix64. */
BENCH_INLINE uint64_t irregular_random(int by, uint64_t k) {
    uint64_t x = ((uint64_t)by << 40 | k) + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A random word of tables of bench.size bytes. */
BENCH_INLINE struct irregular_access irregular_access(int by, uint64_t k) {
    const uint64_t x = irregular_random(by, k);
    return (struct irregular_access){.pe = (int)((x >> 32) * (uint64_t)bench.n_pes >> 32),
                                     .word = (uint64_t)(uint32_t)x * (bench.size / sizeof(uint64_t)) >> 32};
}

/* The block for or from a PE. Its head is twice the number of its words, plus 1 if the sending PE has nothing left. */
BENCH_INLINE uint64_t *irregular_block(uint64_t *blocks, int pe) {
    return blocks + (size_t)pe * (size_t)(irregular.bucket + 1);
}
BENCH_INLINE uint64_t irregular_words(const uint64_t *block) { return block[0] >> 1; }

/* irregular_open_buckets: allocate the blocks, all empty. irregular_close_buckets: free them. Collective. */
void irregular_open_buckets(void);
void irregular_close_buckets(void);

/* irregular_swap: block PE of `to` is block bench.pe of that PE's `from`. By librma's alltoall or MPI's. Collective.
 * irregular_mark: write to the heads whether something is left. irregular_all_through: 1 if the received heads say that
 * no PE has anything left. irregular_empty: empty all buckets. */
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

/* Three ways to synchronize before the clock starts, and to complete. */
void irregular_meet(void);
void irregular_complete_rma(void);
void irregular_complete_mpi(void);

/* irregular_session: the same by librma, in a session of the default context. */
BENCH_INLINE double irregular_session(long n, void (*access)(struct irregular_access a, long k)) {
    double time;
    BENCH_RMA(rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
    time = irregular_loop(n, irregular_meet, access, irregular_complete_rma);
    BENCH_RMA(rma_ctx_session_stop(RMA_CTX_DEFAULT));
    return time;
}

/* irregular_each: execute the requests in irregular.in, each by once(its word). */
BENCH_INLINE void irregular_each(bool by_mpi, void (*once)(uint64_t word)) {
    (void)by_mpi;
    for (int pe = 0; pe < bench.n_pes; pe++) {
        const uint64_t *block = irregular_block(irregular.in, pe), so_many = irregular_words(block);
        for (uint64_t i = 1; i <= so_many; i++) once(block[i]);
    }
}

/* irregular_rounds: n requests of this PE, by exchanges of buckets until no PE has any left. access(k) is the k-th, the
 * same if it is called again. `asks` is called for each request that goes into a bucket: with its PE, its place in the
 * bucket, and k. `does` executes the requests in irregular.in, as irregular_each, and does not change the heads there.
 * Collective. */
BENCH_INLINE void irregular_rounds(uint64_t n, bool by_mpi, struct irregular_access (*access)(uint64_t k),
                                   void (*asks)(int pe, uint64_t at, uint64_t k),
                                   void (*does)(bool by_mpi, void (*once)(uint64_t word)),
                                   void (*once)(uint64_t word)) {
    uint64_t next = 0;
    do {
        for (; next < n; next++) {
            struct irregular_access a = access(next);
            uint64_t *block = irregular_block(irregular.out, a.pe), so_many = irregular_words(block);
            if (so_many == (uint64_t)irregular.bucket) break;
            asks(a.pe, so_many, next);
            block[1 + so_many] = a.word;
            block[0] += 2;
        }
        irregular_mark(next == n);
        irregular_swap(irregular.out, irregular.in, by_mpi);
        does(by_mpi, once);
        irregular_empty();
    } while (!irregular_all_through());
}

BENCH_INLINE void irregular_asks_nothing(int pe, uint64_t at, uint64_t k) { (void)pe, (void)at, (void)k; }

BENCH_INLINE struct irregular_access irregular_next(uint64_t k) {
    return irregular_access(bench.pe, irregular.drawn + k);
}

/* irregular_exchange: as irregular_loop, by exchanges of buckets. */
BENCH_INLINE double irregular_exchange(long n, bool by_mpi, void (*asks)(int pe, uint64_t at, uint64_t k),
                                       void (*does)(bool by_mpi, void (*once)(uint64_t word)),
                                       void (*once)(uint64_t word)) {
    if (by_mpi)
        bench_sync_mpi();
    else
        irregular_meet();
    double start = rma_wtime();
    for (long left = n; left > 0;) {
        long some = left < irregular.window ? left : irregular.window;
        irregular_rounds((uint64_t)some, by_mpi, irregular_next, asks, does, once);
        irregular.drawn += (uint64_t)some;
        left -= some;
    }
    return rma_wtime() - start;
}

#endif
