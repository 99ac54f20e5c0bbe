/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_atomics.c: the time of an atomic on a word of another PE, one after the other, and in a stream.
 *
 * The raw column is the limit: the same instruction on the address that rma_ptr gives. A model of the word predicts
 * what each operation returns, and the word's final value. */
#include "pair.h"

#include <stdio.h>

enum { RMA, RAW, MPI, STREAM };

#define WINDOW_MAX 1024

static uint64_t *word;               /* the target's, by librma */
static uint64_t *raw;                /* the same by load and store, on the origin; null off-node */
static uint64_t fetched[WINDOW_MAX]; /* results of the operations, by their place in the window */
static uint64_t sent[WINDOW_MAX];    /* operands of MPI's calls that are under way */
static uint64_t next;                /* starts as the word's value; operands are derived from it */
static long window;                  /* operations of the row for each completion */

BENCH_INLINE void rma_complete(void) { BENCH_RMA(rma_quiet()); }

BENCH_INLINE void mpi_flush(void) { BENCH_MPI(MPI_Win_flush(bench.peer, pair.win)); }

BENCH_INLINE void mpi_begin_fetch_op(long k, uint64_t operand, MPI_Op op) {
    sent[k] = operand;
    BENCH_MPI(MPI_Fetch_and_op(&sent[k], &fetched[k], MPI_UINT64_T, bench.peer, 0, op, pair.win));
}

BENCH_INLINE void mpi_fetch_op(long k, uint64_t operand, MPI_Op op) {
    mpi_begin_fetch_op(k, operand, op);
    mpi_flush();
}

BENCH_INLINE void mpi_accumulate(long k, uint64_t operand, MPI_Op op) {
    sent[k] = operand;
    BENCH_MPI(MPI_Accumulate(&sent[k], 1, MPI_UINT64_T, bench.peer, 0, 1, MPI_UINT64_T, op, pair.win));
    mpi_flush();
}

/* Processors have no atomic minimum: it is a loop. */
#define RAW_LOOP(NAME, BETTER)                                                                                         \
    BENCH_INLINE uint64_t raw_##NAME##_loop(uint64_t *p, uint64_t value, int order) {                                  \
        uint64_t old = __atomic_load_n(p, __ATOMIC_ACQUIRE);                                                           \
        while (value BETTER old && !__atomic_compare_exchange_n(p, &old, value, true, order, __ATOMIC_ACQUIRE))        \
            continue;                                                                                                  \
        return old;                                                                                                    \
    }
RAW_LOOP(min, <)
RAW_LOOP(max, >)

/* One operation each, by three ways; k is its place in the window. The function model_NAME applies the same to *w and
 * returns the old value: V is the operand, THEN the new value. Statements derive the same operand from `next`. */
#define OPERATION(NAME, V, THEN, BY_RMA, BY_RAW, BY_MPI)                                                               \
    BENCH_INLINE uint64_t model_##NAME(uint64_t *w) {                                                                  \
        uint64_t old = *w, v = (V);                                                                                    \
        *w = (THEN);                                                                                                   \
        (void)v;                                                                                                       \
        return old;                                                                                                    \
    }                                                                                                                  \
    BENCH_INLINE void rma_##NAME##_once(long k) {                                                                      \
        (void)k;                                                                                                       \
        BY_RMA;                                                                                                        \
    }                                                                                                                  \
    BENCH_INLINE void raw_##NAME##_once(long k) {                                                                      \
        (void)k;                                                                                                       \
        BY_RAW;                                                                                                        \
    }                                                                                                                  \
    BENCH_INLINE void mpi_##NAME##_once(long k) { BY_MPI; }

/* Two operations, one of which returns the old value. RAW: a builtin that fetches. */
#define FAMILY(NAME, V, THEN, RAW, OP)                                                                                 \
    OPERATION(NAME, V, THEN, (BENCH_RMA(rma_atomic_##NAME(word, V, bench.peer)), rma_complete()),                      \
              (void)RAW(raw, V, __ATOMIC_ACQ_REL), mpi_accumulate(k, V, OP))                                           \
    OPERATION(fetch_##NAME, V, THEN, fetched[k] = rma_atomic_fetch_##NAME(word, V, bench.peer),                        \
              fetched[k] = RAW(raw, V, __ATOMIC_ACQ_REL), mpi_fetch_op(k, V, OP))
FAMILY(add, 1, old + v, __atomic_fetch_add, MPI_SUM)
FAMILY(and, next++, old &v, __atomic_fetch_and, MPI_BAND)
FAMILY(or, next++, old | v, __atomic_fetch_or, MPI_BOR)
FAMILY(xor, next++, old ^ v, __atomic_fetch_xor, MPI_BXOR)
FAMILY(min, --next, v < old ? v : old, raw_min_loop, MPI_MIN)
FAMILY(max, ++next, v > old ? v : old, raw_max_loop, MPI_MAX)

OPERATION(inc, 1, old + v, (BENCH_RMA(rma_atomic_inc(word, bench.peer)), rma_complete()), raw_add_once(k),
          mpi_accumulate(k, 1, MPI_SUM))
OPERATION(fetch_inc, 1, old + v, fetched[k] = rma_atomic_fetch_inc(word, bench.peer), raw_fetch_add_once(k),
          mpi_fetch_op(k, 1, MPI_SUM))
OPERATION(fetch, 0, old, fetched[k] = rma_atomic_fetch(word, bench.peer),
          fetched[k] = __atomic_load_n(raw, __ATOMIC_ACQUIRE), mpi_fetch_op(k, 0, MPI_NO_OP))
OPERATION(set, ++next, v, (BENCH_RMA(rma_atomic_set(word, ++next, bench.peer)), rma_complete()),
          __atomic_store_n(raw, ++next, __ATOMIC_RELEASE), mpi_accumulate(k, ++next, MPI_REPLACE))
OPERATION(swap, ++next, v, fetched[k] = rma_atomic_swap(word, ++next, bench.peer),
          fetched[k] = __atomic_exchange_n(raw, ++next, __ATOMIC_ACQ_REL), mpi_fetch_op(k, ++next, MPI_REPLACE))

BENCH_INLINE uint64_t raw_compare_swap(uint64_t found) {
    __atomic_compare_exchange_n(raw, &found, found + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return found;
}

BENCH_INLINE void mpi_compare_swap(long k, uint64_t cond) {
    sent[k] = cond + 1;
    BENCH_MPI(MPI_Compare_and_swap(&sent[k], &cond, &fetched[k], MPI_UINT64_T, bench.peer, 0, pair.win));
    mpi_flush();
}

OPERATION(compare_swap, next++, old == v ? v + 1 : old,
          (fetched[k] = rma_atomic_compare_swap(word, next, next + 1, bench.peer), next++),
          (fetched[k] = raw_compare_swap(next), next++), mpi_compare_swap(k, next++))

BENCH_INLINE void rma_stream(long k) {
    BENCH_RMA(rma_atomic_fetch_add_nbi(&fetched[k], word, 1, bench.peer));
    if (k == window - 1) rma_complete();
}

BENCH_INLINE void mpi_stream(long k) {
    mpi_begin_fetch_op(k, 1, MPI_SUM);
    if (k == window - 1) mpi_flush();
}

OPERATION(stream, 1, old + v, rma_stream(k), raw_fetch_add_once(k), mpi_stream(k))

/* n operations in windows; the last window may be short. */

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
    next = rma_atomic_fetch(word, bench.peer);
    double start = rma_wtime();
    loop(n, op);
    rma_complete();
    return rma_wtime() - start;
}

BENCH_INLINE double loop_raw(long n, void (*op)(long k)) {
    next = __atomic_load_n(raw, __ATOMIC_ACQUIRE);
    return loop(n, op);
}

BENCH_INLINE double loop_mpi(long n, void (*op)(long k)) {
    mpi_fetch_once(0);
    next = fetched[0];
    double start = rma_wtime();
    loop(n, op);
    mpi_flush();
    return rma_wtime() - start;
}

#define RUN(KIND, OP)                                                                                                  \
    static double run_##KIND##_##OP(long n) { return loop_##KIND(n, KIND##_##OP##_once); }
RUN(rma, stream)
RUN(raw, stream)
RUN(mpi, stream)

/* clang-format off */
#define OPERATIONS(X)                                                                                   \
    X(fetch, true) X(set, false) X(swap, true) X(compare_swap, true) X(inc, false) X(fetch_inc, true)   \
    X(add, false) X(fetch_add, true) X(and, false) X(fetch_and, true) X(or, false) X(fetch_or, true)    \
    X(xor, false) X(fetch_xor, true) X(min, false) X(fetch_min, true) X(max, false) X(fetch_max, true)
/* clang-format on */
#define RUNS(OP, FETCHES) RUN(rma, OP) RUN(raw, OP) RUN(mpi, OP)
OPERATIONS(RUNS)

/* The rows; n: operations for each completion. Beside them: what predicts a row's operation, and whether it fetches. */
#define ROW(OP, FETCHES) {#OP, {run_rma_##OP, run_raw_##OP, run_mpi_##OP, NULL}, 1},
#define STREAM_ROW(NAME, N)                                                                                            \
    { NAME, {run_rma_stream, run_raw_stream, run_mpi_fetch_add, run_mpi_stream}, N }
static const struct bench_row rows[] = {
    OPERATIONS(ROW) STREAM_ROW("stream64", 64),
    STREAM_ROW("stream1024", WINDOW_MAX),
    {0},
};
static const struct operation {
    uint64_t (*model)(uint64_t *w);
    bool fetches;
} operations[] = {
#define PREDICTED(OP, FETCHES) {model_##OP, FETCHES},
    OPERATIONS(PREDICTED){model_stream, true},
    {model_stream, true},
};

/* Runs 16 windows from a known word, and checks its final value and the results of the last window. */
static size_t check_word(const struct bench_method *m, uint64_t *target, MPI_Win win) {
    static uint64_t base = 1000000;
    uint64_t expected[WINDOW_MAX], value, held, n = 16 * (uint64_t)window;
    const struct operation *operation = &operations[bench.row];
    size_t wrong = 0;
    base += 1000003;
    if (bench.role == BENCH_TARGET) __atomic_store_n(target, base, __ATOMIC_RELEASE);
    bench_check_run(m, (long)n, win);
    value = next = base;
    for (uint64_t i = 0; i < n; i++) expected[i % (uint64_t)window] = operation->model(&value);
    held = __atomic_load_n(target, __ATOMIC_ACQUIRE);
    if (bench.role == BENCH_TARGET) return held != value;
    if (bench.role != BENCH_ORIGIN || !operation->fetches) return 0;
    for (long k = 0; k < window; k++) wrong += fetched[k] != expected[k];
    return wrong;
}

static size_t check_heap(const struct bench_method *m) { return check_word(m, word, MPI_WIN_NULL); }

static size_t check_window(const struct bench_method *m) {
    return check_word(m, (uint64_t *)(void *)pair.base, pair.win);
}

/* A value from which minima and maxima change the word each time, and for which MPI, which may compare unsigned words
 * as signed ones, gives the same results. */
static void set_word(struct bench_method *methods) {
    (void)methods;
    window = rows[bench.row].n;
    if (bench.role == BENCH_TARGET) {
        __atomic_store_n(word, (uint64_t)1 << 62, __ATOMIC_RELEASE);
        __atomic_store_n((uint64_t *)(void *)pair.base, (uint64_t)1 << 62, __ATOMIC_RELEASE);
    }
    BENCH_MPI(MPI_Win_sync(pair.win));
    bench_sync();
}

static void begin(void) {
    bench_pair_open(sizeof *word);
    word = (uint64_t *)(void *)pair.heap;
    raw = (uint64_t *)(void *)pair.peer;
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [RMA] = {.name = "Latency (us)", .check = check_heap},
        [RAW] = {.name = "raw (us)", .check = check_heap, .bare = true},
        [MPI] = {.name = "MPI (us)", .check = check_window, .mpi = true},
        [STREAM] = {.name = "MPI stream (us)", .check = check_window, .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"rma/raw", RMA, {RAW, -1}},
        {"MPI/rma", MPI, {RMA, -1}},
        {"stream/rma", STREAM, {RMA, -1}},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "atomic latency",
        .note = "8 bytes",
        .help = "Time of an atomic on 8 bytes, by the first PE of a pair on a word of the second:\n"
                "  Latency (us)     rma_atomic_OP, of those that fetch nothing with rma_quiet; streamN: "
                "rma_atomic_fetch_add_nbi,\n"
                "                   and rma_quiet after N\n"
                "  raw (us)         the same instruction through rma_ptr, of min and max a loop of compare-and-swap; "
                "'-' off-node\n"
                "  MPI (us)         MPI_Fetch_and_op, MPI_Compare_and_swap or, where nothing is fetched, "
                "MPI_Accumulate, each with\n"
                "                   MPI_Win_flush\n"
                "  MPI stream (us)  N of MPI_Fetch_and_op, one MPI_Win_flush\n"
                "The target waits in MPI for MPI's columns, and off-node in librma for the first.",
        .methods = methods,
        .ratios = ratios,
        .rows = rows,
        .first = "Operation",
        .pairs = BENCH_PAIRS_MAX,
        .budget = 5e-3,
        .begin = begin,
        .before = set_word,
        .end = bench_pair_close,
    };
    return bench_main(argc, argv, &spec);
}
