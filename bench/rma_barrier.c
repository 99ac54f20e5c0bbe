/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_barrier.c: the time of a barrier of all PEs, one after the other.
 *
 * The raw column is the limit for two PEs: each raises its own flag and waits for the other's. */
#include "bench.h"

#include <string.h>

enum { RMA, RAW, MPI, N_METHODS };

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

BENCH_INLINE double meetings(long n, int (*meet)(void)) {
    BENCH_RMA(meet());
    double start = rma_wtime();
    for (long i = 0; i < n; i++) BENCH_RMA(meet());
    return rma_wtime() - start;
}

static double run_barrier(long n) { return meetings(n, rma_barrier_all); }

static double run_sync(long n) { return meetings(n, rma_sync_all); }

static double run_raw(long n) {
    handshake();
    double start = rma_wtime();
    for (long i = 0; i < n; i++) handshake();
    return rma_wtime() - start;
}

static double run_mpi(long n) {
    BENCH_MPI(MPI_Barrier(MPI_COMM_WORLD));
    double start = rma_wtime();
    for (long i = 0; i < n; i++) BENCH_MPI(MPI_Barrier(MPI_COMM_WORLD));
    return rma_wtime() - start;
}

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

int main(int argc, char **argv) {
    static int operation;
    static const struct bench_option options[] = {
        {"operation", 'o', BENCH_WORD, &operation, 0, 0, "barrier|sync", "with rma_quiet, or without [barrier]"},
        {0},
    };
    static struct bench_spec spec = {
        .title = "barrier latency",
        .note = "all PEs, the slowest one's time",
        .help = "Time of a barrier of all PEs, as the slowest of them sees it:\n"
                "  Latency (us)  rma_barrier_all or rma_sync_all\n"
                "  raw (us)      raise a flag, wait for the other PE's; '-' unless 2 PEs on one node\n"
                "  MPI (us)      MPI_Barrier",
        .options = options,
        .budget = 20e-3,
    };
    struct bench_method methods[N_METHODS] = {
        [RMA] = {.name = "Latency (us)", .run = run_barrier, .check = check},
        [RAW] = {.name = "raw (us)", .run = run_raw, .check = check},
        [MPI] = {.name = "MPI (us)", .run = run_mpi, .check = check},
    };

    bench_init(argc, argv, &spec);
    if (operation == 1) {
        spec.title = "sync latency";
        methods[RMA].run = run_sync;
    }
    flag = bench_symmetric(FLAG_SIZE, 2 * FLAG_SIZE);
    arrivals = flag + FLAG_SIZE / sizeof *flag;
    if (bench.n_pes == 2) peer_flag = rma_ptr(flag, 1 - bench.pe);
    if (bench_agree(!peer_flag)) methods[RAW].run = NULL;
    BENCH_RMA(rma_barrier_all());
    bench_sweep(methods, N_METHODS, bench_ratios, BENCH_RATIOS);
    BENCH_RMA(rma_free(flag));
    return bench_finish();
}
