/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_histogram.c: all PEs add 1 to random words of a table that is spread over all PEs, in millions of additions per
 * second of all PEs together: by additions one by one, alone and in a session, and by an exchange of buckets, which is
 * what programs do by hand to send full messages. */
#include "irregular.h"

#include <string.h>

enum { PLAIN, SESSION, EXCHANGE, MPI_EXCHANGE, MPI, N_METHODS };

#define CHECKED 20000 /* most additions by each PE in a check: more than a bucket, and than a window */

BENCH_INLINE void add_rma(struct irregular_access a, long k) {
    (void)k;
    BENCH_RMA(rma_atomic_add(irregular.table + a.word, 1, a.pe));
}

BENCH_INLINE void add_mpi(struct irregular_access a, long k) {
    static const uint64_t one = 1;
    (void)k;
    BENCH_MPI(MPI_Accumulate(&one, 1, MPI_UINT64_T, a.pe, (MPI_Aint)a.word, 1, MPI_UINT64_T, MPI_SUM, irregular.win));
}

static double run_plain(long n) { return irregular_loop(n, irregular_meet, add_rma, irregular_complete_rma); }

static double run_session(long n) {
    double time;
    BENCH_RMA(rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
    time = irregular_loop(n, irregular_meet, add_rma, irregular_complete_rma);
    BENCH_RMA(rma_ctx_session_stop(RMA_CTX_DEFAULT));
    return time;
}

static double run_mpi(long n) { return irregular_loop(n, bench_sync_mpi, add_mpi, irregular_complete_mpi); }

/* Puts additions into buckets until one has no room, or `end` is reached. Returns the next one. */
static uint64_t fill_buckets(uint64_t next, uint64_t end) {
    for (; next < end; next++) {
        struct irregular_access a = irregular_access(bench.pe, next);
        uint64_t *block = irregular_block(irregular.out, a.pe), so_many = irregular_words(block);
        if (so_many == (uint64_t)irregular.bucket) break;
        block[1 + so_many] = a.word;
        block[0] += 2;
    }
    return next;
}

static void do_what_has_come(void) {
    for (int pe = 0; pe < bench.n_pes; pe++) {
        const uint64_t *block = irregular_block(irregular.in, pe), so_many = irregular_words(block);
        for (uint64_t i = 1; i <= so_many; i++) irregular.table[block[i]]++;
    }
}

static double exchange(long n, bool by_mpi) {
    uint64_t next = irregular.drawn, end = next + (uint64_t)n;
    if (by_mpi)
        bench_sync_mpi();
    else
        irregular_meet();
    double start = rma_wtime();
    while (next < end) {
        uint64_t until = end - next < (uint64_t)irregular.window ? end : next + (uint64_t)irregular.window;
        do {
            next = fill_buckets(next, until);
            irregular_mark(next == until);
            irregular_swap(irregular.out, irregular.in, by_mpi);
            do_what_has_come();
            irregular_empty();
        } while (!irregular_all_through());
    }
    double time = rma_wtime() - start;
    irregular.drawn = next;
    return time;
}

static double run_exchange(long n) { return exchange(n, false); }

static double run_mpi_exchange(long n) { return exchange(n, true); }

/* Additions to an empty table. Then the owner of each word takes back all that were for it, and must find 0. */
static size_t wrong_after(const struct bench_method *m, uint64_t *here) {
    const uint64_t before = irregular.drawn, n_words = bench.size / sizeof *here;
    size_t wrong = 0;
    memset(here, 0, bench.size);
    if (here == irregular.base) BENCH_MPI(MPI_Win_sync(irregular.win));
    bench_sync();
    m->run(CHECKED);
    bench_sync();
    if (here == irregular.base) BENCH_MPI(MPI_Win_sync(irregular.win));
    for (int pe = 0; pe < bench.n_pes; pe++)
        for (uint64_t k = before; k < before + CHECKED; k++) {
            struct irregular_access a = irregular_access(pe, k);
            if (a.pe == bench.pe) here[a.word]--;
        }
    for (uint64_t i = 0; i < n_words; i++) wrong += here[i] != 0;
    return wrong;
}

static size_t check_table(const struct bench_method *m) { return wrong_after(m, irregular.table); }

static size_t check_window(const struct bench_method *m) { return wrong_after(m, irregular.base); }

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "histogram",
        .note = "all PEs; sizes are the table's bytes on each PE",
        .help = "Additions of 1 to random words of a table that is spread over all PEs, by all PEs at once, -w of them "
                "under way on each:\n"
                "  Rate (M/s)      rma_atomic_add ..., one rma_quiet\n"
                "  session (M/s)   the same, in a session of RMA_CTX_DEFAULT (rma_ctx_session_start)\n"
                "  exchange (M/s)  words put into a bucket for each PE, rma_alltoall when one is full\n"
                "  MPI exch (M/s)  the same, by MPI_Alltoall\n"
                "  MPI (M/s)       MPI_Accumulate with MPI_SUM ..., one MPI_Win_flush_all\n"
                "10^6 additions per second, all PEs together. Between nodes sessions send fuller messages where there "
                "are many PEs.",
        .options = irregular_options,
        .min_size = (size_t)1 << 20,
        .max_size = (size_t)1 << 20,
        .value = BENCH_RATE,
        .budget = 20e-3,
    };
    static const struct bench_method methods[N_METHODS] = {
        [PLAIN] = {.name = "Rate (M/s)", .run = run_plain, .check = check_table},
        [SESSION] = {.name = "session (M/s)", .run = run_session, .check = check_table},
        [EXCHANGE] = {.name = "exchange (M/s)", .run = run_exchange, .check = check_table},
        [MPI_EXCHANGE] = {.name = "MPI exch (M/s)", .run = run_mpi_exchange, .check = check_table, .mpi = true},
        [MPI] = {.name = "MPI (M/s)", .run = run_mpi, .check = check_window, .mpi = true},
    };
    static const struct bench_ratio ratios[] = {
        {"session/rma", SESSION, {PLAIN, -1}},
        {"session/exch", SESSION, {EXCHANGE, MPI_EXCHANGE}},
        {"session/MPI", SESSION, {MPI, -1}},
    };
    MPI_Info hints;

    bench_init(argc, argv, &spec);
    bench.streams = bench.n_pes;
    /* As MPI likes it best: one operation alone, in any order. */
    BENCH_MPI(MPI_Info_create(&hints));
    BENCH_MPI(MPI_Info_set(hints, "accumulate_ops", "same_op"));
    BENCH_MPI(MPI_Info_set(hints, "accumulate_ordering", "none"));
    irregular_open(hints);
    BENCH_MPI(MPI_Info_free(&hints));
    bench_sweep(methods, N_METHODS, ratios, 3);
    irregular_close();
    return bench_finish();
}
