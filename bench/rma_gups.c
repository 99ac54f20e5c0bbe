/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_gups.c: random updates of a table that is spread over all PEs, in millions of updates per second of all PEs
 * together.
 *
 * RandomAccess of the HPC Challenge: P. Luszczek et al., "Introduction to the HPC Challenge Benchmark Suite", 2005; its
 * result is GUPS, 10^9 updates per second. This benchmark has the same random numbers, the exclusive or as the update,
 * at most 1024 updates under way on a PE, and the rule that a program may lose updates of 1 % of the words. Two things
 * differ. The table is as large as the row says, not half of the memory. And updates go to their words one by one,
 * since one-sided access is to be measured: no PE sorts them by target or sends them in bulk, as competition programs
 * do.
 *
 * The k-th number is x^k modulo x^64 + x^2 + x + 1, over the integers modulo 2. So squaring gives each PE's start, far
 * from the others, and a check can compute the numbers of all PEs. */
#include "bench.h"

#include <stdlib.h>

enum { XOR, SESSION, GET_PUT, RAW_XOR, RAW_PLAIN, MPI, N_METHODS };

#define POLYNOMIAL 7           /* x^2 + x + 1 */
#define APART      40          /* PEs begin 2^APART numbers apart */
#define TABLE_MIN  (64 * 1024) /* bytes: 1 % of a smaller table is too few words to tell chance from errors */
#define AHEAD_MAX  65536
#define CHECKED    8192 /* most updates by each PE in a check */

static long ahead = 1024;
static uint64_t *table;          /* symmetric: this PE's words */
static uint64_t **table_of;      /* by PE, by load and store; null where that is off-node */
static uint64_t *base;           /* this PE's part of win */
static MPI_Win win;              /* of MPI_Win_allocate over all PEs, inside lock_all */
static uint64_t sent[AHEAD_MAX]; /* operands of MPI's calls that are under way */
static uint64_t next;            /* the number that this PE uses next */
static uint64_t drawn;           /* how many numbers it has used: the same on each PE */

/* Words of this row's table on each PE. */
static uint64_t words(void) { return bench.size / sizeof *table; }

/* Random numbers. */

BENCH_INLINE uint64_t step(uint64_t x) { return x << 1 ^ (x >> 63) * POLYNOMIAL; }

static uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t product = 0;
    for (int bit = 63; bit >= 0; bit--) product = step(product) ^ (b >> bit & 1) * a;
    return product;
}

/* x^k */
static uint64_t power(uint64_t k) {
    uint64_t result = 1;
    for (int bit = 63; bit >= 0; bit--) {
        result = multiply(result, result);
        if (k >> bit & 1) result = step(result);
    }
    return result;
}

/* The number that a PE draws after so_many numbers. */
static uint64_t number_of(int pe, uint64_t so_many) { return power(((uint64_t)(pe + 1) << APART) + so_many); }

/* The target of an update: the upper half of its number gives the PE, the lower half the word. */

BENCH_INLINE int pe_of(uint64_t x, uint64_t n_pes) { return (int)((x >> 32) * n_pes >> 32); }

BENCH_INLINE uint64_t word_of(uint64_t x, uint64_t n_words) { return (uint64_t)(uint32_t)x * n_words >> 32; }

/* One update each; k is its place among the updates under way. */

BENCH_INLINE void update_xor(uint64_t x, int pe, uint64_t word, long k) {
    (void)k;
    BENCH_RMA(rma_atomic_xor(table + word, x, pe));
}

BENCH_INLINE void update_get_put(uint64_t x, int pe, uint64_t word, long k) {
    (void)k;
    uint64_t old = rma_g(table + word, pe);
    BENCH_RMA(rma_p(table + word, old ^ x, pe));
}

BENCH_INLINE void update_raw_xor(uint64_t x, int pe, uint64_t word, long k) {
    (void)k;
    __atomic_xor_fetch(table_of[pe] + word, x, __ATOMIC_ACQ_REL);
}

/* Relaxed: a load and a store, as in an ordinary program, which may lose other PEs' updates between the two. */
BENCH_INLINE void update_raw_plain(uint64_t x, int pe, uint64_t word, long k) {
    (void)k;
    uint64_t *to = table_of[pe] + word;
    __atomic_store_n(to, __atomic_load_n(to, __ATOMIC_RELAXED) ^ x, __ATOMIC_RELAXED);
}

BENCH_INLINE void update_mpi(uint64_t x, int pe, uint64_t word, long k) {
    sent[k] = x;
    BENCH_MPI(MPI_Accumulate(&sent[k], 1, MPI_UINT64_T, pe, (MPI_Aint)word, 1, MPI_UINT64_T, MPI_BXOR, win));
}

static void complete_rma(void) { BENCH_RMA(rma_quiet()); }

static void complete_raw(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }

static void complete_mpi(void) { BENCH_MPI(MPI_Win_flush_all(win)); }

static void meet(void) { BENCH_RMA(rma_sync_all()); }

/* n updates by each PE, all at once. */
BENCH_INLINE double loop(long n, void (*together)(void), void (*update)(uint64_t x, int pe, uint64_t word, long k),
                         void (*complete)(void)) {
    uint64_t x = next, n_pes = (uint64_t)bench.n_pes, n_words = words();
    together();
    double start = rma_wtime();
    for (long left = n; left > 0;) {
        long some = left < ahead ? left : ahead;
        for (long k = 0; k < some; k++) {
            update(x, pe_of(x, n_pes), word_of(x, n_words), k);
            x = step(x);
        }
        complete();
        left -= some;
    }
    double time = rma_wtime() - start;
    next = x;
    drawn += (uint64_t)n;
    return time;
}

static double run_xor(long n) { return loop(n, meet, update_xor, complete_rma); }

static double run_session(long n) {
    BENCH_RMA(rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
    double time = run_xor(n);
    BENCH_RMA(rma_ctx_session_stop(RMA_CTX_DEFAULT));
    return time;
}

static double run_get_put(long n) { return loop(n, meet, update_get_put, complete_rma); }

static double run_raw_xor(long n) { return loop(n, meet, update_raw_xor, complete_raw); }

static double run_raw_plain(long n) { return loop(n, meet, update_raw_plain, complete_raw); }

static double run_mpi(long n) { return loop(n, bench_sync_mpi, update_mpi, complete_mpi); }

/* Checks: an update for each word, up to CHECKED by each PE. Then the owner of each word recomputes the numbers, undoes
 * all updates of the word, and must find its old value. */

static void fill(uint64_t *here, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) here[i] = ~i;
}

static size_t wrong_after(const struct bench_method *m, uint64_t *here, uint64_t updates) {
    uint64_t before = drawn, n_words = words();
    long n = updates < CHECKED ? (long)updates : CHECKED;
    size_t wrong = 0;
    fill(here, n_words);
    if (m->mpi) BENCH_MPI(MPI_Win_sync(win));
    bench_sync();
    m->run(n);
    bench_sync();
    if (m->mpi) BENCH_MPI(MPI_Win_sync(win));
    for (int pe = 0; pe < bench.n_pes; pe++) {
        uint64_t x = number_of(pe, before);
        for (long i = 0; i < n; i++, x = step(x))
            if (pe_of(x, (uint64_t)bench.n_pes) == bench.pe) here[word_of(x, n_words)] ^= x;
    }
    for (uint64_t i = 0; i < n_words; i++) wrong += here[i] != ~i;
    return wrong;
}

static size_t check_table(const struct bench_method *m) { return wrong_after(m, table, words()); }

/* Some updates may be lost. Among N updates of W words, N^2 / 2 W pairs hit the same word, even if all are under way at
 * once: with N = W / 10 this is half a percent of the words. On a loaded machine PEs stop between get and put, and a
 * larger N loses more than 1 % of a small table. */
static size_t check_most(const struct bench_method *m) {
    size_t wrong = wrong_after(m, table, words() / 10);
    return wrong > words() / 100 ? wrong : 0;
}

static size_t check_window(const struct bench_method *m) { return wrong_after(m, base, words()); }

/* Returns whether all PEs reach all tables by load and store. */
static bool open_tables(size_t size) {
    bool far = false;
    MPI_Info hints;
    table_of = calloc((size_t)bench.n_pes, sizeof *table_of);
    if (bench_agree(!table_of)) bench_refuse(1, "cannot allocate the addresses of %d tables", bench.n_pes);
    table = bench_symmetric(sizeof *table, size);
    for (int pe = 0; pe < bench.n_pes; pe++) {
        table_of[pe] = rma_ptr(table, pe);
        far = far || !table_of[pe];
    }
    /* The hints that help MPI most: only one operation, in any order. */
    BENCH_MPI(MPI_Info_create(&hints));
    BENCH_MPI(MPI_Info_set(hints, "accumulate_ops", "same_op"));
    BENCH_MPI(MPI_Info_set(hints, "accumulate_ordering", "none"));
    BENCH_MPI(MPI_Win_allocate((MPI_Aint)size, sizeof *base, hints, MPI_COMM_WORLD, &base, &win));
    BENCH_MPI(MPI_Info_free(&hints));
    BENCH_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    fill(table, size / sizeof *table); /* each page by its owner, before it is measured */
    fill(base, size / sizeof *base);
    next = number_of(bench.pe, 0);
    bench_sync();
    return !bench_agree(far);
}

static void close_tables(void) {
    BENCH_MPI(MPI_Win_unlock_all(win));
    BENCH_MPI(MPI_Win_free(&win));
    BENCH_RMA(rma_free(table));
    free(table_of);
}

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"window", 'w', BENCH_COUNT, &ahead, 1, AHEAD_MAX, "N",
         "updates that a PE begins before it completes them [1024]"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "random updates",
        .note = "all PEs; sizes are the table's bytes on each PE",
        .help = "Updates of random words of a table that is spread over all PEs, by all PEs at once, -w of them under "
                "way on each:\n"
                "  Rate (M/s)       rma_atomic_xor ..., one rma_quiet\n"
                "  session (M/s)    the same, in a session of RMA_CTX_DEFAULT (rma_ctx_session_start)\n"
                "  get+put (M/s)    rma_g, rma_p ..., one rma_quiet: updates by two PEs at once may be lost\n"
                "  raw (M/s)        the processor's atomic through rma_ptr; '-' unless all PEs are on one node\n"
                "  raw plain (M/s)  a load and a store through rma_ptr, that may lose updates, too\n"
                "  MPI (M/s)        MPI_Accumulate with MPI_BXOR ..., one MPI_Win_flush_all\n"
                "10^6 updates per second, all PEs together: a thousandth of it are the GUPS of the HPC Challenge, "
                "whose look-ahead is\n"
                "the default of -w. Tables of less than 64k are left out. -c allows no wrong word where updates are "
                "atomic, and 1 % of\n"
                "them where they may be lost. Each PE needs twice the largest size.",
        .options = options,
        .min_size = TABLE_MIN,
        .max_size = (size_t)64 << 20,
        .value = BENCH_RATE,
        .budget = 20e-3,
    };
    struct bench_method methods[N_METHODS] = {
        [XOR] = {.name = "Rate (M/s)", .run = run_xor, .check = check_table},
        [SESSION] = {.name = "session (M/s)", .run = run_session, .check = check_table},
        [GET_PUT] = {.name = "get+put (M/s)", .run = run_get_put, .check = check_most},
        [RAW_XOR] = {.name = "raw (M/s)", .run = run_raw_xor, .check = check_table},
        [RAW_PLAIN] = {.name = "raw plain (M/s)", .run = run_raw_plain, .check = check_most},
        [MPI] = {.name = "MPI (M/s)", .run = run_mpi, .check = check_window, .mpi = true},
    };
    static const struct bench_ratio ratios[] = {
        {"session/rma", SESSION, {XOR, -1}},
        {"rma/raw", XOR, {RAW_XOR, -1}},
        {"get+put/plain", GET_PUT, {RAW_PLAIN, -1}},
        {"rma/MPI", XOR, {MPI, -1}},
    };

    bench_init(argc, argv, &spec);
    while (bench.sizes.min < TABLE_MIN) bench.sizes.min *= 2;
    if (bench.sizes.min > bench.sizes.max) bench_refuse(2, "option -m: no table of %d bytes or more", TABLE_MIN);
    bench.streams = bench.n_pes;
    if (!open_tables(bench.sizes.max)) methods[RAW_XOR].run = methods[RAW_PLAIN].run = NULL;
    bench_sweep(methods, N_METHODS, ratios, 4);
    close_tables();
    return bench_finish();
}
