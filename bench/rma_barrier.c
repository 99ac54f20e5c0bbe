/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_barrier.c: the time of a barrier of all PEs, one after the other.
 *
 * The raw column is the limit for two PEs: each raises its own flag and waits for the other's. */
#include "bench.h"

#include <string.h>

enum { RMA, RAW, MPI };

#define FLAG_SIZE 128 /* no cache or prefetcher moves more at once: a flag has its line to itself */

static uint64_t *flag;            /* this PE's: handshakes begun */
static const uint64_t *peer_flag; /* the other PE's */
static uint64_t turn;             /* handshakes so far */
static uint64_t *arrivals;        /* this PE's: barriers at which it arrived in checks */

static void handshake(void) {
    turn++;
    /* Pairs with the other PE's acquire in bench_wait_flag: it sees all earlier stores, as after a barrier. */
    __atomic_store_n(flag, turn, __ATOMIC_RELEASE);
    bench_wait_flag(peer_flag, turn);
}

/* Each run begins with one more, untimed, so that all start together. */
#define RUN(NAME, ...)                                                                                                 \
    BENCH_LOOP(NAME##_loop, __VA_ARGS__)                                                                               \
    static double run_##NAME(long n) {                                                                                 \
        NAME##_loop(1);                                                                                                \
        return NAME##_loop(n);                                                                                         \
    }
RUN(barrier, BENCH_RMA(rma_barrier_all()))
RUN(sync, BENCH_RMA(rma_sync_all()))
RUN(raw, handshake())
RUN(mpi, BENCH_MPI(MPI_Barrier(MPI_COMM_WORLD)))

/* A PE that leaves a barrier must find that all others have arrived. */
static size_t check(const struct bench_method *m) {
    size_t wrong = 0;
    for (int k = 0; k < 20; k++) {
        uint64_t mine = *arrivals + 1;
        __atomic_store_n(arrivals, mine, __ATOMIC_RELEASE);
        m->run(0);
        for (int pe = 0; pe < bench.n_pes; pe++) wrong += rma_g(arrivals, pe) < mine;
    }
    return wrong;
}

static int operation; /* -o */
static struct bench_spec spec;

static void begin(void) {
    if (operation == 1) spec.title = "sync latency";
    flag = bench_symmetric(FLAG_SIZE, 2 * FLAG_SIZE);
    arrivals = flag + FLAG_SIZE / sizeof *flag;
    if (bench.n_pes == 2) peer_flag = rma_ptr(flag, 1 - bench.pe);
    bench.on_node = !bench_agree(!peer_flag);
    BENCH_RMA(rma_barrier_all());
}

static void before(struct bench_method *methods) {
    if (operation == 1) methods[RMA].run = run_sync;
}

static void end(void) { BENCH_RMA(rma_free(flag)); }

static struct bench_spec spec = {
    .title = "barrier latency",
    .note = "all PEs, the slowest one's time",
    .help = "Time of a barrier of all PEs, as the slowest of them sees it:\n"
            "  Latency (us)  rma_barrier_all or rma_sync_all\n"
            "  raw (us)      raise a flag, wait for the other PE's; '-' unless 2 PEs on one node\n"
            "  MPI (us)      MPI_Barrier",
    .options =
        (const struct bench_option[]){
            {"operation", 'o', BENCH_WORD, &operation, 0, 0, "barrier|sync", "with rma_quiet, or without [barrier]"},
            {0},
        },
    .methods =
        (const struct bench_method[]){
            [RMA] = {.name = "Latency (us)", .run = run_barrier, .check = check},
            [RAW] = {.name = "raw (us)", .run = run_raw, .check = check, .bare = true},
            [MPI] = {.name = "MPI (us)", .run = run_mpi, .check = check},
            {0},
        },
    .ratios = bench_ratios,
    .budget = 20e-3,
    .begin = begin,
    .before = before,
    .end = end,
};

int main(int argc, char **argv) { return bench_main(argc, argv, &spec); }
