/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_threads.c: how fast several threads of one PE access another PE, each in its own context, and all in one context.
 *
 * The value is the total time divided by the operations of all threads: with a processor for each thread, two threads
 * halve it, if they share nothing. Each thread accesses its own cache lines, so that the library is measured, not a
 * shared line. */
#include "pair.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { OWN, ONE, RAW, MPI };

#define THREADS_MAX 64
#define LINE        16 /* words of 8 bytes between those of two threads */

static long window = 64;

struct worker {
    pthread_t thread;
    rma_ctx *ctx;
    long n;
    uint64_t *word, *near,
        *mine; /* the target's by symmetric address, by load and store if that can be, and the source */
    double seconds;
};

static struct worker workers[THREADS_MAX];
static int n_threads;
static pthread_barrier_t start;

/* What a thread does: PUT, and COMPLETE after each window. */
#define WORKER(NAME, PUT, COMPLETE)                                                                                    \
    static void *NAME(void *arg) {                                                                                     \
        struct worker *t = arg;                                                                                        \
        pthread_barrier_wait(&start);                                                                                  \
        double begun = rma_wtime();                                                                                    \
        for (long i = 0, k = 0; i < t->n; i++) {                                                                       \
            PUT;                                                                                                       \
            bench_keep(t->mine);                                                                                       \
            if (++k == window) {                                                                                       \
                COMPLETE;                                                                                              \
                k = 0;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        COMPLETE;                                                                                                      \
        t->seconds = rma_wtime() - begun;                                                                              \
        return NULL;                                                                                                   \
    }

static MPI_Aint disp(const struct worker *t) { return (MPI_Aint)((t - workers) * LINE * (long)sizeof *t->word); }

WORKER(work_rma, BENCH_RMA(rma_ctx_put_nbi(t->ctx, t->word, t->mine, sizeof *t->word, bench.peer)),
       BENCH_RMA(rma_ctx_quiet(t->ctx)))
WORKER(work_raw, __atomic_store_n(t->near, *t->mine, __ATOMIC_RELAXED), (void)0)
WORKER(work_mpi, BENCH_MPI(MPI_Put(t->mine, 8, MPI_BYTE, bench.peer, disp(t), 8, MPI_BYTE, pair.win)),
       BENCH_MPI(MPI_Win_flush(bench.peer, pair.win)))

/* n operations by all threads together. */
static double run(long n, void *(*work)(void *)) {
    double longest = 0;
    pthread_barrier_init(&start, NULL, (unsigned)n_threads);
    for (int i = 0; i < n_threads; i++) {
        workers[i].n = n / n_threads + (i < n % n_threads);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) bench_fail("pthread_create", 0);
    }
    for (int i = 0; i < n_threads; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].seconds > longest) longest = workers[i].seconds;
    }
    pthread_barrier_destroy(&start);
    return longest;
}

static double run_own(long n) {
    double seconds;
    for (int i = 0; i < n_threads; i++) BENCH_RMA(rma_ctx_create(RMA_CTX_PRIVATE, &workers[i].ctx));
    seconds = run(n, work_rma);
    for (int i = 0; i < n_threads; i++) BENCH_RMA(rma_ctx_destroy(workers[i].ctx));
    return seconds;
}

static double run_one(long n) {
    for (int i = 0; i < n_threads; i++) workers[i].ctx = RMA_CTX_DEFAULT;
    return run(n, work_rma);
}

static double run_raw(long n) { return run(n, work_raw); }
static double run_mpi(long n) { return run(n, work_mpi); }

/* Checks that each thread's word on the target is what it has put. */
static size_t check_words(const struct bench_method *m, uint64_t *words, MPI_Win win) {
    static uint64_t turn = 1000;
    size_t wrong = 0;
    turn += 1000;
    for (int i = 0; i < n_threads; i++) {
        *workers[i].mine = turn + (uint64_t)i;
        if (bench.role == BENCH_TARGET) words[i * LINE] = 0;
    }
    bench_check_run(m, 16 * (long)n_threads, win);
    for (int i = 0; bench.role == BENCH_TARGET && i < n_threads; i++) wrong += words[i * LINE] != turn + (uint64_t)i;
    return wrong;
}

static size_t check_heap(const struct bench_method *m) {
    return check_words(m, (uint64_t *)(void *)pair.heap, MPI_WIN_NULL);
}
static size_t check_window(const struct bench_method *m) {
    return check_words(m, (uint64_t *)(void *)pair.base, pair.win);
}

static int level; /* of threads */

static void start_threaded(void) { BENCH_RMA(rma_init_thread(RMA_THREAD_MULTIPLE, &level)); }

int main(int argc, char **argv) {
    static long threads = 2;
    static const struct bench_option options[] = {
        {"threads", 't', BENCH_COUNT, &threads, 1, THREADS_MAX, "N", "rows for 1, 2, 4 ... up to N threads [2]"},
        {"window", 'w', BENCH_COUNT, &window, 1, 1 << 20, "N", "operations for each completion [64]"},
        {0},
    };
    static const struct bench_method methods[] = {
        [OWN] = {.name = "own context (us)", .run = run_own, .check = check_heap},
        [ONE] = {.name = "one context (us)", .run = run_one, .check = check_heap},
        [RAW] = {.name = "raw (us)", .run = run_raw, .check = check_heap, .bare = true},
        [MPI] = {.name = "MPI (us)", .run = run_mpi, .check = check_window, .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"own/raw", OWN, {RAW, -1}},
        {"one/own", ONE, {OWN, -1}},
        {"MPI/own", MPI, {OWN, -1}},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "rate of threads",
        .note = "8 bytes, time of one put among all",
        .help = "Time of a nonblocking put of 8 bytes by threads of one PE, divided by the number of threads "
                "that work at once:\n"
                "  own context (us)  rma_ctx_put_nbi ..., rma_ctx_quiet after --window\n"
                "  one context (us)  the same, all threads in RMA_CTX_DEFAULT\n"
                "  raw (us)          stores through rma_ptr; '-' off-node\n"
                "  MPI (us)          MPI_Put ..., one window, MPI_Win_flush after --window\n"
                "Give the origin as many processors as threads. The target waits in MPI for MPI's column, and off-node "
                "in librma for the first.",
        .options = options,
        .methods = methods,
        .ratios = ratios,
        .first = "Threads",
        .pairs = BENCH_PAIRS_MAX,
        .start = start_threaded,
        .budget = 5e-3,
    };
    uint64_t *words;

    bench_init(argc, argv, &spec);
    if (level != RMA_THREAD_MULTIPLE) bench_refuse(1, "this MPI gives thread level %d, not RMA_THREAD_MULTIPLE", level);
    bench_pair_open(THREADS_MAX * LINE * sizeof *words);
    words = (uint64_t *)(void *)pair.heap;
    for (int i = 0; i < THREADS_MAX; i++) {
        workers[i].word = &words[i * LINE];
        workers[i].near = pair.peer ? (uint64_t *)(void *)pair.peer + i * LINE : NULL;
        workers[i].mine = (uint64_t *)(void *)pair.own + i * LINE;
    }
    for (n_threads = 1; n_threads <= threads; n_threads *= 2) {
        char name[24];
        snprintf(name, sizeof name, "%d", n_threads);
        bench_row(name);
    }
    bench_pair_close();
    return bench_finish();
}
