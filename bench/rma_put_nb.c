/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_put_nb.c: the time of nonblocking puts: until the calls return, until they are complete, and with a computation
 * between.
 *
 * How much of a transfer a computation hides: the origin begins the puts, computes for as long as they take by
 * themselves, and completes them. On one node the caller copies, and nothing can be hidden; between nodes it depends on
 * what moves the bytes. */
#include "pair.h"

#include <string.h>

enum { RMA, CALL, COMPUTE, RAW, MPI, MPI_COMPUTE };

#define WINDOW 16 /* puts that are begun before they are completed */

static long window = WINDOW;
static double step;       /* seconds of one step of arithmetic */
static double clock_cost; /* seconds between two consecutive calls of rma_wtime */

/* Seconds of a window without a computation: the least of the row's batches so far. */
struct alone {
    size_t size; /* of the row */
    double seconds;
};
static struct alone alone_rma, alone_mpi;

static void begin_rma(void) {
    char *to = pair.heap, *from = pair.own;
    size_t len = bench.size;
    int peer = bench.peer;
    for (long i = window; i > 0; i--) {
        BENCH_RMA(rma_put_nbi(to, from, len, peer));
        bench_keep(from);
    }
}

static void end_rma(void) { BENCH_RMA(rma_quiet()); }

static void begin_mpi(void) {
    int len = (int)bench.size;
    for (long i = window; i > 0; i--)
        BENCH_MPI(MPI_Put(pair.own, len, MPI_BYTE, bench.peer, 0, len, MPI_BYTE, pair.win));
}

static void end_mpi(void) { BENCH_MPI(MPI_Win_flush(bench.peer, pair.win)); }

/* The smallest of several, so that a disturbance does not count. */
static double find_step(void) {
    const long n = 100000;
    double least = 1;
    for (int i = 0; i < 20; i++) {
        double start = rma_wtime();
        bench_compute(n);
        double time = rma_wtime() - start;
        if (time < least) least = time;
    }
    return least / (double)n;
}

/* Without reading the clock, which would take longer than a short put. */
static void compute(double seconds) { bench_compute((long)(seconds / step)); }

/* All times are for one put of a window. */

BENCH_INLINE double whole(long n, void (*begin)(void), void (*end)(void), struct alone *alone) {
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        begin();
        end();
    }
    double time = rma_wtime() - start;
    if (alone->size != bench.size || time / (double)n < alone->seconds)
        *alone = (struct alone){bench.size, time / (double)n};
    return time / (double)window;
}

BENCH_INLINE double computing(long n, void (*begin)(void), void (*end)(void), double alone) {
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        begin();
        compute(alone);
        end();
    }
    return (rma_wtime() - start) / (double)window;
}

static double run_rma(long n) { return whole(n, begin_rma, end_rma, &alone_rma); }

static double run_call(long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) {
        double start = rma_wtime();
        begin_rma();
        sum += rma_wtime() - start - clock_cost;
        end_rma();
    }
    return sum / (double)window;
}

static double run_compute(long n) { return computing(n, begin_rma, end_rma, alone_rma.seconds); }

static double run_raw(long n) {
    char *to = pair.peer, *from = pair.own;
    double start = rma_wtime();
    for (long i = n * window; i > 0; i--) {
        memcpy(to, from, bench.size);
        bench_keep(from);
    }
    return (rma_wtime() - start) / (double)window;
}

static double run_mpi(long n) { return whole(n, begin_mpi, end_mpi, &alone_mpi); }

static double run_mpi_compute(long n) { return computing(n, begin_mpi, end_mpi, alone_mpi.seconds); }

static void begin(void) {
    bench_pair_open(bench.sizes.max);
    step = find_step();
    clock_cost = bench_clock_cost();
}

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"window", 'w', BENCH_COUNT, &window, 1, 1000000, "N", "puts that are begun before they are completed [16]"},
        {0},
    };
    static const struct bench_method methods[] = {
        [RMA] = {.name = "Latency (us)", .run = run_rma, .check = bench_pair_check_heap},
        [CALL] = {.name = "call (us)", .run = run_call, .check = bench_pair_check_heap},
        [COMPUTE] = {.name = "+ compute (us)", .run = run_compute, .check = bench_pair_check_heap},
        [RAW] = {.name = "raw (us)", .run = run_raw, .check = bench_pair_check_heap, .bare = true},
        [MPI] = {.name = "MPI (us)", .run = run_mpi, .check = bench_pair_check_window, .mpi = true},
        [MPI_COMPUTE] = {.name = "MPI + comp. (us)",
                         .run = run_mpi_compute,
                         .check = bench_pair_check_window,
                         .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"rma/raw", RMA, {RAW, -1}},
        {"MPI/rma", MPI, {RMA, -1}},
        {"rma exposed", COMPUTE, {RMA, -1}},
        {"MPI exposed", MPI_COMPUTE, {MPI, -1}},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "nonblocking put latency",
        .help =
            "Time of a nonblocking put by the first PE of a pair to the second, as its share of a window:\n"
            "  Latency (us)      rma_put_nbi ..., one rma_quiet\n"
            "  call (us)         the same, rma_quiet not counted: when the caller goes on\n"
            "  + compute (us)    the same with a computation before rma_quiet that takes as long as Latency\n"
            "  raw (us)          memcpy through rma_ptr; '-' off-node\n"
            "  MPI (us)          MPI_Put ..., one MPI_Win_flush, the target waiting in MPI\n"
            "  MPI + comp. (us)  the same with a computation that takes as long as MPI\n"
            "rma exposed, MPI exposed: the time with the computation, by that without: 1 if the computation hides the\n"
            "transfer, 2 if it hides nothing of it.",
        .options = options,
        .methods = methods,
        .ratios = ratios,
        .max_size = (size_t)1 << 20,
        .pairs = BENCH_PAIRS_MAX,
        .budget = 5e-3,
        .begin = begin,
        .end = bench_pair_close,
    };
    return bench_main(argc, argv, &spec);
}
