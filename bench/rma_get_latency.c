/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_get_latency.c: the time of a get, one after the other.
 *
 * The raw column is the limit: the same bytes copied by the same loop from the address that rma_ptr gives.
 * bench_keep makes each iteration load anew and deliver what it loaded. */
#include "pair.h"

#include <string.h>

static struct bench_pair pair = {.memory = BENCH_MEMORY_UNSET};
static bool call;

BENCH_INLINE double rma_loop(long n, size_t len) {
    char *to = pair.own, *from = pair.heap;
    int peer = bench.peer;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        BENCH_RMA(rma_get(to, from, len, peer));
        bench_keep(to);
    }
    return rma_wtime() - start;
}

/* By global pointer. */
BENCH_INLINE double gptr_loop(long n, size_t len) {
    rma_gptr_t from = pair.target;
    char *to = pair.own;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        BENCH_RMA(rma_gptr_get(to, from, len));
        bench_keep(to);
    }
    return rma_wtime() - start;
}

BENCH_INLINE double raw_loop(long n, size_t len) {
    char *to = pair.own, *from = pair.peer;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        memcpy(to, from, len);
        bench_keep(to);
    }
    return rma_wtime() - start;
}

static double run_rma(long n) {
    return pair.memory == BENCH_SYMMETRIC ? BENCH_BY_SIZE(rma_loop, n, !call) : BENCH_BY_SIZE(gptr_loop, n, !call);
}

static double run_raw(long n) { return BENCH_BY_SIZE(raw_loop, n, !call); }

static double run_mpi(long n) {
    int len = (int)bench.size;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        BENCH_MPI(MPI_Get(pair.own, len, MPI_BYTE, bench.peer, pair.disp, len, MPI_BYTE, pair.win));
        BENCH_MPI(MPI_Win_flush(bench.peer, pair.win));
    }
    return rma_wtime() - start;
}

static size_t check_heap(const struct bench_method *m) {
    return bench_pair_check(m, pair.heap, BENCH_TARGET, pair.own, MPI_WIN_NULL);
}

static size_t check_window(const struct bench_method *m) {
    return bench_pair_check(m, pair.base, BENCH_TARGET, pair.own, pair.win);
}

static void open_heap(void) { bench_pair_open_heap(&pair); }

static void close_heap(void) { bench_pair_close_heap(&pair); }

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"call", 0, BENCH_FLAG, &call, 0, 0, NULL, "hide lengths of 1, 2, 4 and 8 from the compiler too"},
        {"memory", 0, BENCH_WORD, &pair.memory, 0, 0, BENCH_MEMORY_WORDS,
         "the target's, read by librma [symmetric; with --ways local]"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "get latency",
        .help = "Time of a get, by the first PE of a pair from the second:\n"
                "  Latency (us)  rma_get\n"
                "  raw (us)      the same bytes by loads or memcpy through rma_ptr; '-' off-node\n"
                "  MPI (us)      MPI_Get, MPI_Win_flush on an allocated window, the target waiting in MPI\n"
                "Off-node the target waits in librma for the first column, and of MPI/rma 0.95 at least is asked.\n"
                "The compiler knows lengths of 1, 2, 4 and 8 bytes, as in programs that get single values.\n"
                "With --ways, librma being started anew for each batch of another way:\n"
                "  messages (us)     rma_gptr_get, with RMA_WINDOW=none\n"
                "  dynamic (us)      the same with RMA_WINDOW=dynamic; '-' if it does not go through that window\n"
                "  MPI dynamic (us)  MPI_Get, MPI_Win_flush on memory attached to a window of MPI_Win_create_dynamic\n"
                "  static (us)       librma with RMA_WINDOW=static, with --memory=symmetric",
        .open = open_heap,
        .close = close_heap,
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
