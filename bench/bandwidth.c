/* SPDX-License-Identifier: BSD-3-Clause */
/* bandwidth.c: windows of puts or gets, one at a time for each pair.
 *
 * An iteration is a window of transfers from one buffer to one buffer, and then one completion.
 *
 * Hand-over: the target works on its buffer, gives it to the origin, and takes it back. So the lines are in the
 * target's caches, and each copy begins by fetching or invalidating them. Ordinary and streaming stores differ much in
 * this case, so both are shown as limits. Only the copies are timed: before and after them the PEs of a pair meet in
 * the column's library, so that MPI's transfers find their target in MPI. */
#include "bandwidth.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { RMA, RAW, STREAM, MPI, N_METHODS };

#define LINE_SIZE 64  /* no cache has shorter lines */
#define FLAG_SIZE 128 /* no cache or prefetcher moves more at once: a flag has its line to itself */
#define WINDOW    64  /* as in the OSU benchmarks */

static enum bandwidth_direction direction;
static bool handover, nbi;
static long window_option;
static long *flag;        /* symmetric: meetings at which the peer has arrived */
static long turn;         /* meetings so far: the same on both PEs */
static double clock_cost; /* seconds between two calls of rma_wtime in a row */
static char *to, *from;   /* destination and source of the bare copies */

/* Each move is one iteration: window copies of bench.size bytes and their completion. */

#define MOVE_RMA(NAME, CALL, TO, FROM)                                                                                 \
    static void NAME(void) {                                                                                           \
        char *dest = TO, *source = FROM;                                                                               \
        size_t len = bench.size;                                                                                       \
        int pe = bench.peer;                                                                                           \
        for (long i = bench.window; i > 0; i--) {                                                                      \
            BENCH_RMA(CALL(dest, source, len, pe));                                                                    \
            bench_keep(dest);                                                                                          \
        }                                                                                                              \
        BENCH_RMA(rma_quiet());                                                                                        \
    }
MOVE_RMA(move_put, rma_put, pair.heap, pair.own)
MOVE_RMA(move_put_nbi, rma_put_nbi, pair.heap, pair.own)
MOVE_RMA(move_get, rma_get, pair.own, pair.heap)
MOVE_RMA(move_get_nbi, rma_get_nbi, pair.own, pair.heap)

static void move_raw(void) {
    size_t len = bench.size;
    for (long i = bench.window; i > 0; i--) {
        memcpy(to, from, len);
        bench_keep(to);
    }
}

#ifdef __SSE2__
/* Both buffers begin on a page, so whole blocks of 64 bytes are aligned; memcpy copies the rest. */
static void move_stream(void) {
    size_t blocks = bench.size / 64, rest = bench.size % 64;
    for (long i = bench.window; i > 0; i--) {
        __m128i *dest = (__m128i *)(void *)to;
        const __m128i *source = (const __m128i *)(const void *)from;
        for (size_t k = 0; k < blocks; k++, dest += 4, source += 4) {
            __m128i a = _mm_load_si128(source), b = _mm_load_si128(source + 1);
            __m128i c = _mm_load_si128(source + 2), d = _mm_load_si128(source + 3);
            _mm_stream_si128(dest, a);
            _mm_stream_si128(dest + 1, b);
            _mm_stream_si128(dest + 2, c);
            _mm_stream_si128(dest + 3, d);
        }
        memcpy(dest, source, rest);
        bench_keep(to);
    }
    _mm_sfence();
}
#endif

static void move_mpi_put(void) {
    int len = (int)bench.size;
    for (long i = bench.window; i > 0; i--)
        BENCH_MPI(MPI_Put(pair.own, len, MPI_BYTE, bench.peer, 0, len, MPI_BYTE, pair.win));
    BENCH_MPI(MPI_Win_flush(bench.peer, pair.win));
}

static void move_mpi_get(void) {
    int len = (int)bench.size;
    for (long i = bench.window; i > 0; i--)
        BENCH_MPI(MPI_Get(pair.own, len, MPI_BYTE, bench.peer, 0, len, MPI_BYTE, pair.win));
    BENCH_MPI(MPI_Win_flush(bench.peer, pair.win));
}

/* Touching one byte brings its whole line to this PE's cache. The data stay as they are. */
static void touch_lines(volatile char *p) {
    for (size_t k = 0; k < bench.size; k += LINE_SIZE) {
        char byte = p[k];
        p[k] = byte;
    }
}

static void meet_rma(void) {
    turn++;
    BENCH_RMA(rma_atomic_set(flag, turn, bench.peer));
    BENCH_RMA(rma_wait_until(flag, RMA_CMP_GE, turn));
}

static void meet_mpi(void) {
    BENCH_MPI(MPI_Sendrecv(NULL, 0, MPI_BYTE, bench.peer, 0, NULL, 0, MPI_BYTE, bench.peer, 0, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
}

static bool moves(void) { return bench.role == BENCH_ORIGIN || direction == BANDWIDTH_BOTH; }

static bool touches(void) { return bench.role == BENCH_TARGET || direction == BANDWIDTH_BOTH; }

BENCH_INLINE double hand_over(long n, void (*move)(void), void (*meet)(void), char *buffer) {
    double sum = 0;
    for (long i = 0; i < n; i++) {
        if (touches()) touch_lines(buffer);
        meet();
        if (moves()) {
            double start = rma_wtime();
            move();
            sum += rma_wtime() - start - clock_cost;
        }
        meet();
    }
    return sum;
}

BENCH_INLINE double run(long n, void (*move)(void), void (*meet)(void), char *buffer) {
    if (handover) return hand_over(n, move, meet, buffer);
    double start = rma_wtime();
    for (long i = 0; i < n; i++) move();
    return rma_wtime() - start;
}

#define RUN(NAME, MEET, BUFFER)                                                                                        \
    static double run_##NAME(long n) { return run(n, move_##NAME, MEET, BUFFER); }
RUN(put, meet_rma, pair.heap)
RUN(put_nbi, meet_rma, pair.heap)
RUN(get, meet_rma, pair.heap)
RUN(get_nbi, meet_rma, pair.heap)
RUN(raw, meet_rma, pair.heap)
#ifdef __SSE2__
RUN(stream, meet_rma, pair.heap)
#endif
RUN(mpi_put, meet_mpi, pair.base)
RUN(mpi_get, meet_mpi, pair.base)

/* Of both directions, also what the target puts. */
static size_t check(const struct bench_method *m, char *base, MPI_Win win) {
    size_t wrong = base == pair.base ? bench_pair_check_window(m) : bench_pair_check_heap(m);
    return direction == BANDWIDTH_BOTH ? wrong + bench_pair_check(m, pair.own, BENCH_TARGET, base, win) : wrong;
}

static size_t check_heap(const struct bench_method *m) { return check(m, pair.heap, MPI_WIN_NULL); }

static size_t check_window(const struct bench_method *m) { return check(m, pair.base, pair.win); }

static struct bench_spec spec;
static struct bench_method methods[] = {
    [RMA] = {.check = check_heap},
    [RAW] = {.run = run_raw, .check = check_heap, .bare = true},
    [STREAM] = {.check = check_heap, .bare = true},
    [MPI] = {.check = check_window, .mpi = true},
    {0},
};

static void begin(void) {
    static const char *const titles[2][N_METHODS] = {
        {"Bandwidth (MB/s)", "raw (MB/s)", "stream (MB/s)", "MPI (MB/s)"},
        {"Rate (M/s)", "raw (M/s)", "stream (M/s)", "MPI (M/s)"},
    };
    const bool get = pair.gets = direction == BANDWIDTH_GET;
    bench.window = window_option > 0 ? window_option : handover ? 1 : WINDOW;
    bench.streams = direction == BANDWIDTH_BOTH ? 2 * bench.pairs : bench.pairs;
    bench_pair_open(bench.sizes.max);
    to = get ? pair.own : pair.peer;
    from = get ? pair.peer : pair.own;
    flag = bench_symmetric(FLAG_SIZE, FLAG_SIZE);
    clock_cost = bench_clock_cost();
    BENCH_RMA(rma_barrier_all());
    methods[RMA].run = get ? nbi ? run_get_nbi : run_get : nbi ? run_put_nbi : run_put;
    methods[MPI].run = get ? run_mpi_get : run_mpi_put;
#ifdef __SSE2__
    methods[STREAM].run = run_stream;
#endif
    for (int i = 0; i < N_METHODS; i++) {
        methods[i].name = titles[spec.value == BENCH_RATE][i];
        methods[i].callers = handover || direction == BANDWIDTH_BOTH ? BENCH_BOTH : BENCH_ORIGINS;
    }
}

static void end(void) {
    BENCH_RMA(rma_free(flag));
    bench_pair_close();
}

int bench_bandwidth(int argc, char **argv, const struct bench_spec *given, enum bandwidth_direction which) {
    static const struct bench_option options[] = {
        {"window", 'w', BENCH_COUNT, &window_option, 1, 1000000, "N",
         "transfers per completion [64; 1 with --handover]"},
        {"nbi", 0, BENCH_FLAG, &nbi, 0, 0, NULL, "nonblocking calls: off-node the buffer is in use until rma_quiet"},
        {"handover", 0, BENCH_FLAG, &handover, 0, 0, NULL,
         "the target touches the buffer before each iteration, which is timed alone"},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"rma/raw", RMA, {RAW, STREAM}},
        {"rma/MPI", RMA, {MPI, -1}},
        {0},
    };
    direction = which;
    spec = *given;
    spec.options = options;
    spec.methods = methods;
    spec.ratios = ratios;
    spec.pairs = BENCH_PAIRS_MAX;
    spec.budget = 5e-3;
    spec.begin = begin;
    spec.end = end;
    return bench_main(argc, argv, &spec);
}
