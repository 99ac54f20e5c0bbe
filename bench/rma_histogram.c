/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_histogram.c: all PEs add 1 to random words of a table that is spread over all PEs, in millions of additions per
 * second of all PEs together: by single additions, with and without a session, and by an exchange of buckets, by which
 * programs fill messages by hand. */
#include "irregular.h"

#include <string.h>

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

static double run_session(long n) { return irregular_session(n, add_rma); }

static double run_mpi(long n) { return irregular_loop(n, bench_sync_mpi, add_mpi, irregular_complete_mpi); }

BENCH_INLINE void add_here(uint64_t word) { irregular.table[word]++; }

static double run_exchange(long n) {
    return irregular_exchange(n, false, irregular_asks_nothing, irregular_each, add_here);
}

static double run_mpi_exchange(long n) {
    return irregular_exchange(n, true, irregular_asks_nothing, irregular_each, add_here);
}

/* Additions to an empty table. Then the owner of each word subtracts all that were for it, and must find 0. */
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
    /* The hints that help MPI most: only one operation, in any order. */
    static const char *const hints[][2] = {
        {"accumulate_ops", "same_op"}, {"accumulate_ordering", "none"}, {NULL, NULL}};
    static const struct irregular_program program = {
        .title = "histogram",
        .help = "Additions of 1 to random words of a table that is spread over all PEs, by all PEs at once, -w of them "
                "under way on each:\n"
                "  Rate (M/s)      rma_atomic_add ..., one rma_quiet\n"
                "  session (M/s)   the same, in a session of RMA_CTX_DEFAULT (rma_ctx_session_start)\n"
                "  exchange (M/s)  words put into a bucket for each PE, rma_alltoall when one is full\n"
                "  MPI exch (M/s)  the same, by MPI_Alltoall\n"
                "  MPI (M/s)       MPI_Accumulate with MPI_SUM ..., one MPI_Win_flush_all\n"
                "10^6 additions per second, all PEs together. Between nodes sessions send fuller messages where there "
                "are many PEs.",
        .plain = run_plain,
        .session = run_session,
        .exchange = run_exchange,
        .mpi_exchange = run_mpi_exchange,
        .mpi = run_mpi,
        .check = check_table,
        .check_mpi = check_window,
        .hints = hints,
    };
    return irregular_main(argc, argv, &program);
}
