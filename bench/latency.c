/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.c: the time of a transfer with its completion, one after the other.
 *
 * The raw column is the limit: the same bytes copied by the same loop between the addresses that rma_ptr gives.
 * bench_keep makes each iteration load anew and deliver what it loaded. */
#include "latency.h"

#include <string.h>

enum { RMA, RAW, MPI };

static bool call;

#define LOOP(NAME, TO, FROM, ...) BENCH_PAIR_LOOP(NAME, !call, TO, FROM, __VA_ARGS__)
LOOP(put, pair.heap, pair.own, BENCH_RMA(rma_put(to, from, len, peer)); BENCH_RMA(rma_quiet()))
LOOP(get, pair.own, pair.heap, BENCH_RMA(rma_get(to, from, len, peer)))
LOOP(put_gptr, pair.target, pair.own, BENCH_RMA(rma_gptr_put(to, from, len)); BENCH_RMA(rma_quiet()))
LOOP(get_gptr, pair.own, pair.target, BENCH_RMA(rma_gptr_get(to, from, len)))
LOOP(put_raw, pair.peer, pair.own, memcpy(to, from, len))
LOOP(get_raw, pair.own, pair.peer, memcpy(to, from, len))

#define MPI_LOOP(NAME, MPI_CALL)                                                                                       \
    BENCH_LOOP(NAME, BENCH_MPI(MPI_CALL(pair.own, (int)bench.size, MPI_BYTE, bench.peer, pair.disp, (int)bench.size,   \
                                        MPI_BYTE, pair.win));                                                          \
               BENCH_MPI(MPI_Win_flush(bench.peer, pair.win)))
MPI_LOOP(put_mpi, MPI_Put)
MPI_LOOP(get_mpi, MPI_Get)

static double run_rma(long n) {
    if (bench.way >= 0) return pair.gets ? get_gptr(n) : put_gptr(n);
    return pair.gets ? get(n) : put(n);
}

static double run_raw(long n) { return pair.gets ? get_raw(n) : put_raw(n); }

static double run_mpi(long n) { return pair.gets ? get_mpi(n) : put_mpi(n); }

static const struct bench_method methods[] = {
    [RMA] = {.name = "Latency (us)", .run = run_rma, .check = bench_pair_check_heap},
    [RAW] = {.name = "raw (us)", .run = run_raw, .check = bench_pair_check_heap, .bare = true},
    [MPI] = {.name = "MPI (us)", .run = run_mpi, .check = bench_pair_check_window, .mpi = true},
    {0},
};

static struct bench_spec spec;

static void begin(void) {
    bench_pair_open(bench.sizes.max);
    if (bench.way >= 0) spec.note = "the local heap";
}

static void before(struct bench_method *of) {
    if (pair.win == MPI_WIN_NULL) of[MPI].run = NULL;
}

int bench_latency(int argc, char **argv, const struct bench_spec *given, bool gets) {
    static const struct bench_option options[] = {
        {"call", 0, BENCH_FLAG, &call, 0, 0, NULL, "hide lengths of 1, 2, 4 and 8 from the compiler too"},
        {0},
    };
    pair.gets = gets;
    spec = *given;
    spec.options = options;
    spec.methods = methods;
    spec.ratios = bench_ratios;
    spec.max_size = (size_t)1 << 20;
    spec.pairs = BENCH_PAIRS_MAX;
    spec.budget = 5e-3;
    spec.ways = true;
    spec.begin = begin;
    spec.before = before;
    spec.end = bench_pair_close;
    return bench_main(argc, argv, &spec);
}
