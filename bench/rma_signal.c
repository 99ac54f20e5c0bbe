/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_signal.c: the time of a put with a signal and its completion, beside that of the put alone.
 *
 * The raw column is the limit: the same bytes copied to the address that rma_ptr gives, and a store that releases them.
 * MPI has no such operation: the put must be complete before the signal begins. */
#include "pair.h"

#include <string.h>

enum { SIGNAL, PUT, RAW, MPI };

#define SIGNAL_SIZE 128  /* no cache or prefetcher moves more at once: the signal has its line to itself */
#define DEADLINE    20.0 /* seconds for a signal to come */

static uint64_t *word; /* the signal, on each PE */
static uint64_t *raw;  /* the target's by load and store, on the origin; null off-node */
static MPI_Aint place; /* of the signal in the window, after the data */

/* The i-th of n signals is i. */

BENCH_PAIR_LOOP(run_signal, true, pair.heap, pair.own,
                BENCH_RMA(rma_put_signal(to, from, len, word, (uint64_t)i + 1, RMA_SIGNAL_SET, peer));
                BENCH_RMA(rma_quiet()))
BENCH_PAIR_LOOP(run_put, true, pair.heap, pair.own, BENCH_RMA(rma_put(to, from, len, peer)); BENCH_RMA(rma_quiet()))
/* Pairs with the target's acquire in check_by: a PE that sees the signal sees the bytes. */
BENCH_PAIR_LOOP(run_raw, true, pair.peer, pair.own, memcpy(to, from, len);
                __atomic_store_n(raw, (uint64_t)i + 1, __ATOMIC_RELEASE))

static double run_mpi(long n) {
    int len = (int)bench.size;
    double start = rma_wtime();
    for (long i = 1; i <= n; i++) {
        uint64_t value = (uint64_t)i;
        BENCH_MPI(MPI_Put(pair.own, len, MPI_BYTE, bench.peer, 0, len, MPI_BYTE, pair.win));
        BENCH_MPI(MPI_Win_flush(bench.peer, pair.win));
        BENCH_MPI(MPI_Accumulate(&value, 1, MPI_UINT64_T, bench.peer, place, 1, MPI_UINT64_T, MPI_REPLACE, pair.win));
        BENCH_MPI(MPI_Win_flush(bench.peer, pair.win));
    }
    return rma_wtime() - start;
}

/* The target waits only for the signal, and checks the bytes as soon as it sees the signal. */
static size_t check_by(const struct bench_method *m, uint64_t *signal, char *to) {
    static unsigned turn;
    unsigned seed = ++turn + 3 * (unsigned)(bench.role == BENCH_ORIGIN ? bench.pe : bench.peer);
    size_t wrong = 0;
    if (bench.role == BENCH_ORIGIN) bench_pair_fill(pair.own, seed);
    if (bench.role == BENCH_TARGET) {
        bench_pair_fill(to, seed + 1);
        __atomic_store_n(signal, 0, __ATOMIC_RELEASE);
    }
    BENCH_MPI(MPI_Win_sync(pair.win));
    bench_sync();
    if (bench_calls_run(m)) m->run(1);
    if (bench.role == BENCH_TARGET) {
        int any;
        double end = rma_wtime() + DEADLINE;
        while (__atomic_load_n(signal, __ATOMIC_ACQUIRE) != 1 && rma_wtime() < end) {
            BENCH_RMA(rma_progress());
            BENCH_MPI(
                MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE)); /* moves MPI's operations */
        }
        wrong = bench_pair_wrong(to, seed) + (__atomic_load_n(signal, __ATOMIC_ACQUIRE) != 1);
    }
    bench_sync();
    return wrong;
}

static size_t check_signal(const struct bench_method *m) { return check_by(m, word, pair.heap); }

static size_t check_mpi(const struct bench_method *m) {
    return check_by(m, (uint64_t *)(void *)(pair.base + place), pair.base);
}

static void begin(void) {
    place = (MPI_Aint)((bench.sizes.max + SIGNAL_SIZE - 1) / SIGNAL_SIZE * SIGNAL_SIZE);
    bench_pair_open((size_t)place + SIGNAL_SIZE);
    word = bench_symmetric(SIGNAL_SIZE, SIGNAL_SIZE);
    if (bench.role == BENCH_ORIGIN) raw = rma_ptr(word, bench.peer);
    BENCH_RMA(rma_barrier_all());
}

static void end(void) {
    BENCH_RMA(rma_free(word));
    bench_pair_close();
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [SIGNAL] = {.name = "Latency (us)", .run = run_signal, .check = check_signal},
        [PUT] = {.name = "put (us)", .run = run_put, .check = bench_pair_check_heap},
        [RAW] = {.name = "raw (us)", .run = run_raw, .check = check_signal, .bare = true},
        [MPI] = {.name = "MPI (us)", .run = run_mpi, .check = check_mpi, .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"signal/put", SIGNAL, {PUT, -1}},
        {"signal/raw", SIGNAL, {RAW, -1}},
        {"MPI/signal", MPI, {SIGNAL, -1}},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "signal latency",
        .help = "Time of a put with a signal and their completion, from the first PE of a pair to the second:\n"
                "  Latency (us)  rma_put_signal, rma_quiet\n"
                "  put (us)      rma_put, rma_quiet\n"
                "  raw (us)      stores or memcpy through rma_ptr, and a store that releases them; '-' off-node\n"
                "  MPI (us)      MPI_Put, MPI_Win_flush, MPI_Accumulate of the signal, MPI_Win_flush, the target "
                "waiting in MPI\n"
                "1.2 at most is asked of signal/put. The compiler knows lengths of 1, 2, 4 and 8 bytes.",
        .methods = methods,
        .ratios = ratios,
        .min_size = 8,
        .max_size = (size_t)1 << 20,
        .pairs = BENCH_PAIRS_MAX,
        .budget = 5e-3,
        .begin = begin,
        .end = end,
    };
    return bench_main(argc, argv, &spec);
}
