/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_accumulate.c: the time to add doubles to those of another PE. */
#include "pair.h"

#include <string.h>

#define SIDE  1024 /* doubles in a row of the matrix whose patch is updated */
#define PATCH 128
#define MOST  ((size_t)SIDE * PATCH) /* doubles: 1 MiB */
#define PITCH (SIDE * sizeof(double))

enum { RMA, PUT, RAW, MPI, N_METHODS };

static struct bench_pair pair;
static size_t n_doubles; /* of the row being measured */
static bool is_patch;    /* they are a patch of PATCH rows */
static MPI_Datatype patch_type;

BENCH_INLINE double loop(long n, void (*once)(void)) {
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        once();
        bench_keep(pair.own);
    }
    return rma_wtime() - start;
}

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

static void put_once(void) {
    BENCH_RMA(rma_put(pair.heap, pair.own, n_doubles * sizeof(double), bench.peer));
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

static void mpi_once(void) {
    const int n = (int)n_doubles;
    BENCH_MPI(MPI_Accumulate(pair.own, n, MPI_DOUBLE, bench.peer, 0, is_patch ? 1 : n,
                             is_patch ? patch_type : MPI_DOUBLE, MPI_SUM, pair.win));
    BENCH_MPI(MPI_Win_flush(bench.peer, pair.win));
}

#define RUN(NAME)                                                                                                      \
    static double run_##NAME(long n) { return loop(n, NAME##_once); }
RUN(rma)
RUN(put)
RUN(raw)
RUN(mpi)

/* Batches add for a long time: each row begins with a matrix of small numbers, so that the sums stay numbers. */
static void fill(char *matrix, double first, double step) {
    double *p = (double *)(void *)matrix;
    for (size_t i = 0; i < MOST; i++) p[i] = first + step * (double)(i % 1000);
}

/* Runs m from known values, which sums of small integers change exactly. */
static size_t check(const struct bench_method *m, char *matrix, MPI_Win win) {
    enum { TIMES = 3 };
    const double *p = (const double *)(const void *)matrix;
    size_t wrong = 0;
    fill(matrix, 5, 2);
    fill(pair.own, 1, 3);
    bench_pair_sync_window(win);
    bench_sync();
    if (bench_calls_run(m)) m->run(TIMES);
    bench_sync();
    bench_pair_sync_window(win);
    if (bench.role == BENCH_TARGET || bench.peer == bench.pe)
        for (size_t i = 0; i < MOST; i++) {
            const size_t row = i / SIDE, in = i % SIDE, k = is_patch ? row * PATCH + in : i;
            const bool added = is_patch ? in < PATCH : i < n_doubles;
            const double was = 5 + 2 * (double)(i % 1000), each = 1 + 3 * (double)(k % 1000);
            wrong += p[i] != (bench.role == BENCH_BYSTANDER || !added ? was : was + TIMES * each);
        }
    fill(pair.own, 1, 0);
    return wrong;
}

static size_t check_heap(const struct bench_method *m) { return check(m, pair.heap, MPI_WIN_NULL); }
static size_t check_window(const struct bench_method *m) { return check(m, pair.base, pair.win); }

static void row(const char *name, size_t n) {
    static const struct bench_ratio ratios[] = {
        {"rma/raw", RMA, {RAW, -1}}, {"MPI/rma", MPI, {RMA, -1}}, {"rma/put", RMA, {PUT, -1}}};
    const struct bench_method methods[N_METHODS] = {
        [RMA] = {.name = "Latency (us)", .run = run_rma, .check = check_heap, .callers = BENCH_ORIGINS},
        [PUT] = {.name = "put (us)", .run = run_put, .callers = BENCH_ORIGINS},
        [RAW] = {.name = "raw (us)",
                 .run = pair.on_node ? run_raw : NULL,
                 .check = check_heap,
                 .callers = BENCH_ORIGINS},
        [MPI] = {.name = "MPI (us)", .run = run_mpi, .check = check_window, .callers = BENCH_ORIGINS, .mpi = true},
    };
    is_patch = n == 0;
    n_doubles = n ? n : (size_t)PATCH * PATCH;
    fill(pair.heap, 0, 0);
    fill(pair.base, 0, 0);
    fill(pair.own, 1, 0);
    BENCH_MPI(MPI_Win_sync(pair.win));
    bench_sync();
    bench_row(name, methods, N_METHODS, ratios, 3);
}

int main(int argc, char **argv) {
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
        .rows = "Size",
        .pairs = BENCH_PAIRS_MAX,
        .budget = 5e-3,
    };
    const int sizes[2] = {PATCH, SIDE}, sub[2] = {PATCH, PATCH}, start[2] = {0, 0};

    bench_init(argc, argv, &spec);
    bench_pair_open(&pair, MOST * sizeof(double));
    BENCH_MPI(MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &patch_type));
    BENCH_MPI(MPI_Type_commit(&patch_type));
    row("8", 1);
    row("64", 8);
    row("4096", 512);
    row("patch", 0);
    row("1048576", MOST);
    BENCH_MPI(MPI_Type_free(&patch_type));
    bench_pair_close(&pair);
    return bench_finish();
}
