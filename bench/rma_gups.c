/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_gups.c: random updates of a table that is spread over all PEs, in millions of updates per second of all PEs
 * together.
 *
 * After RandomAccess of the HPC Challenge: P. Luszczek et al., "Introduction to the HPC Challenge Benchmark Suite",
 * 2005; its result is GUPS, 10^9 updates per second. This benchmark has the exclusive or as the update, at most 1024
 * updates under way on a PE, and the rule that a program may lose updates of 1 % of the words. Three things differ. The
 * random numbers are those of irregular.h. The table is as large as the row says, not half of the memory. And updates
 * go to their words one by one, since one-sided access is to be measured: no PE sorts them by target or sends them in
 * bulk, as competition programs do. */
#include "irregular.h"

#include <stdlib.h>

enum { XOR, SESSION, GET_PUT, RAW_XOR, RAW_PLAIN, MPI };

#define TABLE_MIN  (64 * 1024) /* bytes: 1 % of a smaller table is too few words to tell chance from errors */
#define WINDOW_MAX 65536
#define CHECKED    8192 /* most updates by each PE in a check */

static uint64_t **table_of;       /* by PE, by load and store; null where that is off-node */
static uint64_t sent[WINDOW_MAX]; /* operands of MPI's calls that are under way */

BENCH_INLINE void update_xor(struct irregular_access a, long k) {
    (void)k;
    BENCH_RMA(rma_atomic_xor(irregular.table + a.word, a.value, a.pe));
}

BENCH_INLINE void update_get_put(struct irregular_access a, long k) {
    (void)k;
    uint64_t *word = irregular.table + a.word, old = rma_g(word, a.pe);
    BENCH_RMA(rma_p(word, old ^ a.value, a.pe));
}

BENCH_INLINE void update_raw_xor(struct irregular_access a, long k) {
    (void)k;
    __atomic_xor_fetch(table_of[a.pe] + a.word, a.value, __ATOMIC_ACQ_REL);
}

/* Relaxed: a load and a store, as in an ordinary program, which may lose other PEs' updates between the two. */
BENCH_INLINE void update_raw_plain(struct irregular_access a, long k) {
    (void)k;
    uint64_t *to = table_of[a.pe] + a.word;
    __atomic_store_n(to, __atomic_load_n(to, __ATOMIC_RELAXED) ^ a.value, __ATOMIC_RELAXED);
}

BENCH_INLINE void update_mpi(struct irregular_access a, long k) {
    sent[k] = a.value;
    BENCH_MPI(
        MPI_Accumulate(&sent[k], 1, MPI_UINT64_T, a.pe, (MPI_Aint)a.word, 1, MPI_UINT64_T, MPI_BXOR, irregular.win));
}

IRREGULAR_RUNS(update_xor, update_mpi)

static void complete_raw(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }

static double run_get_put(long n) { return irregular_loop(n, irregular_meet, update_get_put, irregular_complete_rma); }

static double run_raw_xor(long n) { return irregular_loop(n, irregular_meet, update_raw_xor, complete_raw); }

static double run_raw_plain(long n) { return irregular_loop(n, irregular_meet, update_raw_plain, complete_raw); }

/* Checks. */

static uint64_t words(void) { return bench.size / sizeof *irregular.table; }

static void undo(uint64_t *word, uint64_t value) { *word ^= value; }

static size_t check(const struct bench_method *m, uint64_t *here) {
    return irregular_check(m, here, words() < CHECKED ? words() : CHECKED, undo);
}

static size_t check_table(const struct bench_method *m) { return check(m, irregular.table); }

static size_t check_window(const struct bench_method *m) { return check(m, irregular.base); }

/* Some updates may be lost. Among N updates of W words, N^2 / 2 W pairs hit the same word, even if all are under way at
 * once: with N = W / 10 this is half a percent of the words. On a loaded machine PEs stop between get and put, and a
 * larger N loses more than 1 % of a small table. */
static size_t check_most(const struct bench_method *m) {
    uint64_t n = words() / 10;
    size_t wrong = irregular_check(m, irregular.table, n < CHECKED ? n : CHECKED, undo);
    return wrong > words() / 100 ? wrong : 0;
}

static void begin(void) {
    bool far = false;
    while (bench.sizes.min < TABLE_MIN) bench.sizes.min *= 2;
    if (bench.sizes.min > bench.sizes.max) bench_refuse(2, "option -m: no table of %d bytes or more", TABLE_MIN);
    bench.streams = bench.n_pes;
    irregular_open();
    table_of = calloc((size_t)bench.n_pes, sizeof *table_of);
    if (!table_of) bench_fail("calloc", MPI_ERR_NO_MEM);
    for (int pe = 0; pe < bench.n_pes; pe++) {
        table_of[pe] = rma_ptr(irregular.table, pe);
        far = far || !table_of[pe];
    }
    bench.on_node = !bench_agree(far);
}

static void end(void) {
    irregular_close();
    free(table_of);
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [XOR] = {.name = "Rate (M/s)", .run = run_plain, .check = check_table},
        [SESSION] = {.name = "session (M/s)", .run = run_session, .check = check_table},
        [GET_PUT] = {.name = "get+put (M/s)", .run = run_get_put, .check = check_most},
        [RAW_XOR] = {.name = "raw (M/s)", .run = run_raw_xor, .check = check_table, .bare = true},
        [RAW_PLAIN] = {.name = "raw plain (M/s)", .run = run_raw_plain, .check = check_most, .bare = true},
        [MPI] = {.name = "MPI (M/s)", .run = run_mpi, .check = check_window, .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"session/rma", SESSION, {XOR, -1}},
        {"rma/raw", XOR, {RAW_XOR, -1}},
        {"get+put/plain", GET_PUT, {RAW_PLAIN, -1}},
        {"rma/MPI", XOR, {MPI, -1}},
        {0},
    };
    static const struct bench_option options[] = {
        {"window", 'w', BENCH_COUNT, &irregular.window, 1, WINDOW_MAX, "N",
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
        .methods = methods,
        .ratios = ratios,
        .min_size = TABLE_MIN,
        .max_size = (size_t)64 << 20,
        .value = BENCH_RATE,
        .budget = 20e-3,
        .begin = begin,
        .end = end,
    };
    irregular.window = 1024;
    return bench_main(argc, argv, &spec);
}
