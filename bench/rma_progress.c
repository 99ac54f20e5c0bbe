/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_progress.c: the time of operations on a PE that computes without calling a library, and what it costs that PE to
 * serve them.
 *
 * A batch is one computation of all PEs except the origin, which meanwhile accesses its target: by lone operations with
 * a rest between them, for which the target has been idle for a while, or by a burst. Its value is their median. At the
 * end of the computation the target might already wait, so the origin begins nothing there.
 *
 * In the row "polled" a word goes there and back, and each side waits for it by loads of its own memory; a cell is half
 * of the time. MPI has no such row: a window needs calls.
 *
 * MPI by itself serves nobody while the target computes, and librma's progress thread would also serve MPI's
 * operations: for the MPI column no PE has this thread. */
#include "pair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RMA, RAW, MPI };
enum { FETCH_ADD, PUT, POLL, OPERATIONS = 3 /* their bits */, RESTS = 4 };

#define STEPS     10000   /* of arithmetic between two readings of the clock: some 10 us */
#define REST      4000000 /* nanoseconds between lone operations: no thread still expects the next */
#define SAMPLES   1000000 /* kept of a batch */
#define QUIET_END 0.85    /* of a computation: afterwards no operation begins */
#define TURNS     10      /* pairs of short computations for each batch, to see what the thread costs */

static long compute_ms = 2000;
static long kind; /* of the row: an operation, and whether rests come between */
static double *samples;
static uint64_t done; /* operations of this batch */
static size_t wrong;  /* wrong values that this PE has found */

/* Not rma_wtime: a computing PE calls neither library. */
static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute_for(double seconds) {
    for (double end = now(CLOCK_MONOTONIC) + seconds; now(CLOCK_MONOTONIC) < end;) bench_compute(STEPS);
}

/* The thread, on all PEs. */
static void serve(bool on) {
    rma_errhandler *handler = rma_set_errhandler(rma_errors_return);
    int code = rma_progress_thread(on);
    rma_set_errhandler(handler);
    if (bench_agree(code != RMA_SUCCESS)) bench_refuse(1, "%s", rma_last_error());
}

/* Operations of the origin. Each leaves its number, counted from 1, in the first word of the target's block. */

static void operate_rma(int operation) {
    uint64_t *word = (uint64_t *)(void *)pair.heap, number = done + 1;
    if (operation == FETCH_ADD) {
        wrong += rma_atomic_fetch_add(word, 1, bench.peer) != done;
    } else {
        BENCH_RMA(rma_put(word, &number, sizeof number, bench.peer));
        BENCH_RMA(rma_quiet());
    }
}

/* The limit, on one node. */
static void operate_raw(int operation) {
    uint64_t *word = (uint64_t *)(void *)pair.peer;
    if (operation == FETCH_ADD)
        wrong += __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL) != done;
    else
        __atomic_store_n(word, done + 1, __ATOMIC_RELEASE);
}

static void operate_mpi(int operation) {
    uint64_t one = 1, found = done, number = done + 1;
    if (operation == FETCH_ADD)
        BENCH_MPI(MPI_Fetch_and_op(&one, &found, MPI_UINT64_T, bench.peer, pair.disp, MPI_SUM, pair.win));
    else
        BENCH_MPI(MPI_Put(&number, 1, MPI_UINT64_T, bench.peer, pair.disp, 1, MPI_UINT64_T, pair.win));
    BENCH_MPI(MPI_Win_flush(bench.peer, pair.win));
    wrong += found != done;
}

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = REST}, NULL); }

static int operation(void) { return (int)kind & OPERATIONS; }

/* The median in seconds. There is at least one operation. */
static double operate(int method, double end) {
    long n = 0;
    do {
        if (kind & RESTS) rest();
        double start = now(CLOCK_MONOTONIC);
        if (method == RMA)
            operate_rma(operation());
        else if (method == RAW)
            operate_raw(operation());
        else
            operate_mpi(operation());
        samples[n++] = now(CLOCK_MONOTONIC) - start;
        done++;
    } while (n < SAMPLES && now(CLOCK_MONOTONIC) < end);
    return bench_median(samples, (int)n);
}

#define LAST UINT64_MAX /* the word that ends a batch of "polled" */

static void send_word(int method, uint64_t value) {
    if (method == RAW)
        __atomic_store_n((uint64_t *)(void *)pair.peer, value, __ATOMIC_RELEASE);
    else
        BENCH_RMA(rma_p((uint64_t *)(void *)pair.heap, value, bench.peer));
}

/* One batch of "polled", for so many seconds. */
static double poll_batch(int method, double seconds) {
    uint64_t *word = (uint64_t *)(void *)pair.heap, seen = 0;
    double value = 0;
    long n = 0;
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
    bench_sync();
    if (bench.role == BENCH_ORIGIN) {
        const double end = now(CLOCK_MONOTONIC) + seconds;
        do {
            const double start = now(CLOCK_MONOTONIC);
            send_word(method, (uint64_t)n + 1);
            while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) <= (uint64_t)n) continue;
            samples[n++] = (now(CLOCK_MONOTONIC) - start) / 2;
            wrong += seen != (uint64_t)n;
        } while (n < SAMPLES && now(CLOCK_MONOTONIC) < end);
        send_word(method, LAST);
        value = bench_median(samples, (int)n);
    } else if (bench.role == BENCH_TARGET) {
        for (uint64_t found; (found = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != LAST;) {
            if (found == seen) continue;
            wrong += found != seen + 1;
            send_word(method, seen = found);
        }
    }
    bench_sync();
    return value;
}

/* One batch. MPI's has no thread of librma. */
static double batch(int method) {
    uint64_t *word = (uint64_t *)(void *)(method == MPI ? pair.base : pair.heap);
    double seconds = (double)compute_ms * 1e-3, value = 0;
    serve(method != MPI);
    if (operation() == POLL) return poll_batch(method, seconds);
    done = 0;
    if (bench.role == BENCH_TARGET) __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    BENCH_MPI(MPI_Win_sync(pair.win));
    bench_sync();
    if (bench.role == BENCH_ORIGIN) {
        double end = now(CLOCK_MONOTONIC) + seconds * QUIET_END;
        rest(); /* afterwards the others compute */
        value = operate(method, end);
    } else {
        compute_for(seconds);
    }
    /* PEs that wait for an MPI call of the origin must be in MPI now. */
    if (method == MPI)
        bench_sync_mpi();
    else
        bench_sync();
    BENCH_MPI(MPI_Win_sync(pair.win));
    BENCH_MPI(MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD));
    if (bench.role == BENCH_TARGET) wrong += __atomic_load_n(word, __ATOMIC_ACQUIRE) != done;
    return value;
}

static double run_rma(long n) { return (double)n * batch(RMA); }

static double run_raw(long n) { return (double)n * batch(RAW); }

static double run_mpi(long n) { return (double)n * batch(MPI); }

/* What the batches have found. */
static size_t check(const struct bench_method *m) {
    size_t found = wrong;
    (void)m;
    wrong = 0;
    return found;
}

/* The mean of all PEs' values. */
static double mean(double value) {
    BENCH_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return value / bench.n_pes;
}

/* The time of so many steps on all PEs at once. *others: the processor time of the process's other threads, as a
 * fraction of it. */
static double compute_timed(long steps, double *others) {
    bench_sync();
    double process = now(CLOCK_PROCESS_CPUTIME_ID), thread = now(CLOCK_THREAD_CPUTIME_ID), start = now(CLOCK_MONOTONIC);
    bench_compute(steps);
    double time = now(CLOCK_MONOTONIC) - start;
    thread = now(CLOCK_THREAD_CPUTIME_ID) - thread;
    *others = mean((now(CLOCK_PROCESS_CPUTIME_ID) - process - thread) / time);
    return mean(time);
}

/* In percent: by how much the thread prolongs an undisturbed computation, and the processor time that the thread
 * takes. */
static void slowdown(double *longer, double *share) {
    long n = bench.repeat * TURNS, steps = STEPS;
    double *ratios = malloc((size_t)n * sizeof *ratios), *shares = malloc((size_t)n * sizeof *shares), ignored;
    if (!ratios || !shares) bench_fail("malloc", MPI_ERR_NO_MEM);
    /* The steps that fill a tenth of --compute on PE 0, for all PEs. */
    double start = now(CLOCK_THREAD_CPUTIME_ID), wanted = (double)compute_ms * 1e-4;
    for (long did = 0; now(CLOCK_THREAD_CPUTIME_ID) - start < wanted; did += STEPS) {
        bench_compute(STEPS);
        steps = did + STEPS;
    }
    BENCH_MPI(MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD));
    for (long i = 0; i < n; i++) {
        double time[2];
        for (int k = 0; k < 2; k++) {
            bool on = (i + k) % 2 != 0; /* the two alternate in coming first */
            serve(on);
            time[on] = compute_timed(steps, on ? &shares[i] : &ignored);
        }
        ratios[i] = time[1] / time[0];
    }
    *longer = (bench_median(ratios, (int)n) - 1) * 100;
    *share = bench_median(shares, (int)n) * 100;
    free(ratios);
    free(shares);
}

static const struct bench_method methods[] = {
    [RMA] = {.name = "Latency (us)", .check = check, .callers = BENCH_ALL},
    [RAW] = {.name = "raw (us)", .check = check, .callers = BENCH_ALL, .bare = true},
    [MPI] = {.name = "MPI (us)", .check = check, .callers = BENCH_ALL},
    {0},
};
#define RUNS                                                                                                           \
    { run_rma, run_raw, run_mpi }
static const struct bench_row rows[] = {
    {"lone", RUNS, FETCH_ADD | RESTS},
    {"burst", RUNS, FETCH_ADD},
    {"lone put", RUNS, PUT | RESTS},
    {"burst put", RUNS, PUT},
    {"polled", {run_rma, run_raw, NULL}, POLL},
    {0},
};
static void begin(void) {
    samples = malloc(SAMPLES * sizeof *samples);
    if (!samples) bench_fail("malloc", MPI_ERR_NO_MEM);
    bench_pair_open(sizeof(uint64_t));
    serve(true); /* ends here if the thread cannot be started */
}

static void before(struct bench_method *of) {
    (void)of;
    kind = rows[bench.row].n;
}

static void end(void) {
    double longer[] = {NAN, NAN, NAN}, share[] = {NAN, NAN, NAN};
    if (bench.far && bench.only < 0) slowdown(&longer[RMA], &share[RMA]);
    if (bench.only < 0) {
        bench_row_of("slowdown (%)", longer, true);
        bench_row_of("thread (%)", share, true);
    }
    serve(true);
    bench_pair_close();
    free(samples);
}

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"compute", 0, BENCH_COUNT, &compute_ms, 10, 1000000, "MS",
         "milliseconds that the target computes in a batch [2000]"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "busy target",
        .note = "8 bytes, while the target computes",
        .help =
            "Time of operations by one PE on another, while all PEs but the first compute and call nobody:\n"
            "  Latency (us)  rma_atomic_fetch_add, or rma_put and rma_quiet\n"
            "  raw (us)      the same by an instruction through rma_ptr; '-' off-node\n"
            "  MPI (us)      MPI_Fetch_and_op or MPI_Put, and MPI_Win_flush; librma's thread is ended on all PEs\n"
            "The rows:\n"
            "  lone, lone put    with rests of 4 ms\n"
            "  burst, burst put  back to back; MPI's first takes what is left of the computation where MPI needs the "
            "target\n"
            "  polled            a word goes there and back between two PEs that poll their memory by loads: half of "
            "the "
            "time\n"
            "  slowdown (%)      how much longer a computation of all PEs takes with librma's thread than without, in "
            "turn\n"
            "  thread (%)        processor time that the thread takes of it; both '-' on one node, where there is "
            "none",
        .options = options,
        .methods = methods,
        .rows = rows,
        .ratios = bench_ratios,
        .first = "Row",
        .pairs = 1,
        .repeat = 3,
        .begin = begin,
        .before = before,
        .end = end,
        .single = true,
    };
    return bench_main(argc, argv, &spec);
}
