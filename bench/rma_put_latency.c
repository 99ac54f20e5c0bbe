/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_put_latency.c: the time that a put and its completion take, one after the other.
 *
 * The raw column is the limit: the same bytes copied by the same loop to the address that rma_ptr gives. */
#include "pair.h"

#include <string.h>

static struct bench_pair pair;
static bool call;

BENCH_INLINE double rma_loop(long n, size_t len) { return bench_pair_puts(&pair, n, len); }

BENCH_INLINE double raw_loop(long n, size_t len) {
    char *to = pair.peer, *from = pair.own;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        memcpy(to, from, len);
        bench_keep(from);
    }
    return rma_wtime() - start;
}

static double run_rma(long n) { return BENCH_BY_SIZE(rma_loop, n, !call); }

static double run_raw(long n) { return BENCH_BY_SIZE(raw_loop, n, !call); }

static double run_mpi(long n) {
    int len = (int)bench.size;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        BENCH_MPI(MPI_Put(pair.own, len, MPI_BYTE, bench.peer, 0, len, MPI_BYTE, pair.win));
        BENCH_MPI(MPI_Win_flush(bench.peer, pair.win));
    }
    return rma_wtime() - start;
}

static size_t check_heap(const struct bench_method *m) {
    return bench_pair_check(m, pair.own, BENCH_ORIGIN, pair.heap, MPI_WIN_NULL);
}

static size_t check_window(const struct bench_method *m) {
    return bench_pair_check(m, pair.own, BENCH_ORIGIN, pair.base, pair.win);
}

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"call", 0, BENCH_FLAG, &call, 0, 0, NULL, "hide lengths of 1, 2, 4 and 8 from the compiler too"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "put latency",
        .help = "Time of a put with its completion, from the first PE of a pair to the second:\n"
                "  Latency (us)  rma_put, rma_quiet\n"
                "  raw (us)      the same bytes by stores or memcpy through rma_ptr; '-' off-node\n"
                "  MPI (us)      MPI_Put, MPI_Win_flush on an allocated window, the target waiting in MPI\n"
                "Off-node the target waits in librma for the first column, and of MPI/rma 0.95 at least is asked.\n"
                "The compiler knows lengths of 1, 2, 4 and 8 bytes, as in programs that put single values.",
        .options = options,
        .max_size = (size_t)1 << 20,
        .pairs = BENCH_PAIRS_MAX,
        .budget = 5e-3,
    };
    static struct bench_method methods[PAIR_METHODS] = {
        [PAIR_RMA] = {.name = "Latency (us)", .run = run_rma, .check = check_heap, .callers = BENCH_ORIGINS},
        [PAIR_RAW] = {.name = "raw (us)", .run = run_raw, .check = check_heap, .callers = BENCH_ORIGINS},
        [PAIR_MPI] = {.name = "MPI (us)", .run = run_mpi, .check = check_window, .callers = BENCH_ORIGINS, .mpi = true},
    };
    return bench_pair_latency(argc, argv, &spec, &pair, methods);
}
