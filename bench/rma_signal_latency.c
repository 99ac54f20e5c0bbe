/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_signal_latency.c: the time of a put with a signal and its completion, beside that of the put alone.
 *
 * The raw column is the limit: the same bytes copied to the address that rma_ptr gives, and a store that releases them. */
#include "pair.h"

#include <string.h>

enum { SIGNAL, PUT, RAW, N_METHODS };

#define SIGNAL_SIZE 128 /* no cache or prefetcher moves more at once: the signal has its line to itself */
#define DEADLINE 20.0   /* seconds for a signal to come */

static struct bench_pair pair;
static uint64_t *word; /* the signal, on each PE */
static uint64_t *raw;  /* PE 1's by load and store, on PE 0; null off-node */

/* The i-th of n signals is i. */

BENCH_INLINE double signal_loop(long n, size_t len) {
    char *to = pair.heap, *from = pair.own;
    double start = rma_wtime();
    for (long i = 1; i <= n; i++) {
        BENCH_RMA(rma_put_signal(to, from, len, word, (uint64_t)i, RMA_SIGNAL_SET, 1));
        BENCH_RMA(rma_quiet());
        bench_keep(from);
    }
    return rma_wtime() - start;
}

BENCH_INLINE double put_loop(long n, size_t len) {
    return bench_pair_puts(&pair, n, len);
}

BENCH_INLINE double raw_loop(long n, size_t len) {
    char *to = pair.peer, *from = pair.own;
    double start = rma_wtime();
    for (long i = 1; i <= n; i++) {
        memcpy(to, from, len);
        /* Pairs with PE 1's acquire in check_signal: who sees the signal sees the bytes. */
        __atomic_store_n(raw, (uint64_t)i, __ATOMIC_RELEASE);
        bench_keep(from);
    }
    return rma_wtime() - start;
}

static double run_signal(long n) {
    return BENCH_BY_SIZE(signal_loop, n, true);
}

static double run_put(long n) {
    return BENCH_BY_SIZE(put_loop, n, true);
}

static double run_raw(long n) {
    return BENCH_BY_SIZE(raw_loop, n, true);
}

static size_t check_put(const struct bench_method *m) {
    return bench_pair_check(m, pair.own, 0, pair.heap, 1, MPI_WIN_NULL);
}

/* PE 1 waits for nothing but the signal, and looks at the bytes as soon as it sees it. */
static size_t check_signal(const struct bench_method *m) {
    static unsigned seed;
    size_t wrong = 0;
    seed++;
    if (bench.pe == 0) bench_pair_fill(pair.own, seed);
    if (bench.pe == 1) {
        bench_pair_fill(pair.heap, seed + 1);
        __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    }
    bench_sync();
    if (bench_calls_run(m)) m->run(1);
    if (bench.pe == 1) {
        double end = rma_wtime() + DEADLINE;
        while (rma_atomic_fetch(word, 1) != 1 && rma_wtime() < end) BENCH_RMA(rma_progress());
        wrong = bench_pair_wrong(pair.heap, seed) + (rma_atomic_fetch(word, 1) != 1);
    }
    bench_sync();
    return wrong;
}

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "signal latency",
        .note = "PE 0 to PE 1",
        .help = "Time of a put with a signal and their completion, from PE 0 to PE 1:\n"
                "  Latency (us)  rma_put_signal, rma_quiet\n"
                "  put (us)      rma_put, rma_quiet\n"
                "  raw (us)      stores or memcpy through rma_ptr, and a store that releases them; '-' off-node\n"
                "1.2 at most is asked of signal/put. The compiler knows lengths of 8 bytes and less.",
        .min_size = 8,
        .max_size = (size_t)1 << 20,
        .n_pes = 2,
        .budget = 5e-3,
    };
    struct bench_method methods[N_METHODS] = {
        [SIGNAL] = {.name = "Latency (us)", .run = run_signal, .check = check_signal, .callers = 1},
        [PUT] = {.name = "put (us)", .run = run_put, .check = check_put, .callers = 1},
        [RAW] = {.name = "raw (us)", .run = run_raw, .check = check_signal, .callers = 1},
    };
    static const struct bench_ratio ratios[] = {
        {"signal/put", SIGNAL, {PUT, -1}},
        {"signal/raw", SIGNAL, {RAW, -1}},
    };

    bench_init(argc, argv, &spec);
    bench_pair_open(&pair, bench.sizes.max);
    word = rma_aligned_alloc(SIGNAL_SIZE, SIGNAL_SIZE);
    if (!word) bench_refuse(1, "%s", rma_last_error());
    *word = 0;
    if (bench.pe == 0) raw = rma_ptr(word, 1);
    BENCH_RMA(rma_barrier_all());
    if (!pair.on_node) methods[RAW].run = NULL;
    bench_sweep(methods, N_METHODS, ratios, 2);
    BENCH_RMA(rma_free(word));
    bench_pair_close(&pair);
    return bench_finish();
}
