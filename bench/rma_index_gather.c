/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_index_gather.c: all PEs read random words of a table that is spread over all PEs, in millions of words per second
 * of all PEs together: by single nonblocking gets, with and without a session, and by two exchanges of buckets, of
 * indices and of words, by which programs fill messages by hand. */
#include "irregular.h"

#include <stdlib.h>
#include <string.h>

static uint64_t *got;   /* words of a window, in the order of the requests */
static uint32_t *place; /* of each word of a bucket in `got`, for each PE */

/* The content of a table. */
static uint64_t content(int pe, uint64_t word) { return (uint64_t)(pe + 1) << 40 ^ word * 0x9e3779b97f4a7c15u; }

static void get_rma(struct irregular_access a, long k) {
    BENCH_RMA(rma_get_nbi(got + k, irregular.table + a.word, sizeof *got, a.pe));
}

static void get_mpi(struct irregular_access a, long k) {
    BENCH_MPI(MPI_Get(got + k, 1, MPI_UINT64_T, a.pe, (MPI_Aint)a.word, 1, MPI_UINT64_T, irregular.win));
}

IRREGULAR_RUNS(get_rma, get_mpi)

static uint32_t *places_of(int pe) { return place + (size_t)pe * (size_t)irregular.bucket; }

BENCH_INLINE void keep_place(int pe, uint64_t at, long k) { places_of(pe)[at] = (uint32_t)k; }

/* Replaces the received indices by the words. */
static void look_up_what_has_come(void) {
    for (int pe = 0; pe < bench.n_pes; pe++) {
        uint64_t *block = irregular_block(irregular.in, pe), so_many = irregular_words(block);
        for (uint64_t i = 1; i <= so_many; i++) block[i] = irregular.table[block[i]];
    }
}

static void take_words(void) {
    for (int pe = 0; pe < bench.n_pes; pe++) {
        const uint64_t *block = irregular_block(irregular.out, pe), so_many = irregular_words(block);
        for (uint64_t i = 0; i < so_many; i++) got[places_of(pe)[i]] = block[1 + i];
    }
}

BENCH_INLINE void answer_and_take(bool by_mpi) {
    look_up_what_has_come();
    irregular_swap(irregular.in, irregular.out, by_mpi); /* with the heads that this PE has sent */
    take_words();
}

static double run_exchange(long n) { return irregular_exchange(n, false, keep_place, answer_and_take); }

static double run_mpi_exchange(long n) { return irregular_exchange(n, true, keep_place, answer_and_take); }

/* Checks a whole window, whose words are then all in `got`. */
static size_t check(const struct bench_method *m) {
    const uint64_t before = irregular.drawn, n_words = bench.size / sizeof *got;
    size_t wrong = 0;
    for (uint64_t i = 0; i < n_words; i++) irregular.table[i] = irregular.base[i] = content(bench.pe, i);
    memset(got, 0, (size_t)irregular.window * sizeof *got);
    bench_check_run(m, irregular.window, irregular.win);
    for (uint64_t k = 0; k < (uint64_t)irregular.window; k++) {
        struct irregular_access a = irregular_access(bench.pe, before + k);
        wrong += got[k] != content(a.pe, a.word);
    }
    return wrong;
}

static void open_windows(void) {
    got = calloc((size_t)irregular.window, sizeof *got);
    place = calloc((size_t)bench.n_pes * (size_t)irregular.bucket, sizeof *place);
    if (bench_agree(!got || !place)) bench_refuse(1, "cannot allocate %ld words", irregular.window);
}

static void close_windows(void) {
    free(place);
    free(got);
}

int main(int argc, char **argv) {
    static const struct irregular_runs runs = {run_plain, run_session, run_exchange, run_mpi_exchange,
                                               run_mpi,   check,       check};
    static const struct bench_spec spec = {
        .title = "index gather",
        .help =
            "Reads of random words of a table that is spread over all PEs, by all PEs at once, -w of them under way "
            "on each:\n"
            "  Rate (M/s)      rma_get_nbi of 8 bytes ..., one rma_quiet\n"
            "  session (M/s)   the same, in a session of RMA_CTX_DEFAULT (rma_ctx_session_start)\n"
            "  exchange (M/s)  numbers of words put into a bucket for each PE, rma_alltoall when one is full, and "
            "another one with\n"
            "                  the words\n"
            "  MPI exch (M/s)  the same, by MPI_Alltoall\n"
            "  MPI (M/s)       MPI_Get ..., one MPI_Win_flush_all\n"
            "10^6 words per second, all PEs together. Between nodes sessions send fuller messages where there are "
            "many PEs.",
        .begin = open_windows,
        .end = close_windows,
    };
    return irregular_main(argc, argv, &spec, &runs);
}
