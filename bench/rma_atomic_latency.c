/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_atomic_latency.c: the time that an atomic takes on a word of PE 1, one after the other, and in a stream.
 *
 * The raw column is the limit: the same instruction on the address that rma_ptr gives. Each row changes the word in a way that
 * tells, by what it held before, how many operations were done: so the rows check themselves. */
#include "pair.h"

#include <stdio.h>

enum { RMA, RAW, MPI, STREAM, N_METHODS };

#define WINDOW_MAX 1024

static struct bench_pair pair;
static uint64_t *word;                /* PE 1's, by librma */
static uint64_t *raw;                 /* the same by load and store, on PE 0; null off-node */
static uint64_t fetched[WINDOW_MAX];  /* what operations found, by their place in the window */
static uint64_t next;                 /* what the word holds if nothing was lost */
static uint64_t sent[WINDOW_MAX];     /* operands of MPI's calls that are under way */
static long window;                   /* operations of the row for each completion */

/* One operation each; k is its place in the window. */

BENCH_INLINE void rma_fetch_add(long k) {
    fetched[k] = rma_atomic_fetch_add(word, 1, 1);
}

BENCH_INLINE void rma_compare_swap(long k) {
    fetched[k] = rma_atomic_compare_swap(word, next, next + 1, 1);
    next++;
}

BENCH_INLINE void rma_swap(long k) {
    fetched[k] = rma_atomic_swap(word, ++next, 1);
}

BENCH_INLINE void rma_fetch(long k) {
    fetched[k] = rma_atomic_fetch(word, 1);
}

BENCH_INLINE void rma_add(long k) {
    (void)k;
    BENCH_RMA(rma_atomic_add(word, 1, 1));
    BENCH_RMA(rma_quiet());
}

BENCH_INLINE void rma_stream(long k) {
    BENCH_RMA(rma_atomic_fetch_add_nbi(&fetched[k], word, 1, 1));
    if (k == window - 1) BENCH_RMA(rma_quiet());
}

BENCH_INLINE void raw_fetch_add(long k) {
    fetched[k] = __atomic_fetch_add(raw, 1, __ATOMIC_ACQ_REL);
}

BENCH_INLINE void raw_compare_swap(long k) {
    uint64_t found = next;
    __atomic_compare_exchange_n(raw, &found, next + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    fetched[k] = found;
    next++;
}

BENCH_INLINE void raw_swap(long k) {
    fetched[k] = __atomic_exchange_n(raw, ++next, __ATOMIC_ACQ_REL);
}

BENCH_INLINE void raw_fetch(long k) {
    fetched[k] = __atomic_load_n(raw, __ATOMIC_ACQUIRE);
}

BENCH_INLINE void raw_add(long k) {
    (void)k;
    __atomic_fetch_add(raw, 1, __ATOMIC_ACQ_REL);
}

BENCH_INLINE void mpi_start(long k, uint64_t operand, MPI_Op op) {
    sent[k] = operand;
    BENCH_MPI(MPI_Fetch_and_op(&sent[k], &fetched[k], MPI_UINT64_T, 1, 0, op, pair.win));
}

BENCH_INLINE void mpi_flush(void) {
    BENCH_MPI(MPI_Win_flush(1, pair.win));
}

BENCH_INLINE void mpi_fetch_add(long k) {
    mpi_start(k, 1, MPI_SUM);
    mpi_flush();
}

BENCH_INLINE void mpi_compare_swap(long k) {
    uint64_t value = next + 1;
    BENCH_MPI(MPI_Compare_and_swap(&value, &next, &fetched[k], MPI_UINT64_T, 1, 0, pair.win));
    mpi_flush();
    next++;
}

BENCH_INLINE void mpi_swap(long k) {
    mpi_start(k, ++next, MPI_REPLACE);
    mpi_flush();
}

BENCH_INLINE void mpi_fetch(long k) {
    mpi_start(k, 0, MPI_NO_OP);
    mpi_flush();
}

BENCH_INLINE void mpi_add(long k) {
    sent[k] = 1;
    BENCH_MPI(MPI_Accumulate(&sent[k], 1, MPI_UINT64_T, 1, 0, 1, MPI_UINT64_T, MPI_SUM, pair.win));
    mpi_flush();
}

BENCH_INLINE void mpi_stream(long k) {
    mpi_start(k, 1, MPI_SUM);
    if (k == window - 1) mpi_flush();
}

/* n operations in whole windows, the last one perhaps short. next begins as what the word holds. */

BENCH_INLINE double loop(long n, void (*op)(long k)) {
    long w = window;
    double start = rma_wtime();
    for (long i = 0, k = 0; i < n; i++) {
        op(k);
        bench_keep(fetched);
        if (++k == w) k = 0;
    }
    return rma_wtime() - start;
}

BENCH_INLINE double loop_rma(long n, void (*op)(long k)) {
    next = rma_atomic_fetch(word, 1);
    double start = rma_wtime();
    loop(n, op);
    BENCH_RMA(rma_quiet());
    return rma_wtime() - start;
}

BENCH_INLINE double loop_raw(long n, void (*op)(long k)) {
    next = __atomic_load_n(raw, __ATOMIC_ACQUIRE);
    return loop(n, op);
}

BENCH_INLINE double loop_mpi(long n, void (*op)(long k)) {
    mpi_fetch(0);
    next = fetched[0];
    double start = rma_wtime();
    loop(n, op);
    mpi_flush();
    return rma_wtime() - start;
}

#define RUN(KIND, OP)                                                                                   \
    static double run_##KIND##_##OP(long n) {                                                           \
        return loop_##KIND(n, KIND##_##OP);                                                             \
    }
#define RUNS(OP) RUN(rma, OP) RUN(raw, OP) RUN(mpi, OP)
RUNS(fetch_add)
RUNS(compare_swap)
RUNS(swap)
RUNS(fetch)
RUNS(add)
RUN(rma, stream)
RUN(mpi, stream)

struct operation {
    const char *name;
    long window;
    bool fetches, changes; /* the word, by 1 */
    double (*run[N_METHODS])(long n);
};

#define SINGLE(OP, FETCHES, CHANGES) {#OP, 1, FETCHES, CHANGES, {run_rma_##OP, run_raw_##OP, run_mpi_##OP, NULL}}
#define WINDOW(NAME, N) {NAME, N, true, true, {run_rma_stream, run_raw_fetch_add, run_mpi_fetch_add, run_mpi_stream}}
static const struct operation operations[] = {
    SINGLE(fetch_add, true, true), SINGLE(compare_swap, true, true), SINGLE(swap, true, true), SINGLE(fetch, true, false),
    SINGLE(add, false, true),      WINDOW("stream64", 64),          WINDOW("stream1024", WINDOW_MAX),
};
#define N_OPERATIONS ((int)(sizeof operations / sizeof operations[0]))

static const struct operation *operation; /* of the row being measured */

/* From a word of PE 1 that is known, 16 windows: what it holds then, and the sum of what the last window found. */
static size_t check_word(const struct bench_method *m, uint64_t *target, MPI_Win win) {
    static uint64_t base = 1000;
    uint64_t w = (uint64_t)window, n = 16 * w, sum = 0;
    base += 1000003;
    if (bench.pe == 1) __atomic_store_n(target, base, __ATOMIC_RELEASE);
    if (win != MPI_WIN_NULL) BENCH_MPI(MPI_Win_sync(win));
    bench_sync();
    if (bench_calls_run(m)) m->run((long)n);
    bench_sync();
    if (win != MPI_WIN_NULL) BENCH_MPI(MPI_Win_sync(win));
    if (bench.pe == 1) return __atomic_load_n(target, __ATOMIC_ACQUIRE) != base + (operation->changes ? n : 0);
    if (bench.pe != 0 || !operation->fetches) return 0;
    for (uint64_t k = 0; k < w; k++) sum += fetched[k];
    return sum != (operation->changes ? w * (base + n - w) + w * (w - 1) / 2 : w * base);
}

static size_t check_heap(const struct bench_method *m) {
    return check_word(m, word, MPI_WIN_NULL);
}

static size_t check_window(const struct bench_method *m) {
    return check_word(m, (uint64_t *)(void *)pair.base, pair.win);
}

int main(int argc, char **argv) {
    static int only = -1;
    static const struct bench_option options[] = {
        {"operation", 'o', BENCH_WORD, &only, 0, 0, "fetch_add|compare_swap|swap|fetch|add|stream64|stream1024",
         "this row alone [all]"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "atomic latency",
        .note = "PE 0 to PE 1, 8 bytes",
        .help = "Time of an atomic on 8 bytes, by PE 0 on a word of PE 1:\n"
                "  Latency (us)     rma_atomic_OP; add: with rma_quiet; streamN: rma_atomic_fetch_add_nbi, rma_quiet after N\n"
                "  raw (us)         the same instruction through rma_ptr; '-' off-node\n"
                "  MPI (us)         MPI_Fetch_and_op, MPI_Compare_and_swap or, for add, MPI_Accumulate, each with MPI_Win_flush\n"
                "  MPI stream (us)  N of MPI_Fetch_and_op, one MPI_Win_flush\n"
                "PE 1 waits in MPI for MPI's columns, and off-node in librma for the first.",
        .options = options,
        .rows = "Operation",
        .n_pes = 2,
        .budget = 5e-3,
    };
    struct bench_method methods[N_METHODS] = {
        [RMA] = {.name = "Latency (us)", .check = check_heap, .callers = 1},
        [RAW] = {.name = "raw (us)", .check = check_heap, .callers = 1},
        [MPI] = {.name = "MPI (us)", .check = check_window, .callers = 1, .mpi = true},
        [STREAM] = {.name = "MPI stream (us)", .check = check_window, .callers = 1, .mpi = true},
    };
    static const struct bench_ratio near[] = {
        {"rma/raw", RMA, {RAW, -1}},
        {"MPI/rma", MPI, {RMA, -1}},
        {"stream/rma", STREAM, {RMA, -1}},
    };
    static const struct bench_ratio far[] = {
        {"rma/MPI", RMA, {MPI, -1}},
        {"MPI/rma", MPI, {RMA, -1}},
        {"rma/stream", RMA, {STREAM, -1}},
    };

    bench_init(argc, argv, &spec);
    bench_pair_open(&pair, sizeof *word);
    word = (uint64_t *)(void *)pair.heap;
    raw = (uint64_t *)(void *)pair.peer;
    for (int i = 0; i < N_OPERATIONS; i++) {
        if (only >= 0 && only != i) continue;
        operation = &operations[i];
        window = operation->window;
        for (int k = 0; k < N_METHODS; k++) methods[k].run = operation->run[k];
        if (!pair.on_node) methods[RAW].run = NULL;
        bench_row(operation->name, methods, N_METHODS, pair.on_node ? near : far, 3);
    }
    bench_pair_close(&pair);
    return bench_finish();
}
