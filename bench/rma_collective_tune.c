/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_collective_tune.c: finds the sizes from which the collectives should use their other algorithms on this machine,
 * for the job's number of PEs, and prints them as a setting.
 *
 * A job reads RMA_COLLECTIVES when librma starts, so librma is restarted for each of the two algorithms of a family,
 * within one run of MPI. The algorithms alternate, round after round, and their ratio within a round counts: the
 * machine drifts by more than they differ.
 *
 * Each PE writes its source before each call, as programs do. If the source did not change, a PE that reads it directly
 * would have it in its own caches after the first call, while a bounce buffer is written in each call: this would
 * measure a case that does not occur in programs. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND    "rma_bench collective_tune"
#define TITLE      "crossovers of the collectives"
#define BUDGET     0.5e-3     /* seconds that a batch lasts: less than a time slice of a disturbing process */
#define BATCHES    5          /* in a round; the smallest counts, since disturbances only add time */
#define COUNT_MAX  1000000L   /* calls in a batch */
#define SIZE_MOST  (4L << 20) /* largest size of -m */
#define SIZES_MOST 20         /* number of sizes from 8 bytes up to it */

enum variant { STAGED, OTHER, VARIANTS };

struct family {
    const char *name, *algorithm; /* as the setting has them */
    bool gathers;                 /* dest is as large as all sources together */
    void (*call)(size_t len);     /* len bytes of this PE's source */
};

static char *source, *dest; /* symmetric */
static double *time_taken;  /* symmetric: this PE's time */
static long rounds = 5;
static bool verbose, reuse, help;
static struct bench_sizes sizes = {64, 64 << 10};

static void call_broadcast(size_t len) { BENCH_RMA(rma_broadcast(RMA_TEAM_WORLD, dest, source, len, 0)); }

static void call_fcollect(size_t len) { BENCH_RMA(rma_fcollect(RMA_TEAM_WORLD, dest, source, len)); }

static void call_collect(size_t len) { BENCH_RMA(rma_collect(RMA_TEAM_WORLD, dest, source, len)); }

static void call_alltoall(size_t len) {
    size_t n = (size_t)bench.n_pes;
    BENCH_RMA(rma_alltoall(RMA_TEAM_WORLD, dest, source, (len + n - 1) / n));
}

static void call_reduce(size_t len) {
    BENCH_RMA(rma_sum_reduce_long(RMA_TEAM_WORLD, (long *)(void *)dest, (long *)(void *)source, len / sizeof(long)));
}

static void call_scan(size_t len) {
    BENCH_RMA(rma_sum_inscan_long(RMA_TEAM_WORLD, (long *)(void *)dest, (long *)(void *)source, len / sizeof(long)));
}

static const struct family families[] = {
    {"broadcast", "direct", false, call_broadcast}, {"fcollect", "direct", true, call_fcollect},
    {"collect", "direct", true, call_collect},      {"alltoall", "direct", false, call_alltoall},
    {"reduce", "share", false, call_reduce},        {"scan", "share", false, call_scan},
};
#define FAMILIES ((int)(sizeof families / sizeof families[0]))

static size_t size_of(int i) { return sizes.min << i; }

static int n_sizes(void) {
    int n = 0;
    while (n < SIZES_MOST && size_of(n) <= sizes.max) n++;
    return n;
}

/* v[(size * VARIANTS + variant) * rounds + round]: seconds of a call. */
static double *cell(double *v, int size, enum variant variant) { return v + (size * VARIANTS + (int)variant) * rounds; }

/* Measurement. */

/* The slowest PE's time. Uses librma, since MPI's calls poll, and take milliseconds if PEs outnumber processors. */
static double agree(double seconds) {
    double slowest = 0;
    *time_taken = seconds;
    BENCH_RMA(rma_barrier_all());
    for (int pe = 0; pe < bench.n_pes; pe++) slowest = fmax(slowest, rma_g(time_taken, pe));
    BENCH_RMA(rma_barrier_all());
    return slowest;
}

/* Seconds of n calls. */
static double batch(const struct family *f, size_t len, long n) {
    size_t writes = f->call == call_broadcast && bench.pe != 0 ? 0 : len;
    BENCH_RMA(rma_barrier_all());
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        if (!reuse) memset(source, (int)(i & 0xff), writes);
        f->call(len);
        bench_keep(dest);
    }
    return agree(rma_wtime() - start);
}

/* Calls that fill a batch: the same number on each PE. */
static long calibrate(const struct family *f, size_t len) {
    long n = 1;
    batch(f, len, n); /* page faults, and the setup of a first call */
    for (;;) {
        double seconds = fmin(batch(f, len, n), batch(f, len, n));
        if (seconds > BUDGET / 4 || n >= COUNT_MAX) {
            double filling = (double)n * BUDGET / seconds;
            return filling < 1 ? 1 : filling > (double)COUNT_MAX ? COUNT_MAX : (long)filling;
        }
        n *= 4;
    }
}

static void set(const struct family *f, enum variant variant) {
    char text[64];
    snprintf(text, sizeof text, "%s:%s=%s", f->name, f->algorithm, variant == STAGED ? "never" : "0");
    if (setenv("RMA_COLLECTIVES", text, 1) != 0) bench_fail("setenv", MPI_ERR_NO_MEM);
}

static void *must(void *block) {
    if (!block) bench_fail("rma_aligned_alloc", 0);
    return block;
}

/* All sizes, with librma started for this algorithm. */
static void measure(const struct family *f, enum variant variant, long round, double *v) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n_pes = (size_t)bench.n_pes;
    size_t one = sizes.max + n_pes; /* as the blocks of an alltoall are rounded up */
    set(f, variant);
    BENCH_RMA(rma_init());
    source = must(rma_aligned_alloc(page, one));
    dest = must(rma_aligned_alloc(page, f->gathers ? n_pes * one : one));
    time_taken = must(rma_malloc(sizeof *time_taken));
    memset(source, 0, one);
    for (int i = 0; i < n_sizes(); i++) {
        long n = calibrate(f, size_of(i));
        double least = INFINITY;
        for (int k = 0; k < BATCHES; k++) least = fmin(least, batch(f, size_of(i), n));
        cell(v, i, variant)[round] = least / (double)n;
    }
    BENCH_RMA(rma_free(time_taken));
    BENCH_RMA(rma_free(dest));
    BENCH_RMA(rma_free(source));
    BENCH_RMA(rma_finalize());
}

/* Choosing. */

static double ratio(double *v, int size) {
    double *of = calloc((size_t)rounds, sizeof *of);
    if (!of) bench_fail("calloc", MPI_ERR_NO_MEM);
    for (long k = 0; k < rounds; k++) of[k] = cell(v, size, OTHER)[k] / cell(v, size, STAGED)[k];
    double median = bench_median(of, (int)rounds);
    free(of);
    return median;
}

/* The index of the size from which on the other algorithm is better: there the product of the ratios of all larger
 * sizes is smallest. This is the crossover, and one disturbed size does not move it. n_sizes(): there is none. */
static int choose(double *v) {
    int best = n_sizes();
    double sum = 0, least = 0;
    for (int i = n_sizes() - 1; i >= 0; i--) {
        sum += log(ratio(v, i));
        if (sum >= least) continue;
        least = sum;
        best = i;
    }
    return best;
}

/* Writes the size in the setting's format. */
static void size_text(char text[24], size_t size) {
    if (size % (1 << 20) == 0)
        snprintf(text, 24, "%zuM", size >> 20);
    else if (size % (1 << 10) == 0)
        snprintf(text, 24, "%zuk", size >> 10);
    else
        snprintf(text, 24, "%zu", size);
}

/* Sorts the values in v. */
static void print_table(const struct family *f, double *v) {
    char other[32];
    snprintf(other, sizeof other, "%s (us)", f->algorithm);
    printf("# %s\n# %-8s  %12s  %12s  %12s\n", f->name, "Size", "staged (us)", other, "ratio");
    for (int i = 0; i < n_sizes(); i++) {
        double of = ratio(v, i); /* before the rounds are sorted */
        printf("%-10zu", size_of(i));
        for (int k = 0; k < VARIANTS; k++)
            printf("  %12.3f", bench_median(cell(v, i, (enum variant)k), (int)rounds) * 1e6);
        printf("  %12.3f\n", of);
    }
    printf("\n");
}

/* Options. */

static const struct bench_option options[] = {
    {"message-size", 'm', BENCH_SIZES, &sizes, sizeof(long), SIZE_MOST, "[MIN:]MAX",
     "sizes in bytes, doubling from MIN; suffixes k, M [64:64k]"},
    {"rounds", 'r', BENCH_COUNT, &rounds, 1, 1001, "N", "rounds whose median counts [5]"},
    {"reuse", 0, BENCH_FLAG, &reuse, 0, 0, NULL, "leave the sources as they are between calls"},
    {"verbose", 'v', BENCH_FLAG, &verbose, 0, 0, NULL, "print what was measured, too"},
    {"help", 'h', BENCH_FLAG, &help, 0, 0, NULL, "print this text and exit"},
    {0},
};

static void print_help(void) {
    const struct bench_option *tables[] = {options};
    printf("Usage: mpiexec -n N " COMMAND " [OPTION]...\n"
           "Find the sizes from which the collectives should take their other algorithms on this machine, with so many "
           "PEs,\n"
           "and print a setting for jobs like this one:\n"
           "  RMA_COLLECTIVES=broadcast:direct=SIZE,...\n"
           "SIZE is in bytes and of what each PE contributes: in alltoall of all its blocks together. It is the least "
           "of the\n"
           "sizes measured if the algorithm is better for all of them, and 'never' if for none. Each PE should have a "
           "core that\n"
           "is idle.\n\n");
    bench_options_print(tables, 1);
}

/* Whether to go on; if not, *code is the program's result. */
static bool read_options(int argc, char **argv, int *code) {
    const struct bench_option *tables[] = {options};
    char error[BENCH_ERROR_SIZE] = "";
    *code = 2;
    if (bench_options_read(tables, 1, argc, argv, error) == 0) {
        if (help) {
            *code = 0;
            if (bench.pe == 0) print_help();
            return false;
        }
        if (sizes.min % sizeof(long) != 0)
            snprintf(error, sizeof error, "option -m: longs are added: MIN must be a multiple of %zu", sizeof(long));
        else if (bench.n_pes < 2)
            snprintf(error, sizeof error, "needs at least 2 PEs, the job has 1: start it with mpiexec -n 2");
    }
    if (error[0] && bench.pe == 0) fprintf(stderr, COMMAND ": %s\n", error);
    return !error[0];
}

/* PEs on the node that has most of them. */
static int most_on_a_node(void) {
    int n;
    unsetenv("RMA_COLLECTIVES"); /* its value must not matter here */
    BENCH_RMA(rma_init());
    n = rma_node_n_pes();
    BENCH_RMA(rma_finalize());
    BENCH_MPI(MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return n;
}

static void tune(void) {
    size_t cells = (size_t)n_sizes() * VARIANTS * (size_t)rounds;
    double *v = calloc(FAMILIES * cells, sizeof *v);
    char line[512] = "RMA_COLLECTIVES=", size[24];
    if (!v) bench_fail("calloc", MPI_ERR_NO_MEM);
    for (long round = 0; round < rounds; round++)
        for (int i = 0; i < FAMILIES; i++)
            for (int k = 0; k < VARIANTS; k++) { /* the two alternate in coming first */
                enum variant variant = (round + k) % 2 ? OTHER : STAGED;
                measure(&families[i], variant, round, v + (size_t)i * cells);
            }
    if (bench.pe == 0 && verbose)
        printf("# librma " TITLE " v%s\n# %d PEs; medians of %ld rounds\n\n", RMA_VERSION, bench.n_pes, rounds);
    for (int i = 0; bench.pe == 0 && i < FAMILIES; i++) {
        const struct family *f = &families[i];
        double *of = v + (size_t)i * cells;
        int from = choose(of);
        if (from < n_sizes())
            size_text(size, size_of(from));
        else
            snprintf(size, sizeof size, "never");
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s:%s=%s", i > 0 ? "," : "", f->name, f->algorithm, size);
        if (verbose) print_table(f, of);
    }
    if (bench.pe == 0) printf("%s\n", line);
    free(v);
}

int main(int argc, char **argv) {
    int provided, code;
    BENCH_MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    BENCH_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &bench.pe));
    BENCH_MPI(MPI_Comm_size(MPI_COMM_WORLD, &bench.n_pes));
    if (read_options(argc, argv, &code)) {
        if (most_on_a_node() > 1) {
            tune();
            code = 0;
        } else if (bench.pe == 0) {
            fprintf(stderr, COMMAND ": no node has two PEs, and the algorithms are for PEs of one node\n");
        }
    }
    BENCH_MPI(MPI_Finalize());
    return code;
}
