/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.c: the time of a transfer with its completion, one after the other.
 *
 * The raw column is the limit: the same bytes copied by the same loop between the addresses that rma_ptr gives.
 * bench_keep makes each iteration load anew and deliver what it loaded. */
#include "latency.h"

#include <string.h>

static struct bench_pair pair = {.memory = BENCH_MEMORY_UNSET};
static bool call, get;

/* n times the statements, which move len bytes to `to` from `from`. */
#define LOOP(NAME, TO, FROM, ...)                                                                                      \
    BENCH_INLINE double NAME##_loop(long n, size_t len) {                                                              \
        __typeof__(TO) to = TO;                                                                                        \
        __typeof__(FROM) from = FROM;                                                                                  \
        char *own = pair.own;                                                                                          \
        const int peer = bench.peer;                                                                                   \
        double start = rma_wtime();                                                                                    \
        (void)peer;                                                                                                    \
        for (long i = 0; i < n; i++) {                                                                                 \
            __VA_ARGS__;                                                                                               \
            bench_keep(own);                                                                                           \
        }                                                                                                              \
        return rma_wtime() - start;                                                                                    \
    }                                                                                                                  \
    static double NAME(long n) { return BENCH_BY_SIZE(NAME##_loop, n, !call); }
LOOP(put, pair.heap, pair.own, BENCH_RMA(rma_put(to, from, len, peer)); BENCH_RMA(rma_quiet()))
LOOP(get_, pair.own, pair.heap, BENCH_RMA(rma_get(to, from, len, peer)))
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
    if (pair.memory == BENCH_SYMMETRIC) return get ? get_(n) : put(n);
    return get ? get_gptr(n) : put_gptr(n);
}

static double run_raw(long n) { return get ? get_raw(n) : put_raw(n); }

static double run_mpi(long n) { return get ? get_mpi(n) : put_mpi(n); }

/* base: the address by which the target is reached. */
static size_t check(const struct bench_method *m, char *base, MPI_Win win) {
    return get ? bench_pair_check(m, base, BENCH_TARGET, pair.own, win)
               : bench_pair_check(m, pair.own, BENCH_ORIGIN, base, win);
}

static size_t check_heap(const struct bench_method *m) { return check(m, pair.heap, MPI_WIN_NULL); }

static size_t check_window(const struct bench_method *m) { return check(m, pair.base, pair.win); }

static void open_heap(void) { bench_pair_open_heap(&pair); }

static void close_heap(void) { bench_pair_close_heap(&pair); }

static const struct bench_method methods[] = {
    {.name = "Latency (us)", .run = run_rma, .check = check_heap},
    {.name = "raw (us)", .run = run_raw, .check = check_heap, .bare = true},
    {.name = "MPI (us)", .run = run_mpi, .check = check_window, .mpi = true},
    {0},
};

static struct bench_spec spec;

static void begin(void) {
    static const char *const notes[] = {"symmetric memory", "the local heap", "attached memory"};
    static struct bench_method ways[PAIR_WAYS + 1];
    bool asked = pair.memory != BENCH_MEMORY_UNSET || bench.ways;
    bench_pair_open(&pair, bench.sizes.max);
    if (asked) spec.note = notes[pair.memory];
    if (!bench.ways) return;
    bench_pair_ways(&pair, &methods[0], &methods[2], ways);
    spec.methods = ways;
    spec.ratios = bench_way_ratios;
}

static void end(void) { bench_pair_close(&pair); }

int bench_latency(int argc, char **argv, const struct bench_spec *given, bool gets) {
    static const struct bench_option options[] = {
        {"call", 0, BENCH_FLAG, &call, 0, 0, NULL, "hide lengths of 1, 2, 4 and 8 from the compiler too"},
        {"memory", 0, BENCH_WORD, &pair.memory, 0, 0, BENCH_MEMORY_WORDS,
         "the target's, reached by librma [symmetric; with --ways local]"},
        {0},
    };
    get = gets;
    spec = *given;
    spec.options = options;
    spec.methods = methods;
    spec.ratios = bench_ratios;
    spec.max_size = (size_t)1 << 20;
    spec.pairs = BENCH_PAIRS_MAX;
    spec.budget = 5e-3;
    spec.open = open_heap;
    spec.close = close_heap;
    spec.begin = begin;
    spec.end = end;
    return bench_main(argc, argv, &spec);
}
