/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_histogram.c: all PEs add 1 to random words of a table that is spread over all PEs, in millions of additions per
 * second of all PEs together: by single additions, with and without a session, and by an exchange of buckets, by which
 * programs fill messages by hand. */
#include "irregular.h"

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

IRREGULAR_RUNS(add_rma, add_mpi)

BENCH_INLINE void ask(int pe, uint64_t at, long k) { (void)pe, (void)at, (void)k; }

BENCH_INLINE void add_here(bool by_mpi) {
    (void)by_mpi;
    for (int pe = 0; pe < bench.n_pes; pe++) {
        const uint64_t *block = irregular_block(irregular.in, pe), so_many = irregular_words(block);
        for (uint64_t i = 1; i <= so_many; i++) irregular.table[block[i]]++;
    }
}

static double run_exchange(long n) { return irregular_exchange(n, false, ask, add_here); }

static double run_mpi_exchange(long n) { return irregular_exchange(n, true, ask, add_here); }

static void subtract(uint64_t *word, uint64_t value) {
    (void)value;
    --*word;
}

static size_t check_table(const struct bench_method *m) {
    return irregular_check(m, irregular.table, CHECKED, subtract);
}

static size_t check_window(const struct bench_method *m) {
    return irregular_check(m, irregular.base, CHECKED, subtract);
}

int main(int argc, char **argv) {
    static const struct irregular_runs runs = {run_plain, run_session, run_exchange, run_mpi_exchange,
                                               run_mpi,   check_table, check_window};
    static const struct bench_spec spec = {
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
    };
    return irregular_main(argc, argv, &spec, &runs);
}
