/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_wait.c: the time from one PE to another that waits for a word, and the cost of ordering and testing alone.
 *
 * The PEs of a pair alternately change the other's word and wait for their own; half of such a round trip is printed.
 * The raw column is the limit: a release store to the address from rma_ptr, and acquire loads with nothing between
 * them. It polls as many words as librma does. */
#include "pair.h"

enum { RMA, RAW, MPI, N_METHODS };

#define WORDS      64    /* most words in one wait */
#define SPINS_MOST 65536 /* polls before a yield */

/* On either PE of a pair. */
struct board {
    long word[WORDS];
    _Alignas(128) uint64_t signal; /* no cache or prefetcher moves more than 128 at once */
    uint64_t datum;                /* comes with the signal, in its line */
};

static struct board *board; /* this PE's */
static struct board *peer;  /* the other one's by load and store; null off-node */
static int other;           /* the other PE */
static long turn;           /* the same on both PEs; no word has had its value before */
static long n_words = 1;    /* words of the row's wait: a power of two, so that finding this turn's needs no division */
static size_t wrong;        /* wrong values that this PE has found */

BENCH_INLINE long place(void) { return turn & (n_words - 1); }

/* Ways to tell the other PE this turn, and to wait for it. */

static void tell_p(void) {
    BENCH_RMA(rma_p(&board->word[place()], turn, other));
    BENCH_RMA(rma_quiet());
}

static void tell_set(void) {
    BENCH_RMA(rma_atomic_set(&board->word[0], turn, other));
    BENCH_RMA(rma_quiet());
}

static void await_word(void) { BENCH_RMA(rma_wait_until(&board->word[0], RMA_CMP_EQ, turn)); }

static void await_any(void) {
    wrong += rma_wait_until_any(board->word, (size_t)n_words, NULL, RMA_CMP_EQ, turn) != (size_t)place();
}

static void await_test(void) {
    while (!rma_test(&board->word[0], RMA_CMP_EQ, turn)) continue;
}

BENCH_INLINE void tell_signal(size_t len) {
    uint64_t value = (uint64_t)turn;
    BENCH_RMA(rma_put_signal(&board->datum, &value, len, &board->signal, value, RMA_SIGNAL_SET, other));
    BENCH_RMA(rma_quiet());
}

static void tell_signal0(void) { tell_signal(0); }

static void tell_signal8(void) { tell_signal(sizeof board->datum); }

static void await_signal0(void) {
    wrong += rma_signal_wait_until(&board->signal, RMA_CMP_EQ, (uint64_t)turn) != (uint64_t)turn;
}

static void await_signal8(void) {
    await_signal0();
    wrong += board->datum != (uint64_t)turn;
}

/* Pairs with the acquires below. */
static void tell_raw(void) { __atomic_store_n(&peer->word[place()], turn, __ATOMIC_RELEASE); }

static void tell_raw_signal8(void) {
    peer->datum = (uint64_t)turn;
    __atomic_store_n(&peer->signal, (uint64_t)turn, __ATOMIC_RELEASE);
}

BENCH_INLINE void yield_at(unsigned spins) {
    if (spins > SPINS_MOST) sched_yield();
}

static void await_raw(void) {
    const long *word = board->word, n = n_words, this = turn;
    for (unsigned spins = 0;; yield_at(spins++))
        for (long k = 0; k < n; k++)
            if (__atomic_load_n(&word[k], __ATOMIC_ACQUIRE) == this) {
                wrong += k != place();
                return;
            }
}

static void await_raw_signal8(void) {
    const uint64_t *signal = &board->signal, this = (uint64_t)turn;
    for (unsigned spins = 0; __atomic_load_n(signal, __ATOMIC_ACQUIRE) != this;) yield_at(spins++);
    wrong += board->datum != this;
}

static void tell_mpi(void) { BENCH_MPI(MPI_Send(&turn, 1, MPI_LONG, other, 0, MPI_COMM_WORLD)); }

static void await_mpi(void) {
    long found;
    BENCH_MPI(MPI_Recv(&found, 1, MPI_LONG, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    wrong += found != turn;
}

/* Half the time of n rounds, after one untimed round, so that both start together. */
BENCH_INLINE double rounds(long n, void (*tell)(void), void (*await)(void)) {
    bool begins = bench.role == BENCH_ORIGIN;
    double start = 0;
    for (long i = -1; i < n; i++) {
        if (i == 0) start = rma_wtime();
        turn++;
        if (begins) tell();
        await();
        if (!begins) tell();
    }
    return begins ? (rma_wtime() - start) / 2 : 0;
}

#define RUN(NAME, TELL, AWAIT)                                                                                         \
    static double run_##NAME(long n) { return rounds(n, TELL, AWAIT); }
RUN(p, tell_p, await_word)
RUN(atomic_set, tell_set, await_word)
RUN(signal0, tell_signal0, await_signal0)
RUN(signal8, tell_signal8, await_signal8)
RUN(any, tell_p, await_any)
RUN(test, tell_p, await_test)
RUN(raw, tell_raw, await_raw)
RUN(raw_signal8, tell_raw_signal8, await_raw_signal8)
RUN(mpi, tell_mpi, await_mpi)

/* What the origin does alone, with nothing pending. */

BENCH_LOOP(run_test_false, wrong += rma_test(&board->word[0], RMA_CMP_EQ, -1L) != 0)
BENCH_LOOP(run_look, wrong += __atomic_load_n(&board->word[0], __ATOMIC_ACQUIRE) == -1L)
BENCH_LOOP(run_quiet, BENCH_RMA(rma_quiet()))
BENCH_LOOP(run_fence, BENCH_RMA(rma_fence()))
BENCH_LOOP(run_release, __atomic_thread_fence(__ATOMIC_RELEASE))

/* n: words of the wait. The last three rows are the origin's alone. */
static const struct bench_row rows[] = {
    {"p", {run_p, run_raw, run_mpi}, 1},
    {"atomic_set", {run_atomic_set, run_raw, run_mpi}, 1},
    {"signal0", {run_signal0, run_raw, run_mpi}, 1},
    {"signal8", {run_signal8, run_raw_signal8, run_mpi}, 1},
    {"any1", {run_any, run_raw, run_mpi}, 1},
    {"any8", {run_any, run_raw, run_mpi}, 8},
    {"any64", {run_any, run_raw, run_mpi}, WORDS},
    {"test", {run_test, run_raw, run_mpi}, 1},
    {"test_false", {run_test_false, run_look, NULL}, 0},
    {"quiet", {run_quiet, run_release, NULL}, 0},
    {"fence", {run_fence, run_release, NULL}, 0},
    {0},
};

static size_t check(const struct bench_method *m) {
    size_t before = wrong;
    if (bench_calls_run(m)) m->run(1000);
    return wrong - before;
}

static void begin(void) {
    bench_pair_open(sizeof *board);
    board = (struct board *)(void *)pair.heap;
    peer = (struct board *)(void *)pair.peer;
    other = bench.peer;
}

static void before(struct bench_method *methods) {
    n_words = rows[bench.row].n;
    for (int i = 0; i < N_METHODS; i++) methods[i].callers = n_words > 0 ? BENCH_BOTH : BENCH_ORIGINS;
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [RMA] = {.name = "Latency (ns)", .check = check},
        [RAW] = {.name = "raw (ns)", .check = check, .bare = true},
        [MPI] = {.name = "MPI (ns)", .check = check, .mpi = true},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "wait latency",
        .note = "one way of there and back; test_false, quiet, fence: the origin alone",
        .help = "Time from one PE to another that waits:\n"
                "  Latency (ns)  librma\n"
                "  raw (ns)      a releasing store through rma_ptr, acquiring loads without a pause; '-' off-node\n"
                "  MPI (ns)      MPI_Send, MPI_Recv of 8 bytes\n"
                "The rows:\n"
                "  p, atomic_set      rma_p or rma_atomic_set, rma_quiet; rma_wait_until\n"
                "  signal0, signal8   rma_put_signal of so many bytes, rma_quiet; rma_signal_wait_until\n"
                "  any1, any8, any64  rma_p, rma_quiet; rma_wait_until_any of so many words; raw looks at as many\n"
                "  test               rma_p, rma_quiet; rma_test until it holds\n"
                "And of the first PE of a pair alone:\n"
                "  test_false    rma_test that does not hold; raw: a load and a comparison\n"
                "  quiet, fence  rma_quiet or rma_fence with nothing pending; raw: a fence of the compiler\n"
                "1.1 at most is asked of rma/raw of those that wait, and 3 ns of quiet and fence.",
        .methods = methods,
        .ratios = bench_ratios,
        .rows = rows,
        .first = "Row",
        .value = BENCH_NS,
        .pairs = BENCH_PAIRS_MAX,
        .budget = 5e-3,
        .begin = begin,
        .before = before,
        .end = bench_pair_close,
    };
    return bench_main(argc, argv, &spec);
}
