/* SPDX-License-Identifier: BSD-3-Clause */
/* irregular.c: tables, the exchange of buckets, and the frame of the programs. */
#include "irregular.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_MAX (1L << 24)
#define BUCKET_MAX (1L << 20)

struct irregular irregular = {.window = 16384, .bucket = 511};

static const struct bench_option options[] = {
    {"window", 'w', BENCH_COUNT, &irregular.window, 1, WINDOW_MAX, "N",
     "accesses that a PE begins before it completes them [16384]"},
    {"bucket", 'b', BENCH_COUNT, &irregular.bucket, 1, BUCKET_MAX, "N",
     "words of a bucket of the exchange: with its head a block of the alltoall [511]"},
    {0},
};

void irregular_open_buckets(void) {
    const size_t blocks = (size_t)bench.n_pes * (size_t)(irregular.bucket + 1);
    irregular.out = calloc(blocks, sizeof *irregular.out);
    irregular.in = calloc(blocks, sizeof *irregular.in);
    if (bench_agree(!irregular.out || !irregular.in)) bench_refuse(1, "cannot allocate %zu words of buckets", blocks);
}

void irregular_close_buckets(void) {
    free(irregular.in);
    free(irregular.out);
}

/* Tables of bench.sizes.max bytes, zero. Collective, as close_tables. */
static void open_tables(const char *const (*hints)[2]) {
    const size_t size = bench.sizes.max;
    MPI_Info info = MPI_INFO_NULL;
    if (hints) BENCH_MPI(MPI_Info_create(&info));
    for (; hints && **hints; hints++) BENCH_MPI(MPI_Info_set(info, (*hints)[0], (*hints)[1]));
    irregular.table = bench_symmetric(sizeof *irregular.table, size);
    BENCH_MPI(MPI_Win_allocate((MPI_Aint)size, sizeof *irregular.base, info, MPI_COMM_WORLD, &irregular.base,
                               &irregular.win));
    if (info != MPI_INFO_NULL) BENCH_MPI(MPI_Info_free(&info));
    BENCH_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, irregular.win));
    memset(irregular.table, 0, size); /* each page by its owner, before it is measured */
    memset(irregular.base, 0, size);
    bench_sync();
}

static void close_tables(void) {
    BENCH_MPI(MPI_Win_unlock_all(irregular.win));
    BENCH_MPI(MPI_Win_free(&irregular.win));
    BENCH_RMA(rma_free(irregular.table));
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

void irregular_meet(void) { BENCH_RMA(rma_sync_all()); }

void irregular_complete_rma(void) { BENCH_RMA(rma_quiet()); }

void irregular_complete_mpi(void) { BENCH_MPI(MPI_Win_flush_all(irregular.win)); }

int irregular_main(int argc, char **argv, const struct irregular_program *program) {
    enum { PLAIN, SESSION, EXCHANGE, MPI_EXCHANGE, MPI, N_METHODS };
    const struct bench_spec spec = {
        .title = program->title,
        .note = "all PEs; sizes are the table's bytes on each PE",
        .help = program->help,
        .options = options,
        .min_size = (size_t)1 << 20,
        .max_size = (size_t)1 << 20,
        .value = BENCH_RATE,
        .budget = 20e-3,
    };
    const struct bench_method methods[N_METHODS] = {
        [PLAIN] = {.name = "Rate (M/s)", .run = program->plain, .check = program->check},
        [SESSION] = {.name = "session (M/s)", .run = program->session, .check = program->check},
        [EXCHANGE] = {.name = "exchange (M/s)", .run = program->exchange, .check = program->check},
        [MPI_EXCHANGE] = {.name = "MPI exch (M/s)", .run = program->mpi_exchange, .check = program->check, .mpi = true},
        [MPI] = {.name = "MPI (M/s)", .run = program->mpi, .check = program->check_mpi, .mpi = true},
    };
    static const struct bench_ratio ratios[] = {
        {"session/rma", SESSION, {PLAIN, -1}},
        {"session/exch", SESSION, {EXCHANGE, MPI_EXCHANGE}},
        {"session/MPI", SESSION, {MPI, -1}},
    };
    bench_init(argc, argv, &spec);
    bench.streams = bench.n_pes;
    if (program->open) program->open();
    irregular_open_buckets();
    open_tables(program->hints);
    bench_sweep(methods, N_METHODS, ratios, 3);
    close_tables();
    irregular_close_buckets();
    if (program->close) program->close();
    return bench_finish();
}
