/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.c: the harness of the benchmarks.
 *
 * Between batches PEs meet in a non-blocking MPI reduction that they poll. A PE that only waits sleeps
 * between two looks, which keeps caches, memory and core to the PE being measured; but where MPI's one-sided
 * calls are measured it polls without pause, since same-node MPI moves nothing until the target enters MPI.
 * With several nodes it serves between two looks, as it would in librma's own barrier.
 *
 * A batch must be long against the clock and the meeting, and short against the drift of the machine; so
 * its number of iterations is found for each method and size by trial, on wall-clock time. All PEs learn
 * the slowest one's time, and hence choose the same number. */
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 1000000000L

struct bench bench = {.window = 1, .warmup = -1};

static const struct bench_spec *spec;
static const char *program = "bench";
static bool help;

struct table {
    const struct bench_method *methods;
    int n_methods;
    const struct bench_ratio *ratios;
    int n_ratios;
};

/* Ends. */

static void end(void) {
    int ended;
    fflush(stdout);
    BENCH_RMA(rma_finalize());
    BENCH_MPI(MPI_Finalized(&ended));
    if (!ended) BENCH_MPI(MPI_Finalize());
}

static _Noreturn void leave(int code) {
    end();
    exit(code);
}

void bench_refuse(int code, const char *format, ...) {
    if (bench.pe == 0) {
        va_list args;
        va_start(args, format);
        fprintf(stderr, "%s: ", program);
        vfprintf(stderr, format, args);
        fprintf(stderr, "\n");
        va_end(args);
    }
    leave(code);
}

void bench_fail(const char *call, int mpi_code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    if (mpi_code != 0 && MPI_Error_string(mpi_code, text, &len) != MPI_SUCCESS) text[0] = '\0';
    fprintf(stderr, "%s: PE %d: %s: %s\n", program, bench.pe, call, mpi_code != 0 ? text : rma_last_error());
    rma_abort(1);
}

int bench_finish(void) {
    end();
    return bench.failed ? 1 : 0;
}

/* Options. */

static const struct bench_option size_options[] = {
    {"message-size", 'm', BENCH_SIZES, &bench.sizes, 1, (long)BENCH_SIZE_MAX, "[MIN:]MAX",
     "sizes in bytes, doubling from MIN; suffixes k, M, G"},
    {0},
};

static const struct bench_option batch_options[] = {
    {"iterations", 'i', BENCH_COUNT, &bench.iterations, 1, COUNT_MAX, "N",
     "iterations per batch [as many as fill a few ms]"},
    {"warmup", 'x', BENCH_COUNT, &bench.warmup, 0, COUNT_MAX, "N",
     "iterations before the batches of each row [a tenth of a batch, and one]"},
    {0},
};

static const struct bench_option repeat_options[] = {
    {"repeat", 'r', BENCH_COUNT, &bench.repeat, 1, 10001, "N", "batches whose median is printed"},
    {0},
};

static const struct bench_option common_options[] = {
    {"validate", 'c', BENCH_FLAG, &bench.validate, 0, 0, NULL, "check data after each row; exit 1 if wrong"},
    {"csv", 0, BENCH_FLAG, &bench.csv, 0, 0, NULL, "a header line and comma-separated rows; no value: empty"},
    {"help", 'h', BENCH_FLAG, &help, 0, 0, NULL, "print this text and exit"},
    {0},
};

static void read_options(int argc, char **argv) {
    const struct bench_option *sizes = spec->max_size > 0 ? size_options : NULL;
    const struct bench_option *batches = spec->itself || spec->once ? NULL : batch_options;
    const struct bench_option *repeats = spec->once ? NULL : repeat_options;
    const struct bench_option *tables[] = {sizes, batches, repeats, common_options, spec->options};
    const int n = sizeof tables / sizeof tables[0];
    char error[BENCH_ERROR_SIZE];
    bench.sizes = (struct bench_sizes){spec->min_size > 0 ? spec->min_size : 1, spec->max_size};
    bench.repeat = spec->repeat > 0 ? spec->repeat : 11;
    if (bench_options_read(tables, n, argc, argv, error) != 0) bench_refuse(2, "%s", error);
    if (!help) return;
    if (bench.pe == 0) {
        printf("Usage: mpiexec -n N %s [OPTION]...\n%s\n\n", program, spec->help);
        bench_options_print(tables, n);
        printf("\n");
        if (spec->max_size > 0) printf("The default sizes are %zu:%zu.\n", bench.sizes.min, bench.sizes.max);
        if (!spec->once) printf("The default of -r is %ld.\n", bench.repeat);
    }
    leave(0);
}

/* Names the machine: the same in its containers, in namespaces, and on nodes that are simulated. */
static uint64_t machine(void) {
    char text[256] = "";
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!f || !fgets(text, sizeof text, f)) gethostname(text, sizeof text - 1);
    if (f) fclose(f);
    for (const char *p = text; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return hash;
}

/* PEs on this machine. Collective. */
static int neighbours(void) {
    uint64_t mine = machine(), *all = malloc((size_t)bench.n_pes * sizeof *all);
    int n = 0;
    if (!all) bench_fail("malloc", MPI_ERR_NO_MEM);
    BENCH_MPI(MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD));
    for (int pe = 0; pe < bench.n_pes; pe++) n += all[pe] == mine;
    free(all);
    return n;
}

void bench_init(int argc, char **argv, const struct bench_spec *s) {
    spec = s;
    if (argc > 0) program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    if (!rma_initialized()) BENCH_RMA(rma_init());
    bench.pe = rma_my_pe();
    bench.n_pes = rma_n_pes();
    bench.far = rma_n_nodes() > 1;
    bench.crowded = (bench.far ? neighbours() : rma_node_n_pes()) > sysconf(_SC_NPROCESSORS_ONLN);
    read_options(argc, argv);
    if (bench.n_pes < spec->n_pes)
        bench_refuse(2, "needs at least %d PEs, the job has %d: start it with mpiexec -n %d", spec->n_pes,
                     bench.n_pes, spec->n_pes);
}

/* Meeting and measuring. */

enum wait {
    NAP,   /* look now and then */
    SERVE, /* poll, and do what other nodes ask */
    SPIN   /* poll in MPI alone */
};

/* How this PE waits for the others while m, or nothing, is measured. */
static enum wait way(const struct bench_method *m) {
    if (spec->n_pes > 0 && bench.pe >= spec->n_pes) return NAP;
    return m && m->mpi ? SPIN : bench.far ? SERVE : NAP;
}

/* v[0..n) = the largest of all PEs' values. */
static void all_max(double *v, int n, enum wait wait) {
    static const struct timespec nap = {0, 50000}, short_nap = {0, 1000};
    MPI_Request request;
    int done = 0;
    BENCH_MPI(MPI_Iallreduce(MPI_IN_PLACE, v, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request));
    for (;;) {
        BENCH_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return;
        if (bench.far && wait != SPIN) BENCH_RMA(rma_progress());
        if (wait == NAP)
            nanosleep(&nap, NULL);
        else if (bench.crowded && wait == SERVE)
            nanosleep(&short_nap, NULL);
        else if (bench.crowded)
            sched_yield();
    }
}

int bench_agree(int value) {
    double v = value;
    all_max(&v, 1, way(NULL));
    return (int)v;
}

void bench_sync(void) {
    bench_agree(0);
}

void bench_sync_mpi(void) {
    double v = 0;
    all_max(&v, 1, SPIN);
}

/* One batch: the seconds that run reports, and those that passed (*wall). */
static double batch(const struct bench_method *m, long n, double *wall) {
    double t[2] = {0, 0};
    enum wait wait = way(m);
    all_max(t, 1, wait); /* every PE awake and here before any of them starts */
    if (bench_calls_run(m)) {
        double start = rma_wtime();
        t[0] = m->run(n);
        t[1] = rma_wtime() - start;
    }
    all_max(t, 2, wait);
    *wall = t[1];
    return t[0];
}

/* Iterations that fill spec->budget. The fastest of some tries counts: others may have met a page fault or
 * another process. */
static long calibrate(const struct bench_method *m) {
    double n = 1, wall, again;
    batch(m, 1, &wall);
    for (;;) {
        wall = INFINITY;
        for (int i = 0; i < 3; i++) {
            batch(m, (long)n, &again);
            if (again < wall) wall = again;
        }
        double scale = wall > spec->budget / 16 ? spec->budget / wall : 16;
        n = n * scale < 1 ? 1 : n * scale > COUNT_MAX ? (double)COUNT_MAX : n * scale;
        if (scale < 2 || n >= (double)COUNT_MAX) return (long)n;
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The least of many: what disturbs a single look must not be subtracted from others. */
double bench_clock_cost(void) {
    double least = 1;
    for (int i = 0; i < 10000; i++) {
        double start = rma_wtime(), cost = rma_wtime() - start;
        if (cost < least) least = cost;
    }
    return least;
}

/* The ratio of columns in one round, v[i * stride] being column i's value; not a number if one is missing. */
static double ratio(const struct bench_ratio *r, const double *v, long stride) {
    double under = NAN;
    for (int i = 0; i < 2; i++) {
        if (r->under[i] < 0) continue;
        double x = v[r->under[i] * stride];
        if (isnan(under) || (spec->bandwidth ? x > under : x < under)) under = x;
    }
    return v[r->over * stride] / under;
}

/* Output: by PE 0. */

static int width(const char *title) {
    return strlen(title) > 10 ? (int)strlen(title) : 10;
}

static void print_title(const char *title) {
    if (bench.csv)
        printf(",%s", title);
    else
        printf("  %*s", width(title), title);
}

static void print_value(const char *title, double value, int decimals) {
    if (bench.csv && isnan(value))
        printf(",");
    else if (bench.csv)
        printf(",%.*f", decimals, value);
    else if (isnan(value))
        printf("  %*s", width(title), "-");
    else
        printf("  %*.*f", width(title), decimals, value);
}

static int decimals(void) {
    return spec->bandwidth || spec->nanoseconds ? 2 : 5;
}

/* Rows with names of their own have longer ones than sizes are. */
static int name_width(void) {
    return spec->rows ? 12 : 10;
}

static void print_header(const struct table *t) {
    const char *first = spec->rows ? spec->rows : spec->max_size > 0 ? "Size" : "PEs";
    if (bench.csv) {
        printf("%s", first);
    } else {
        printf("# librma %s v%s\n# %s", spec->title, RMA_VERSION, spec->note);
        if (!spec->once) printf("; medians of %ld batches, taken in turn", bench.repeat);
        printf("\n# %-*s", name_width() - 2, first);
    }
    for (int i = 0; i < t->n_methods; i++) print_title(t->methods[i].name);
    for (int i = 0; i < t->n_ratios; i++) print_title(t->ratios[i].name);
    if (bench.validate) print_title("Validation");
    printf("\n");
}

static void print_row(const struct table *t, const char *name, const double *cells, const double *ratios,
                      bool good) {
    printf("%-*s", bench.csv ? 0 : name_width(), name);
    for (int i = 0; i < t->n_methods; i++) print_value(t->methods[i].name, cells[i], decimals());
    for (int i = 0; i < t->n_ratios; i++) print_value(t->ratios[i].name, ratios[i], 3);
    if (bench.validate) printf(bench.csv ? ",%s" : "  %10s", good ? "Pass" : "Fail");
    printf("\n");
    fflush(stdout);
}

/* Rows. */

/* n doubles that are no numbers. */
static double *doubles(long n) {
    double *v = calloc((size_t)n + 1, sizeof *v);
    if (!v) bench_fail("calloc", MPI_ERR_NO_MEM);
    for (long i = 0; i < n; i++) v[i] = NAN;
    return v;
}

/* Batches in turn: v[i * repeat + round] is method i's value in that round, if it has one. */
static void measure(const struct table *t, double *v) {
    long *n = calloc((size_t)t->n_methods, sizeof *n);
    double wall, unit = spec->nanoseconds ? 1e9 : 1e6;
    if (!n) bench_fail("calloc", MPI_ERR_NO_MEM);
    for (int i = 0; i < t->n_methods; i++) {
        const struct bench_method *m = &t->methods[i];
        if (!m->run) continue;
        n[i] = bench.iterations > 0 ? bench.iterations : calibrate(m);
        long warmup = bench.warmup >= 0 ? bench.warmup : n[i] / 10 + 1;
        if (warmup > 0) batch(m, warmup, &wall);
    }
    double bytes = (double)bench.size * (double)bench.window;
    for (long round = 0; round < bench.repeat; round++)
        for (int i = 0; i < t->n_methods; i++) {
            if (!t->methods[i].run) continue;
            double time = batch(&t->methods[i], n[i], &wall) / (double)n[i] * unit;
            if (time < 1e-15 * unit) time = 1e-15 * unit; /* below the clock's resolution: no cell is infinite */
            v[i * bench.repeat + round] = spec->bandwidth ? bytes / time : time;
        }
    free(n);
}

static bool check_all(const struct table *t) {
    double wrong = 0;
    for (int i = 0; i < t->n_methods; i++)
        if (t->methods[i].run && t->methods[i].check) wrong += (double)t->methods[i].check(&t->methods[i]);
    all_max(&wrong, 1, way(NULL));
    if (wrong > 0) bench.failed = true;
    return wrong == 0;
}

static void row(const struct table *t, const char *name) {
    long repeat = bench.repeat;
    double *v = doubles(t->n_methods * repeat), *rounds = doubles(repeat);
    double *cells = doubles(t->n_methods), *ratios = doubles(t->n_ratios);
    measure(t, v);
    for (int i = 0; i < t->n_ratios; i++) {
        for (long k = 0; k < repeat; k++) rounds[k] = ratio(&t->ratios[i], v + k, repeat);
        if (!isnan(rounds[0])) ratios[i] = bench_median(rounds, (int)repeat);
    }
    for (int i = 0; i < t->n_methods; i++)
        if (t->methods[i].run) cells[i] = bench_median(v + i * repeat, (int)repeat);
    bool good = !bench.validate || check_all(t);
    if (bench.pe == 0) print_row(t, name, cells, ratios, good);
    free(v);
    free(rounds);
    free(cells);
    free(ratios);
}

void bench_sweep(const struct bench_method *methods, int n_methods, const struct bench_ratio *ratios,
                 int n_ratios) {
    struct table t = {methods, n_methods, ratios, n_ratios};
    char name[24];
    if (bench.pe == 0) print_header(&t);
    bench.size = bench.sizes.min;
    do {
        snprintf(name, sizeof name, "%zu", spec->max_size > 0 ? bench.size : (size_t)bench.n_pes);
        row(&t, name);
        bench.size *= 2;
    } while (bench.size <= bench.sizes.max);
}

static void print_header_once(const struct table *t) {
    static bool printed;
    if (bench.pe == 0 && !printed) print_header(t);
    printed = true;
}

void bench_row(const char *name, const struct bench_method *methods, int n_methods,
               const struct bench_ratio *ratios, int n_ratios) {
    struct table t = {methods, n_methods, ratios, n_ratios};
    print_header_once(&t);
    row(&t, name);
}

void bench_row_of(const char *name, const double *values, bool good, const struct bench_method *methods,
                  int n_methods, const struct bench_ratio *ratios, int n_ratios) {
    struct table t = {methods, n_methods, ratios, n_ratios};
    double *of = doubles(n_ratios);
    print_header_once(&t);
    for (int i = 0; i < n_ratios; i++) of[i] = ratio(&ratios[i], values, 1);
    if (bench.pe == 0) print_row(&t, name, values, of, good);
    free(of);
}
