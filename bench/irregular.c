/* SPDX-License-Identifier: BSD-3-Clause */
/* irregular.c: tables, the exchange of buckets, and the frame of the programs that have one. */
#include "irregular.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_MAX (1L << 24)
#define BUCKET_MAX (1L << 20)

struct irregular irregular = {.window = 16384, .bucket = 511};

void irregular_open(void) {
    const size_t size = bench.sizes.max;
    MPI_Info hints;
    /* The hints that help MPI most: only one operation, in any order. */
    BENCH_MPI(MPI_Info_create(&hints));
    BENCH_MPI(MPI_Info_set(hints, "accumulate_ops", "same_op"));
    BENCH_MPI(MPI_Info_set(hints, "accumulate_ordering", "none"));
    irregular.table = bench_symmetric(sizeof *irregular.table, size);
    BENCH_MPI(MPI_Win_allocate((MPI_Aint)size, sizeof *irregular.base, hints, MPI_COMM_WORLD, &irregular.base,
                               &irregular.win));
    BENCH_MPI(MPI_Info_free(&hints));
    BENCH_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, irregular.win));
    memset(irregular.table, 0, size); /* each page by its owner, before it is measured */
    memset(irregular.base, 0, size);
    bench_sync();
}

void irregular_close(void) {
    BENCH_MPI(MPI_Win_unlock_all(irregular.win));
    BENCH_MPI(MPI_Win_free(&irregular.win));
    BENCH_RMA(rma_free(irregular.table));
}

void irregular_meet(void) { BENCH_RMA(rma_sync_all()); }

void irregular_complete_rma(void) { BENCH_RMA(rma_quiet()); }

void irregular_complete_mpi(void) { BENCH_MPI(MPI_Win_flush_all(irregular.win)); }

size_t irregular_check(const struct bench_method *m, uint64_t *here, uint64_t n,
                       void (*undo)(uint64_t *word, uint64_t value)) {
    const uint64_t before = irregular.drawn;
    size_t wrong = 0;
    memset(here, 0, bench.size);
    bench_check_run(m, (long)n, irregular.win);
    for (int pe = 0; pe < bench.n_pes; pe++)
        for (uint64_t k = before; k < before + n; k++) {
            struct irregular_access a = irregular_access(pe, k);
            if (a.pe == bench.pe) undo(&here[a.word], a.value);
        }
    for (uint64_t i = 0; i < bench.size / sizeof *here; i++) wrong += here[i] != 0;
    return wrong;
}

void irregular_swap(const uint64_t *from, uint64_t *to, bool by_mpi) {
    const int words = (int)irregular.bucket + 1;
    if (by_mpi)
        BENCH_MPI(MPI_Alltoall(from, words, MPI_UINT64_T, to, words, MPI_UINT64_T, MPI_COMM_WORLD));
    else
        BENCH_RMA(rma_alltoall(RMA_TEAM_WORLD, to, from, (size_t)words * sizeof *to));
}

void irregular_mark(bool nothing_left) {
    for (int pe = 0; pe < bench.n_pes; pe++) irregular_block(irregular.out, pe)[0] |= nothing_left;
}

bool irregular_all_through(void) {
    for (int pe = 0; pe < bench.n_pes; pe++)
        if (!(irregular_block(irregular.in, pe)[0] & 1)) return false;
    return true;
}

void irregular_empty(void) {
    for (int pe = 0; pe < bench.n_pes; pe++) irregular_block(irregular.out, pe)[0] = 0;
}

static struct bench_spec spec;
static const struct bench_spec *given;

static void begin(void) {
    const size_t blocks = (size_t)bench.n_pes * (size_t)(irregular.bucket + 1);
    bench.streams = bench.n_pes;
    irregular.out = calloc(blocks, sizeof *irregular.out);
    irregular.in = calloc(blocks, sizeof *irregular.in);
    if (bench_agree(!irregular.out || !irregular.in)) bench_refuse(1, "cannot allocate %zu words of buckets", blocks);
    if (given->begin) given->begin();
    irregular_open();
}

static void end(void) {
    irregular_close();
    if (given->end) given->end();
    free(irregular.in);
    free(irregular.out);
}

int irregular_main(int argc, char **argv, const struct bench_spec *of, const struct irregular_runs *runs) {
    enum { PLAIN, SESSION, EXCHANGE, MPI_EXCHANGE, MPI };
    static const struct bench_option options[] = {
        {"window", 'w', BENCH_COUNT, &irregular.window, 1, WINDOW_MAX, "N",
         "accesses that a PE begins before it completes them [16384]"},
        {"bucket", 'b', BENCH_COUNT, &irregular.bucket, 1, BUCKET_MAX, "N",
         "words of a bucket of the exchange: with its head a block of the alltoall [511]"},
        {0},
    };
    const struct bench_method methods[] = {
        [PLAIN] = {.name = "Rate (M/s)", .run = runs->plain, .check = runs->check},
        [SESSION] = {.name = "session (M/s)", .run = runs->session, .check = runs->check},
        [EXCHANGE] = {.name = "exchange (M/s)", .run = runs->exchange, .check = runs->check},
        [MPI_EXCHANGE] = {.name = "MPI exch (M/s)", .run = runs->mpi_exchange, .check = runs->check, .mpi = true},
        [MPI] = {.name = "MPI (M/s)", .run = runs->mpi, .check = runs->check_mpi, .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"session/rma", SESSION, {PLAIN, -1}},
        {"session/exch", SESSION, {EXCHANGE, MPI_EXCHANGE}},
        {"session/MPI", SESSION, {MPI, -1}},
        {0},
    };
    given = of;
    spec = *given;
    spec.note = "all PEs; sizes are the table's bytes on each PE";
    spec.options = options;
    spec.methods = methods;
    spec.ratios = ratios;
    spec.min_size = spec.max_size = (size_t)1 << 20;
    spec.value = BENCH_RATE;
    spec.budget = 20e-3;
    spec.begin = begin;
    spec.end = end;
    return bench_main(argc, argv, &spec);
}
