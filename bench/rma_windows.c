/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_windows.c: the time of MPI's one-sided calls by librma beside that of the same calls by MPI. The program is
 * linked with the library of rma_mpi, which has the calls' names; MPI's own are those with the names PMPI_. */
#include "pair.h"

#include <string.h>

#define PATCH 128  /* doubles in a row of the patch */
#define SIDE  1024 /* doubles in a row of the matrix */
#define BIG   ((size_t)1 << 20)
#define ROOM  (SIDE * SIDE * sizeof(double))
#define LONGS 512 /* of a short array of integers */
#define MANY  ((int)(BIG / sizeof(uint64_t)))

enum { OURS, RAW, MPI, N_METHODS };

static struct window {
    MPI_Win win;
    char *base; /* this PE's part */
} ours, mpis;
static MPI_Group peer;
static MPI_Datatype patch;
static uint64_t result;            /* of the calls that fetch */
static uint64_t expected, desired; /* of compare_and_swap: 0, so that each call of a batch swaps */
static const uint64_t one = 1;
static uint64_t before[BIG / sizeof(uint64_t)]; /* what the calls on arrays fetch */
static const double one_double = 1;

/* A loop of n statements with the functions of librma (P is MPI) and of MPI (P is PMPI). */
#define LOOP(WHOSE, NAME, P, WINDOW)                                                                                   \
    static double WHOSE##_##NAME(long n) {                                                                             \
        const MPI_Win win = (WINDOW).win;                                                                              \
        const int to = bench.peer;                                                                                     \
        const double start = rma_wtime();                                                                              \
        for (long i = 0; i < n; i++) {                                                                                 \
            NAME(P);                                                                                                   \
            bench_keep(pair.own);                                                                                      \
        }                                                                                                              \
        (void)to, (void)win;                                                                                           \
        return rma_wtime() - start;                                                                                    \
    }
#define BOTH(NAME) LOOP(ours, NAME, MPI, ours) LOOP(mpis, NAME, PMPI, mpis)

#define flush(P)       BENCH_MPI(P##_Win_flush(to, win))
#define send(P, bytes) BENCH_MPI(P##_Put(pair.own, bytes, MPI_BYTE, to, 0, bytes, MPI_BYTE, win))
#define put(P)                                                                                                         \
    send(P, 8);                                                                                                        \
    flush(P)
#define get(P)                                                                                                         \
    BENCH_MPI(P##_Get(pair.own, 8, MPI_BYTE, to, 0, 8, MPI_BYTE, win));                                                \
    flush(P)
#define fetch_and_op(P)                                                                                                \
    BENCH_MPI(P##_Fetch_and_op(&one, &result, MPI_UINT64_T, to, 0, MPI_SUM, win));                                     \
    flush(P)
#define compare_and_swap(P)                                                                                            \
    BENCH_MPI(P##_Compare_and_swap(&desired, &expected, &result, MPI_UINT64_T, to, 0, win));                           \
    flush(P)
#define accumulate(P)                                                                                                  \
    BENCH_MPI(P##_Accumulate(&one_double, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_SUM, win));                         \
    flush(P)
#define accumulate_128(P)                                                                                              \
    BENCH_MPI(P##_Accumulate(pair.own, PATCH, MPI_DOUBLE, to, 0, PATCH, MPI_DOUBLE, MPI_SUM, win));                    \
    flush(P)
#define sum_of(P, n)                                                                                                   \
    BENCH_MPI(P##_Accumulate(pair.own, n, MPI_UINT64_T, to, 0, n, MPI_UINT64_T, MPI_SUM, win));                        \
    flush(P)
#define get_sum_of(P, n)                                                                                               \
    BENCH_MPI(                                                                                                         \
        P##_Get_accumulate(pair.own, n, MPI_UINT64_T, before, n, MPI_UINT64_T, to, 0, n, MPI_UINT64_T, MPI_SUM, win)); \
    flush(P)
#define sum_longs(P)     sum_of(P, LONGS)
#define get_sum_longs(P) get_sum_of(P, LONGS)
#define sum_big(P)       sum_of(P, MANY)
#define get_sum_big(P)   get_sum_of(P, MANY)
#define get_accumulate(P)                                                                                              \
    BENCH_MPI(                                                                                                         \
        P##_Get_accumulate(&one, 1, MPI_UINT64_T, &result, 1, MPI_UINT64_T, to, 0, 1, MPI_UINT64_T, MPI_SUM, win));    \
    flush(P)
#define lock_fetch_unlock(P)                                                                                           \
    BENCH_MPI(P##_Win_lock(MPI_LOCK_SHARED, to, 0, win));                                                              \
    BENCH_MPI(P##_Fetch_and_op(&one, &result, MPI_UINT64_T, to, 0, MPI_SUM, win));                                     \
    BENCH_MPI(P##_Win_unlock(to, win))
/* A patch whose types are made for it, as ARMCI does. */
#define put_made(P, side)                                                                                              \
    const int whole[2] = {SIDE, SIDE}, part[2] = {side, side}, corner[2] = {0, 0};                                     \
    MPI_Datatype near, far;                                                                                            \
    BENCH_MPI(P##_Type_create_subarray(2, whole, part, corner, MPI_ORDER_C, MPI_DOUBLE, &near));                       \
    BENCH_MPI(P##_Type_create_subarray(2, whole, part, corner, MPI_ORDER_C, MPI_DOUBLE, &far));                        \
    BENCH_MPI(P##_Type_commit(&near));                                                                                 \
    BENCH_MPI(P##_Type_commit(&far));                                                                                  \
    BENCH_MPI(P##_Put(pair.own, 1, near, to, 0, 1, far, win));                                                         \
    flush(P);                                                                                                          \
    BENCH_MPI(P##_Type_free(&near));                                                                                   \
    BENCH_MPI(P##_Type_free(&far))
#define put_made_1(P) put_made(P, 1)
#define put_made_8(P) put_made(P, 8)
#define lock_put_unlock(P)                                                                                             \
    BENCH_MPI(P##_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win));                                                           \
    send(P, 8);                                                                                                        \
    BENCH_MPI(P##_Win_unlock(to, win))
#define put_fence(P)                                                                                                   \
    send(P, 8);                                                                                                        \
    BENCH_MPI(P##_Win_fence(0, win))
#define post_start_put(P)                                                                                              \
    BENCH_MPI(P##_Win_post(peer, 0, win));                                                                             \
    BENCH_MPI(P##_Win_start(peer, 0, win));                                                                            \
    send(P, 8);                                                                                                        \
    BENCH_MPI(P##_Win_complete(win));                                                                                  \
    BENCH_MPI(P##_Win_wait(win))
#define barrier(P)   BENCH_MPI(P##_Barrier(MPI_COMM_WORLD))
#define allreduce(P) BENCH_MPI(P##_Allreduce(&one, &result, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD))
#define put_patch(P)                                                                                                   \
    BENCH_MPI(P##_Put(pair.own, PATCH *PATCH, MPI_DOUBLE, to, 0, 1, patch, win));                                      \
    flush(P)
#define put_big(P)                                                                                                     \
    send(P, (int)BIG);                                                                                                 \
    flush(P)

/* The bare loop that adds, or copies and adds. */
static void add(uint64_t *to, const uint64_t *from, uint64_t *fetch, size_t n) {
    if (fetch) memcpy(fetch, to, n * sizeof *to);
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

/* The same by load and store, in librma's heap, where that says something. */
#define RAW_LOOP(NAME, STATEMENT)                                                                                      \
    static double raw_##NAME(long n) {                                                                                 \
        uint64_t *const word = (uint64_t *)(void *)pair.peer;                                                          \
        const double start = rma_wtime();                                                                              \
        for (long i = 0; i < n; i++) {                                                                                 \
            STATEMENT;                                                                                                 \
            bench_keep(pair.own);                                                                                      \
        }                                                                                                              \
        (void)word;                                                                                                    \
        return rma_wtime() - start;                                                                                    \
    }
RAW_LOOP(put, memcpy(pair.peer, pair.own, 8))
RAW_LOOP(get, memcpy(pair.own, pair.peer, 8))
RAW_LOOP(fetch_and_op, result = __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL))
RAW_LOOP(compare_and_swap, result = __sync_val_compare_and_swap(word, expected, desired))
RAW_LOOP(sum_longs, add(word, (const uint64_t *)(void *)pair.own, NULL, bench_opaque(LONGS)))
RAW_LOOP(get_sum_longs, add(word, (const uint64_t *)(void *)pair.own, before, bench_opaque(LONGS)))
RAW_LOOP(sum_big, add(word, (const uint64_t *)(void *)pair.own, NULL, bench_opaque(MANY)))
RAW_LOOP(get_sum_big, add(word, (const uint64_t *)(void *)pair.own, before, bench_opaque(MANY)))
RAW_LOOP(put_patch,
         for (size_t r = 0; r < PATCH; r++) memcpy(pair.peer + r * SIDE * sizeof(double),
                                                   pair.own + r * PATCH * sizeof(double), PATCH * sizeof(double)))
RAW_LOOP(put_big, memcpy(pair.peer, pair.own, bench_opaque(BIG)))

/* ---- rows, and what one call must leave ---- */

enum epoch {
    PASSIVE, /* MPI_Win_lock_all */
    LOCK,    /* the calls open it, */
    POST,    /* and all PEs make them */
    FENCE    /* all PEs make the calls, the first of which is before the batches */
};
enum effect {
    WRITES,
    READS,
    COUNTS,
    SWAPS,
    ADDS,
    SUMS,    /* integers */
    FETCHES, /* and adds integers */
    PATCHES,
    MEETS, /* no data */
    TOTALS /* a one of each PE */
};

/* clang-format off */
#define ROWS(X)                                                                                                        \
    X("put 8", PASSIVE, WRITES, 8, put, raw_put)                                                                       \
    X("get 8", PASSIVE, READS, 8, get, raw_get)                                                                        \
    X("fetch_and_op", PASSIVE, COUNTS, 8, fetch_and_op, raw_fetch_and_op)                                              \
    X("compare_and_swap", PASSIVE, SWAPS, 8, compare_and_swap, raw_compare_and_swap)                                   \
    X("accumulate 8", PASSIVE, ADDS, 8, accumulate, NULL)                                                              \
    X("accumulate 1k", PASSIVE, ADDS, 8 * PATCH, accumulate_128, NULL)                                                 \
    X("sum 512 longs", PASSIVE, SUMS, 8 * LONGS, sum_longs, raw_sum_longs)                                             \
    X("get_sum 512 longs", PASSIVE, FETCHES, 8 * LONGS, get_sum_longs, raw_get_sum_longs)                              \
    X("sum 1M", PASSIVE, SUMS, BIG, sum_big, raw_sum_big)                                                              \
    X("get_sum 1M", PASSIVE, FETCHES, BIG, get_sum_big, raw_get_sum_big)                                               \
    X("get_accumulate 8", PASSIVE, COUNTS, 8, get_accumulate, raw_fetch_and_op)                                        \
    X("lock_fetch_unlock", LOCK, COUNTS, 8, lock_fetch_unlock, NULL)                                                   \
    X("made type 1x1", PASSIVE, PATCHES, 8, put_made_1, NULL)                                                          \
    X("made type 8x8", PASSIVE, PATCHES, 8 * 64, put_made_8, NULL)                                                     \
    X("lock_put_unlock", LOCK, WRITES, 8, lock_put_unlock, NULL)                                                       \
    X("put_fence", FENCE, WRITES, 8, put_fence, NULL)                                                                  \
    X("post_start_put", POST, WRITES, 8, post_start_put, NULL)                                                         \
    X("barrier", POST, MEETS, 0, barrier, NULL)                                                                        \
    X("allreduce 8", POST, TOTALS, 8, allreduce, NULL)                                                                 \
    X("put_patch", PASSIVE, WRITES, 8 * PATCH * PATCH, put_patch, raw_put_patch)                                       \
    X("put 1M", PASSIVE, WRITES, BIG, put_big, raw_put_big)
/* clang-format on */
#define CALLS_OF(NAME, EPOCH, EFFECT, SIZE, CALL, RAW) BOTH(CALL)
ROWS(CALLS_OF)

#define ROW(NAME, EPOCH, EFFECT, SIZE, CALL, RAW) {NAME, {ours_##CALL, RAW, mpis_##CALL}, SIZE},
static const struct bench_row rows[] = {ROWS(ROW){0}};

#define KIND(NAME, EPOCH, EFFECT, SIZE, CALL, RAW) {EPOCH, EFFECT, SIZE},
static const struct kind {
    enum epoch epoch;
    enum effect effect;
    size_t size; /* bytes */
} kinds[] = {ROWS(KIND)};

static const struct kind *row; /* being measured */

/* Where word i of the data is: of PATCHES, which are squares of a matrix, and of put_patch at the target. */
static size_t place(size_t i, bool at_target) {
    const size_t side = row->effect != PATCHES ? PATCH : row->size == sizeof(double) ? 1 : 8;
    if (row->effect != PATCHES && (!at_target || row->size != PATCH * PATCH * sizeof(double))) return i;
    return i / side * SIDE + i % side;
}

/* Word i of data that belong to the seed; of accumulates an array of equal numbers, doubles or integers. */
static uint64_t number(size_t i, unsigned seed) {
    const double real = seed;
    uint64_t word =
        row->effect < COUNTS || row->effect == PATCHES ? (i * 31 + seed) * UINT64_C(0x0101010101010101) : seed;
    if (row->effect == ADDS) memcpy(&word, &real, sizeof word);
    return word;
}

/* Runs m once from known values. Each PE passes its own memory, where it is a target. */
static size_t check(const struct bench_method *m, char *base, MPI_Win win) {
    static unsigned seed;
    const bool origin = bench_calls_run(m), reads = row->effect == READS, has_data = row->effect < MEETS;
    const bool target = has_data && (row->epoch >= POST || bench.role == BENCH_TARGET);
    const bool moves = reads || row->effect == WRITES || row->effect == PATCHES;
    uint64_t *there = (uint64_t *)(void *)base, *here = (uint64_t *)(void *)pair.own;
    const size_t n = has_data ? row->size / sizeof *here : 0;
    size_t wrong = 0;
    seed += 7;
    for (size_t i = 0; i < n; i++) {
        there[place(i, true)] = number(i, moves && !reads ? seed + 1 : seed);
        here[place(i, false)] = number(i, reads ? seed + 1 : moves ? seed : 1);
    }
    expected = seed;
    desired = seed + 1;
    bench_check_run(m, 1, win);
    for (size_t i = 0; i < n; i++) {
        if (target) wrong += there[place(i, true)] != number(i, moves ? seed : seed + 1);
        if (origin && reads) wrong += here[i] != number(i, seed);
        if (origin && row->effect == FETCHES) wrong += before[i] != seed;
    }
    if (row->effect == COUNTS || row->effect == SWAPS) wrong += origin && result != seed;
    if (row->effect == TOTALS) wrong += result != (uint64_t)rma_n_pes();
    *there = expected = desired = 0;
    return wrong;
}

static size_t check_ours(const struct bench_method *m) { return check(m, ours.base, ours.win); }
static size_t check_raw(const struct bench_method *m) { return check(m, pair.heap, MPI_WIN_NULL); }
static size_t check_mpis(const struct bench_method *m) { return check(m, mpis.base, MPI_WIN_NULL); }

/* ---- windows ---- */

static void open_windows(void) {
    const int size[2] = {SIDE, SIDE}, part[2] = {PATCH, PATCH}, start[2] = {0, 0};
    MPI_Group world;
    bench_pair_open(ROOM);
    ours = (struct window){pair.win, pair.base};
    BENCH_MPI(PMPI_Win_allocate((MPI_Aint)ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mpis.base, &mpis.win));
    memset(mpis.base, 0, ROOM);
    BENCH_MPI(PMPI_Win_lock_all(MPI_MODE_NOCHECK, mpis.win));
    BENCH_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    BENCH_MPI(MPI_Group_incl(world, 1, &bench.peer, &peer));
    BENCH_MPI(MPI_Group_free(&world));
    BENCH_MPI(MPI_Type_create_subarray(2, size, part, start, MPI_ORDER_C, MPI_DOUBLE, &patch));
    BENCH_MPI(MPI_Type_commit(&patch));
}

static void fence(int assert) {
    BENCH_MPI(MPI_Win_fence(assert, ours.win));
    BENCH_MPI(PMPI_Win_fence(assert, mpis.win));
}

/* Leaves the epoch of the row before. Calls that open their own epochs are outside of MPI_Win_lock_all. */
static void enter(enum epoch next) {
    static enum epoch epoch = PASSIVE;
    if (epoch == FENCE) fence(MPI_MODE_NOSUCCEED);
    if (epoch == PASSIVE && next != PASSIVE) {
        BENCH_MPI(MPI_Win_unlock_all(ours.win));
        BENCH_MPI(PMPI_Win_unlock_all(mpis.win));
    }
    bench_sync_mpi();
    if (epoch != PASSIVE && next == PASSIVE) {
        BENCH_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, ours.win));
        BENCH_MPI(PMPI_Win_lock_all(MPI_MODE_NOCHECK, mpis.win));
    }
    if (next == FENCE) fence(MPI_MODE_NOPRECEDE);
    epoch = next;
}

static void begin_row(struct bench_method *methods) {
    row = &kinds[bench.row];
    bench.size = row->size;
    for (int i = 0; i < N_METHODS; i++) methods[i].callers = row->epoch >= POST ? BENCH_ALL : BENCH_ORIGINS;
    enter(row->epoch);
}

static void close_windows(void) {
    enter(PASSIVE);
    BENCH_MPI(MPI_Type_free(&patch));
    BENCH_MPI(MPI_Group_free(&peer));
    BENCH_MPI(PMPI_Win_unlock_all(mpis.win));
    BENCH_MPI(PMPI_Win_free(&mpis.win));
    bench_pair_close();
}

/* The library of rma_mpi starts librma; this program uses it too, until bench_finish. */
static void start(void) {
    BENCH_MPI(MPI_Init(NULL, NULL));
    BENCH_RMA(rma_init());
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [OURS] = {.name = "rma (ns)", .check = check_ours},
        [RAW] = {.name = "raw (ns)", .check = check_raw, .bare = true},
        [MPI] = {.name = "MPI (ns)", .check = check_mpis, .mpi = true},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "MPI windows",
        .help = "Time of MPI's one-sided calls, by the first PE of a pair on memory of the second:\n"
                "  rma (ns)   by librma, as programs get them that are started with rma_mpi\n"
                "  raw (ns)   loads, stores, atomics and memcpy of this program\n"
                "  MPI (ns)   by MPI\n"
                "put, get, fetch_and_op, compare_and_swap and accumulate with MPI_Win_flush. put_fence and\n"
                "post_start_put (with MPI_Win_complete and MPI_Win_wait) are called by all PEs, each on its peer.\n"
                "put_patch moves 128 x 128 doubles into rows of 1024. sum and get_sum are MPI_Accumulate and\n"
                "MPI_Get_accumulate of integers; raw is a loop. made type: patches of 1 x 1 and 8 x 8 doubles\n"
                "whose two datatypes are made, committed and freed for each put.",
        .methods = methods,
        .ratios = bench_ratios,
        .rows = rows,
        .first = "Call",
        .pairs = 1,
        .value = BENCH_NS,
        .budget = 5e-3,
        .start = start,
        .begin = open_windows,
        .before = begin_row,
        .end = close_windows,
    };
    return bench_main(argc, argv, &spec);
}
