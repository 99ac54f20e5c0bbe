/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_accumulate.c: the time to add doubles to those of another PE. */
#include "pair.h"

#include <string.h>

#define SIDE  1024 /* doubles in a row of the matrix whose patch is updated */
#define PATCH 128
#define MOST  ((size_t)SIDE * PATCH) /* doubles: 1 MiB */
#define PITCH (SIDE * sizeof(double))

enum { RMA, PUT, RAW, MPI };

static size_t n_doubles; /* of the row being measured */
static bool is_patch;    /* they are a patch of PATCH rows */
static MPI_Datatype patch_type;

static void rma_once(void) {
    static const ptrdiff_t there[2] = {PITCH, sizeof(double)}, here[2] = {PATCH * sizeof(double), sizeof(double)};
    static const size_t count[2] = {PATCH, PATCH};
    if (is_patch)
        BENCH_RMA(rma_accumulate_section(pair.heap, pair.own, there, here, 2, count, RMA_DOUBLE, RMA_OP_SUM, NULL,
                                         bench.peer));
    else
        BENCH_RMA(rma_accumulate(pair.heap, pair.own, n_doubles, RMA_DOUBLE, RMA_OP_SUM, NULL, bench.peer));
    BENCH_RMA(rma_quiet());
}

BENCH_INLINE void add(double *to, const double *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

static void raw_once(void) {
    double *to = (double *)(void *)pair.peer;
    const double *from = (const double *)(const void *)pair.own;
    if (is_patch)
        for (size_t row = 0; row < PATCH; row++) add(to + row * SIDE, from + row * PATCH, PATCH);
    else
        add(to, from, n_doubles);
}

BENCH_LOOP(run_rma, rma_once())
BENCH_LOOP(run_put, BENCH_RMA(rma_put(pair.heap, pair.own, n_doubles * sizeof(double), bench.peer));
           BENCH_RMA(rma_quiet()))
BENCH_LOOP(run_raw, raw_once())
BENCH_LOOP(run_mpi,
           BENCH_MPI(MPI_Accumulate(pair.own, (int)n_doubles, MPI_DOUBLE, bench.peer, 0, is_patch ? 1 : (int)n_doubles,
                                    is_patch ? patch_type : MPI_DOUBLE, MPI_SUM, pair.win));
           BENCH_MPI(MPI_Win_flush(bench.peer, pair.win)))

/* Batches add for a long time: each row begins with a matrix of small numbers, so that the sums stay numbers. */
static void fill(char *matrix, double first, double step) {
    double *p = (double *)(void *)matrix;
    for (size_t i = 0; i < MOST; i++) p[i] = first + step * (double)(i % 1000);
}

/* Runs m from known values, which sums of small integers change exactly. */
static size_t check(const struct bench_method *m, char *matrix, MPI_Win win) {
    const int times = 3;
    const double *p = (const double *)(const void *)matrix;
    size_t wrong = 0;
    fill(matrix, 5, 2);
    fill(pair.own, 1, 3);
    bench_check_run(m, times, win);
    if (bench.role == BENCH_TARGET || bench.peer == bench.pe)
        for (size_t i = 0; i < MOST; i++) {
            const size_t row = i / SIDE, in = i % SIDE, k = is_patch ? row * PATCH + in : i;
            const bool added = is_patch ? in < PATCH : i < n_doubles;
            const double was = 5 + 2 * (double)(i % 1000), each = 1 + 3 * (double)(k % 1000);
            wrong += p[i] != (bench.role == BENCH_BYSTANDER || !added ? was : was + times * each);
        }
    fill(pair.own, 1, 0);
    return wrong;
}

static size_t check_heap(const struct bench_method *m) { return check(m, pair.heap, MPI_WIN_NULL); }
static size_t check_window(const struct bench_method *m) { return check(m, pair.base, pair.win); }

static void begin(void) {
    const int sizes[2] = {PATCH, SIDE}, sub[2] = {PATCH, PATCH}, start[2] = {0, 0};
    bench_pair_open(MOST * sizeof(double));
    BENCH_MPI(MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &patch_type));
    BENCH_MPI(MPI_Type_commit(&patch_type));
}

#define RUNS                                                                                                           \
    { run_rma, run_put, run_raw, run_mpi }
static const struct bench_row rows[] = {
    {"8", RUNS, 1}, {"64", RUNS, 8}, {"4096", RUNS, 512}, {"patch", RUNS, 0}, {"1048576", RUNS, MOST}, {0},
};

static void before(struct bench_method *methods) {
    (void)methods;
    is_patch = rows[bench.row].n == 0;
    n_doubles = is_patch ? (size_t)PATCH * PATCH : (size_t)rows[bench.row].n;
    fill(pair.heap, 0, 0);
    fill(pair.base, 0, 0);
    fill(pair.own, 1, 0);
    BENCH_MPI(MPI_Win_sync(pair.win));
    bench_sync();
}

static void end(void) {
    BENCH_MPI(MPI_Type_free(&patch_type));
    bench_pair_close();
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [RMA] = {.name = "Latency (us)", .check = check_heap},
        [PUT] = {.name = "put (us)"},
        [RAW] = {.name = "raw (us)", .check = check_heap, .bare = true},
        [MPI] = {.name = "MPI (us)", .check = check_window, .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"rma/raw", RMA, {RAW, -1}}, {"MPI/rma", MPI, {RMA, -1}}, {"rma/put", RMA, {PUT, -1}}, {0}};
    static const struct bench_spec spec = {
        .title = "accumulate latency",
        .note = "doubles",
        .help = "Time to add doubles to those of the second PE of a pair, by the first:\n"
                "  Latency (us)   rma_accumulate, or rma_accumulate_section, with rma_quiet\n"
                "  put (us)       rma_put of as many contiguous bytes, with rma_quiet\n"
                "  raw (us)       a loop of additions through rma_ptr, which is not atomic; '-' off-node\n"
                "  MPI (us)       MPI_Accumulate with MPI_SUM, of a patch with a subarray as the target's type, and "
                "MPI_Win_flush\n"
                "The rows are the sizes in bytes; patch is 128 x 128 doubles out of a matrix whose rows have 1024.",
        .methods = methods,
        .ratios = ratios,
        .rows = rows,
        .first = "Size",
        .pairs = BENCH_PAIRS_MAX,
        .budget = 5e-3,
        .begin = begin,
        .before = before,
        .end = end,
    };
    return bench_main(argc, argv, &spec);
}
