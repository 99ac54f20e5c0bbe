/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_put_bw.c: bytes per second of puts from PE 0 to PE 1.
 *
 * As in the OSU benchmarks, an iteration is a window of puts from one buffer to one buffer, then one
 * completion. PE 1 never looks at the bytes, so the buffer stays in PE 0's caches: the best case.
 *
 * --handover measures what programs do instead: PE 1 works on the buffer, hands it over, PE 0 fills it.
 * Its lines are then in PE 1's cache, and each copy begins by fetching or invalidating them. Ordinary
 * stores and streaming stores fare very differently there, hence both as limits. */
#include "pair.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { RMA, RAW, STREAM, MPI, N_METHODS };
enum { TOUCH_WRITE, TOUCH_READ };

#define LINE_SIZE 64  /* no cache has shorter lines */
#define FLAG_SIZE 128 /* no cache or prefetcher moves more at once: a flag has its line to itself */

static struct bench_pair pair;
static bool handover, nbi;
static int touch = TOUCH_WRITE;
static long window_option;
static uint64_t *flag;      /* PE 0's: transfers that PE 1 is ready for; PE 1's: transfers that are done */
static uint64_t *peer_flag; /* the other one's */
static uint64_t turn;       /* transfers handed over so far: in step on both PEs */
static double clock_cost;   /* seconds between two calls of rma_wtime in a row */

/* Each move is one iteration: window copies of bench.size bytes and their completion. */

static void move_rma(void) {
    char *to = pair.heap, *from = pair.own;
    size_t len = bench.size;
    for (long i = bench.window; i > 0; i--) {
        BENCH_RMA(rma_put(to, from, len, 1));
        bench_keep(from);
    }
    BENCH_RMA(rma_quiet());
}

static void move_rma_nbi(void) {
    char *to = pair.heap, *from = pair.own;
    size_t len = bench.size;
    for (long i = bench.window; i > 0; i--) {
        BENCH_RMA(rma_put_nbi(to, from, len, 1));
        bench_keep(from);
    }
    BENCH_RMA(rma_quiet());
}

static void move_raw(void) {
    char *to = pair.peer, *from = pair.own;
    size_t len = bench.size;
    for (long i = bench.window; i > 0; i--) {
        memcpy(to, from, len);
        bench_keep(from);
    }
}

#ifdef __SSE2__
/* Both buffers begin on a page, so whole blocks of 64 bytes are aligned; the rest is copied plainly. */
static void move_stream(void) {
    size_t blocks = bench.size / 64, rest = bench.size % 64;
    for (long i = bench.window; i > 0; i--) {
        __m128i *to = (__m128i *)(void *)pair.peer;
        const __m128i *from = (const __m128i *)(const void *)pair.own;
        for (size_t k = 0; k < blocks; k++, to += 4, from += 4) {
            __m128i a = _mm_load_si128(from), b = _mm_load_si128(from + 1);
            __m128i c = _mm_load_si128(from + 2), d = _mm_load_si128(from + 3);
            _mm_stream_si128(to, a);
            _mm_stream_si128(to + 1, b);
            _mm_stream_si128(to + 2, c);
            _mm_stream_si128(to + 3, d);
        }
        memcpy(to, from, rest);
        bench_keep(from);
    }
    _mm_sfence();
}
#endif

static void move_mpi(void) {
    int len = (int)bench.size;
    for (long i = bench.window; i > 0; i--)
        BENCH_MPI(MPI_Put(pair.own, len, MPI_BYTE, 1, 0, len, MPI_BYTE, pair.win));
    BENCH_MPI(MPI_Win_flush(1, pair.win));
}

/* PE 1's half of n handovers: touching one byte brings its whole line to this PE's cache. */
static void touch_and_wait(long n) {
    volatile char *p = pair.heap;
    for (long i = 0; i < n; i++) {
        for (size_t k = 0; k < bench.size; k += LINE_SIZE) {
            char byte = p[k];
            if (touch == TOUCH_WRITE) p[k] = (char)(byte ^ 1);
        }
        turn++;
        /* Pairs with PE 0's acquire in bench_wait_flag: the touches come before its copy. */
        __atomic_store_n(peer_flag, turn, __ATOMIC_RELEASE);
        bench_wait_flag(flag, turn);
    }
}

/* PE 0's half: only the copies count, and not the clock. */
static double wait_and_move(long n, void (*move)(void)) {
    double sum = 0;
    for (long i = 0; i < n; i++) {
        turn++;
        bench_wait_flag(flag, turn);
        double start = rma_wtime();
        move();
        sum += rma_wtime() - start - clock_cost;
        /* Pairs with PE 1's acquire in bench_wait_flag: the copy comes before its next touch. */
        __atomic_store_n(peer_flag, turn, __ATOMIC_RELEASE);
    }
    return sum;
}

BENCH_INLINE double run(long n, void (*move)(void)) {
    if (handover && bench.pe == 0) return wait_and_move(n, move);
    if (handover) {
        touch_and_wait(n);
        return 0;
    }
    double start = rma_wtime();
    for (long i = 0; i < n; i++) move();
    return rma_wtime() - start;
}

static double run_rma(long n) {
    return run(n, move_rma);
}

static double run_rma_nbi(long n) {
    return run(n, move_rma_nbi);
}

static double run_raw(long n) {
    return run(n, move_raw);
}

#ifdef __SSE2__
static double run_stream(long n) {
    return run(n, move_stream);
}
#endif

static double run_mpi(long n) {
    return run(n, move_mpi);
}

static size_t check_heap(const struct bench_method *m) {
    return bench_pair_check(m, pair.own, 0, pair.heap, 1, MPI_WIN_NULL);
}

static size_t check_window(const struct bench_method *m) {
    return bench_pair_check(m, pair.own, 0, pair.base, 1, pair.win);
}

static void open_handover(void) {
    flag = rma_aligned_alloc(FLAG_SIZE, FLAG_SIZE);
    if (!flag) bench_refuse(1, "%s", rma_last_error());
    *flag = 0;
    if (bench.pe < 2) peer_flag = rma_ptr(flag, 1 - bench.pe);
    clock_cost = bench_clock_cost();
    BENCH_RMA(rma_barrier_all());
}

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"window", 'w', BENCH_COUNT, &window_option, 1, 1000000, "N",
         "puts per completion [64; 1 with --handover]"},
        {"nbi", 0, BENCH_FLAG, &nbi, 0, 0, NULL, "rma_put_nbi: off-node the buffer is in use until rma_quiet"},
        {"handover", 0, BENCH_FLAG, &handover, 0, 0, NULL,
         "PE 1 touches the buffer before each iteration, which is timed alone; no MPI"},
        {"touch", 0, BENCH_WORD, &touch, 0, 0, "write|read", "how PE 1 touches it [write]"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "put bandwidth",
        .note = "PE 0 to PE 1",
        .help = "Bandwidth (1 MB is 10^6 bytes) of windows of puts from PE 0 to one buffer of PE 1:\n"
                "  Bandwidth (MB/s)   rma_put ..., one rma_quiet; rma_put_nbi with --nbi\n"
                "  raw (MB/s)         memcpy through rma_ptr; '-' off-node\n"
                "  raw stream (MB/s)  streaming stores through rma_ptr; '-' off-node and without SSE2\n"
                "  MPI (MB/s)         MPI_Put ..., MPI_Win_flush, PE 1 waiting in MPI; '-' with --handover\n"
                "rma/raw divides by the better of the two raw columns. Divided by the size, a bandwidth is millions of\n"
                "puts per second.",
        .options = options,
        .max_size = (size_t)4 << 20,
        .n_pes = 2,
        .budget = 5e-3,
        .bandwidth = true,
    };
    struct bench_method methods[N_METHODS] = {
        [RMA] = {.name = "Bandwidth (MB/s)", .run = run_rma, .check = check_heap, .callers = 1},
        [RAW] = {.name = "raw (MB/s)", .run = run_raw, .check = check_heap, .callers = 1},
        [STREAM] = {.name = "raw stream (MB/s)", .check = check_heap, .callers = 1},
        [MPI] = {.name = "MPI (MB/s)", .run = run_mpi, .check = check_window, .callers = 1, .mpi = true},
    };
    static const struct bench_ratio ratios[] = {
        {"rma/raw", RMA, {RAW, STREAM}},
        {"rma/MPI", RMA, {MPI, -1}},
    };
#ifdef __SSE2__
    methods[STREAM].run = run_stream;
#endif

    bench_init(argc, argv, &spec);
    if (nbi) methods[RMA].run = run_rma_nbi;
    bench.window = window_option > 0 ? window_option : handover ? 1 : 64;
    bench_pair_open(&pair, bench.sizes.max);
    if (!pair.on_node) methods[RAW].run = methods[STREAM].run = NULL;
    if (handover && !pair.on_node) {
        bench_pair_close(&pair);
        bench_refuse(2, "option --handover: PE 0 and PE 1 must be on one node");
    }
    if (handover) {
        open_handover();
        for (int i = 0; i < N_METHODS; i++) methods[i].callers = 2;
        methods[MPI].run = NULL;
    }
    bench_sweep(methods, N_METHODS, ratios, 2);
    if (handover) BENCH_RMA(rma_free(flag));
    bench_pair_close(&pair);
    return bench_finish();
}
