/* SPDX-License-Identifier: BSD-3-Clause */
/* galton: a Galton board whose bins are distributed over the PEs; all threads of all PEs fill it at once.
 *
 *     mpiexec -n 4 ./galton [balls per thread]
 *
 * A ball goes left or right at each of 64 pins; the number of its steps to the right is its bin. Bin b is on PE b % n.
 * Each thread has its own context. It adds to the bins without waiting for each ball. At the end it completes its own
 * additions, whatever the other threads still have pending. Then it sends its report to PE 0 by a put with a signal. So
 * PE 0 knows without a barrier when all balls have fallen. PE 0 compares the bins with what it computes alone. */
#include <pthread.h>
#include <rma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define BINS    65

struct report {
    long balls;
    int lowest, highest; /* bins */
};

/* Symmetric, as all global variables are. */
static long bins[BINS];   /* bin b: PE b % n's */
static uint64_t reported; /* PE 0's signal: the number of reports that have arrived */

static struct report *reports; /* PE 0's: one for each thread */
static long balls;             /* of each thread */
static int n_threads;          /* of each PE */

/* The bin of this ball: the bits of splitmix64 of its number are the steps. */
static int fall(uint64_t ball) {
    uint64_t x = (ball + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return __builtin_popcountll(x ^ x >> 31);
}

/* One thread; the argument is its number on this PE. The default error handler ends the job, so no code is checked. */
static void *work(void *argument) {
    int n = rma_n_pes(), number = rma_my_pe() * n_threads + *(int *)argument;
    struct report mine = {.balls = balls, .lowest = BINS};
    uint64_t first = (uint64_t)number * (uint64_t)balls;
    rma_ctx *ctx;
    if (rma_ctx_create(RMA_CTX_PRIVATE, &ctx) != RMA_SUCCESS) rma_abort(1); /* no memory: the handler is not called */

    for (uint64_t ball = first; ball < first + (uint64_t)balls; ball++) {
        int bin = fall(ball);
        rma_ctx_atomic_inc(ctx, &bins[bin], bin % n);
        if (bin < mine.lowest) mine.lowest = bin;
        if (bin > mine.highest) mine.highest = bin;
    }
    rma_ctx_quiet(ctx); /* this thread's balls have fallen, on all PEs */
    rma_ctx_put_signal(ctx, &reports[number], &mine, sizeof mine, &reported, 1, RMA_SIGNAL_ADD, 0);
    rma_ctx_destroy(ctx); /* also completes the report */
    return NULL;
}

static void run_threads(void) {
    pthread_t thread[THREADS];
    int number[THREADS];
    for (int t = 0; t < n_threads; t++) {
        number[t] = t;
        if (t > 0 && pthread_create(&thread[t], NULL, work, &number[t]) != 0) rma_abort(1);
    }
    work(&number[0]);
    for (int t = 1; t < n_threads; t++) pthread_join(thread[t], NULL);
}

/* On PE 0, when all reports have arrived. Returns 1 if something is wrong. */
static int judge(double seconds) {
    long want[BINS] = {0}, fallen = 0;
    int n = rma_n_pes(), lowest = BINS, highest = 0, failed = 0;
    for (int i = 0; i < n * n_threads; i++) {
        fallen += reports[i].balls;
        if (reports[i].lowest < lowest) lowest = reports[i].lowest;
        if (reports[i].highest > highest) highest = reports[i].highest;
    }
    for (uint64_t ball = 0; ball < (uint64_t)fallen; ball++) want[fall(ball)]++;
    for (int bin = 0; bin < BINS; bin++) {
        failed |= rma_g(&bins[bin], bin % n) != want[bin];
        failed |= want[bin] && (bin < lowest || bin > highest);
    }
    failed |= fallen != (long)n * n_threads * balls || !want[lowest] || !want[highest];
    printf("%ld balls by %d PEs of %d threads in bins %d to %d: %s; %.3f s\n", fallen, n, n_threads, lowest, highest,
           failed ? "WRONG" : "right", seconds);
    return failed;
}

int main(int argc, char **argv) {
    int level, failed = 0;
    if (rma_init_thread(RMA_THREAD_MULTIPLE, &level) != RMA_SUCCESS) return 1;
    char more;
    balls = rma_n_nodes() > 1 ? 20000 : 50000;
    n_threads = level == RMA_THREAD_MULTIPLE ? THREADS : 1; /* an MPI without threads */
    bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    bool wrong = !help && (argc > 2 || (argc == 2 && (sscanf(argv[1], "%ld%c", &balls, &more) != 1 || balls < 1)));
    int code = wrong ? 2 : 0;
    if (help || wrong) {
        if (rma_my_pe() == 0)
            fprintf(wrong ? stderr : stdout,
                    "usage: galton [balls per thread, at least 1; 50000, on several nodes 20000]\n");
        rma_finalize();
        return code;
    }

    reports = rma_calloc((size_t)rma_n_pes() * (size_t)n_threads, sizeof *reports);
    if (!reports) rma_abort(1);
    double start = rma_wtime();
    run_threads();
    if (rma_my_pe() == 0) {
        rma_signal_wait_until(&reported, RMA_CMP_EQ, (uint64_t)rma_n_pes() * (uint64_t)n_threads);
        failed = judge(rma_wtime() - start);
    }
    rma_free(reports); /* waits for all PEs */
    rma_finalize();
    return failed;
}
