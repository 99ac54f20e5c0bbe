/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_section.c: the time to move a part of a matrix of another PE in one call: a patch, and a column of elements that
 * are far apart. The caller's elements are contiguous. */
#include "pair.h"

#include <string.h>

#define SIDE  1024 /* doubles in a row of the matrix */
#define PATCH 128  /* doubles in a row of the patch */
#define PITCH (SIDE * sizeof(double))

enum { RMA, CONTIGUOUS, RAW, MPI };

/* A part of the matrix: `rows` rows of `len` bytes. */
struct part {
    size_t rows, len, corner; /* corner: where it begins in the matrix */
    ptrdiff_t there[2], here[2];
    size_t count[2];
    MPI_Datatype type;
};
static struct part patch = {PATCH,
                            PATCH * sizeof(double),
                            300 * PITCH + 200 * sizeof(double),
                            {PITCH, sizeof(double)},
                            {PATCH * sizeof(double), sizeof(double)},
                            {PATCH, PATCH},
                            MPI_DATATYPE_NULL};
static struct part column = {SIDE,      sizeof(double),   200 * sizeof(double), {PITCH, 0}, {sizeof(double), 0},
                             {SIDE, 1}, MPI_DATATYPE_NULL};
static const struct part *part; /* of the row being measured */

static int dims(void) { return part->count[1] > 1 ? 2 : 1; }

BENCH_LOOP(put_rma, BENCH_RMA(rma_put_section(pair.heap + part->corner, pair.own, part->there, part->here,
                                              sizeof(double), dims(), part->count, bench.peer));
           BENCH_RMA(rma_quiet()))
BENCH_LOOP(get_rma, BENCH_RMA(rma_get_section(pair.own, pair.heap + part->corner, part->here, part->there,
                                              sizeof(double), dims(), part->count, bench.peer)))
BENCH_LOOP(put_contiguous, BENCH_RMA(rma_put(pair.heap, pair.own, part->rows * part->len, bench.peer));
           BENCH_RMA(rma_quiet()))
BENCH_LOOP(get_contiguous, BENCH_RMA(rma_get(pair.own, pair.heap, part->rows * part->len, bench.peer)))

/* The compiler knows the length of one double. */
BENCH_INLINE void raw_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch) {
    if (part->len == sizeof(double))
        for (size_t i = 0; i < part->rows; i++) memcpy(to + i * to_pitch, from + i * from_pitch, sizeof(double));
    else
        for (size_t i = 0; i < part->rows; i++) memcpy(to + i * to_pitch, from + i * from_pitch, part->len);
}

BENCH_LOOP(put_raw, raw_rows(pair.peer + part->corner, PITCH, pair.own, part->len))
BENCH_LOOP(get_raw, raw_rows(pair.own, part->len, pair.peer + part->corner, PITCH))

#define MPI_LOOP(NAME, MPI_CALL)                                                                                       \
    BENCH_LOOP(NAME, BENCH_MPI(MPI_CALL(pair.own, (int)(part->rows * part->len), MPI_BYTE, bench.peer,                 \
                                        (MPI_Aint)part->corner, 1, part->type, pair.win));                             \
               BENCH_MPI(MPI_Win_flush(bench.peer, pair.win)))
MPI_LOOP(put_mpi, MPI_Put)
MPI_LOOP(get_mpi, MPI_Get)

/* ---- validation ---- */

static double value(size_t i, unsigned seed) { return (double)(i * 3 + seed); }

/* Runs m once from known matrices. A put must change the part, and nothing else; a get must get it. */
static size_t check(const struct bench_method *m, char *matrix, MPI_Win win) {
    static unsigned seed;
    const bool target = bench.role == BENCH_TARGET, get = bench.row % 2;
    double *there = (double *)(void *)matrix, *here = (double *)(void *)pair.own;
    size_t wrong = 0;
    seed += 7;
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) there[i] = value(i, seed), here[i] = -value(i, seed);
    bench_check_run(m, 1, win);
    if (get ? bench.role != BENCH_ORIGIN : !target) return 0;
    for (size_t row = 0, k = 0; row < part->rows; row++)
        for (size_t i = 0; i < part->len / sizeof(double); i++, k++) {
            const size_t at = part->corner / sizeof(double) + row * SIDE + i;
            if (get)
                wrong += here[k] != value(at, seed);
            else
                wrong += there[at] != -value(k, seed), there[at] = value(at, seed);
        }
    for (size_t i = 0; !get && i < (size_t)SIDE * SIDE; i++) wrong += there[i] != value(i, seed);
    return wrong;
}

static size_t check_heap(const struct bench_method *m) { return check(m, pair.heap, MPI_WIN_NULL); }
static size_t check_window(const struct bench_method *m) { return check(m, pair.base, pair.win); }

static void before(struct bench_method *methods) {
    (void)methods;
    part = bench.row < 2 ? &patch : &column;
}

static void begin(void) {
    const int sizes[2] = {SIDE, SIDE}, sub[2] = {PATCH, PATCH}, start[2] = {0, 0};
    bench_pair_open(SIDE * PITCH);
    BENCH_MPI(MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &patch.type));
    BENCH_MPI(MPI_Type_vector((int)column.rows, 1, SIDE, MPI_DOUBLE, &column.type));
    BENCH_MPI(MPI_Type_commit(&patch.type));
    BENCH_MPI(MPI_Type_commit(&column.type));
}

static void end(void) {
    BENCH_MPI(MPI_Type_free(&patch.type));
    BENCH_MPI(MPI_Type_free(&column.type));
    bench_pair_close();
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [RMA] = {.name = "Latency (us)", .check = check_heap},
        [CONTIGUOUS] = {.name = "contig. (us)"},
        [RAW] = {.name = "raw (us)", .check = check_heap, .bare = true},
        [MPI] = {.name = "MPI (us)", .check = check_window, .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"rma/raw", RMA, {RAW, -1}}, {"MPI/rma", MPI, {RMA, -1}}, {"rma/contig.", RMA, {CONTIGUOUS, -1}}, {0}};
    /* Puts are even rows, and patches the first two. */
    static const struct bench_row rows[] = {
        {"put_patch", {put_rma, put_contiguous, put_raw, put_mpi}, 0},
        {"get_patch", {get_rma, get_contiguous, get_raw, get_mpi}, 0},
        {"put_column", {put_rma, put_contiguous, put_raw, put_mpi}, 0},
        {"get_column", {get_rma, get_contiguous, get_raw, get_mpi}, 0},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "section latency",
        .note = "matrix of 1024 x 1024 doubles",
        .help = "Time to move a part of a matrix of 1024 x 1024 doubles of the second PE of a pair, by the first:\n"
                "  Latency (us)   rma_put_section with rma_quiet, or rma_get_section\n"
                "  contig. (us)   rma_put with rma_quiet, or rma_get, of as many contiguous bytes\n"
                "  raw (us)       a loop of memcpy through rma_ptr, one for each row of the part; '-' off-node\n"
                "  MPI (us)       MPI_Put or MPI_Get with a subarray, or a vector, as the target's type, and "
                "MPI_Win_flush\n"
                "patch is 128 x 128 doubles, column is 1024 doubles that are 8 KiB apart. The origin's doubles are\n"
                "contiguous.",
        .methods = methods,
        .ratios = ratios,
        .rows = rows,
        .first = "Part",
        .pairs = BENCH_PAIRS_MAX,
        .budget = 5e-3,
        .begin = begin,
        .before = before,
        .end = end,
    };
    return bench_main(argc, argv, &spec);
}
