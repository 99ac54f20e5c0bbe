/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.c: the harness of the benchmarks.
 *
 * Between batches PEs meet in a non-blocking MPI reduction that they poll. A PE that only waits sleeps between two
 * polls, which leaves caches, memory and core to the PE being measured. But if MPI's one-sided calls are measured, it
 * polls without pause, since on one node MPI moves nothing until the target enters MPI. With several nodes it drives
 * progress between two polls, as it would in librma's own barrier.
 *
 * A batch must be long compared to the clock's resolution and the meeting, and short compared to the drift of the
 * machine; so trials by wall-clock time find its number of iterations for each method and size. All PEs learn the
 * slowest PE's time, and hence choose the same number. */
#include "bench.h"
#include "machine.h"
#include "output.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 1000000000L

struct bench bench = {.window = 1, .streams = 1, .pairs = 1, .warmup = -1, .only = -1, .way = -1};

const struct bench_ratio bench_ratios[] = {
    {"rma/raw", 0, {1, -1}},
    {"MPI/rma", 2, {0, -1}},
    {0},
};

static const struct bench_spec *spec;
static const char *program = "bench";  /* the program's name, without folders */
static char command[80] = "rma_bench"; /* the command that users type */
static bool help;
static char pairs_note[160]; /* which PEs are a pair, and where they are */

#define BUSY 0.5 /* processors: if other processes use half of one, every batch shows it */

static struct bench_method methods[BENCH_COLUMNS_MAX]; /* of the row being measured */
static int n_methods, n_ratios;

/* Ends. */

static void end(void) {
    int ended;
    if (!bench_output_end()) {
        fprintf(stderr, "%s: not all rows could be written\n", command);
        bench.failed = true;
    }
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
        fprintf(stderr, "%s: ", command);
        vfprintf(stderr, format, args);
        fprintf(stderr, "\n");
        va_end(args);
    }
    leave(code);
}

void *bench_symmetric(size_t alignment, size_t size) {
    void *p = rma_aligned_alloc(alignment, size);
    if (!p) bench_refuse(1, "%s", rma_last_error());
    memset(p, 0, size);
    return p;
}

void bench_fail(const char *call, int mpi_code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    if (mpi_code != 0 && MPI_Error_string(mpi_code, text, &len) != MPI_SUCCESS) text[0] = '\0';
    fprintf(stderr, "%s: PE %d: %s: %s\n", command, bench.pe, call, mpi_code != 0 ? text : rma_last_error());
    rma_abort(1);
}

int bench_finish(void) {
    double others = bench_machine_others();
    if (bench.pe == 0 && others >= BUSY)
        bench_output_note("the machine is too busy to measure: other processes used %.1f of its processors meanwhile",
                          others);
    end();
    return bench.failed ? 1 : 0;
}

/* Options. */

enum { TABLES = 5, OWN_TABLES = 2, COMMON = 9 };

static char row_names[512];
static const struct bench_option row_options[] = {
    {"operation", 'o', BENCH_WORD, &bench.only, 0, 0, row_names, "this row alone [all]"},
    {0},
};

/* The tables of the program's options, its own first. */
static void list_options(const struct bench_option *tables[TABLES]) {
    const struct {
        bool has;
        struct bench_option option;
    } of_several[COMMON] = {
        {spec->max_size > 0,
         {"message-size", 'm', BENCH_SIZES, &bench.sizes, 1, (long)BENCH_SIZE_MAX, "[MIN:]MAX",
          "sizes in bytes, doubling from MIN; suffixes k, M, G"}},
        {!spec->single && !spec->once,
         {"iterations", 'i', BENCH_COUNT, &bench.iterations, 1, COUNT_MAX, "N",
          "iterations per batch [as many as fill a few ms]"}},
        {!spec->single && !spec->once,
         {"warmup", 'x', BENCH_COUNT, &bench.warmup, 0, COUNT_MAX, "N",
          "iterations before the batches of each row [a tenth of a batch, and one]"}},
        {!spec->once, {"repeat", 'r', BENCH_COUNT, &bench.repeat, 1, 10001, "N", "batches whose median is printed"}},
        {spec->pairs > 1,
         {"pairs", 'p', BENCH_COUNT, &bench.pairs, 1, spec->pairs, "N", "pairs of PEs that work at once [1]"}},
        {spec->ways,
         {"way", 0, BENCH_WORD, &bench.way, 0, 0, "messages|dynamic",
          "between nodes, on memory of the local heap: librma by messages, or by its dynamic window"}},
        {true,
         {"validate", 'c', BENCH_FLAG, &bench.validate, 0, 0, NULL, "check data after each row; exit 1 if wrong"}},
    };
    static const struct bench_option help_options[] = {
        {"help", 'h', BENCH_FLAG, &help, 0, 0, NULL, "print this text and exit"},
        {0},
    };
    static struct bench_option common[COMMON + 1];
    int n = 0;
    for (int i = 0; i < COMMON; i++)
        if (of_several[i].has) common[n++] = of_several[i].option;
    tables[0] = spec->options;
    tables[1] = spec->rows ? row_options : NULL;
    tables[2] = common;
    tables[3] = bench_output_options;
    tables[4] = help_options;
}

/* Before librma is started, since --way decides how it starts. Returns the result of bench_options_read. */
static int read_options(int argc, char **argv, char error[BENCH_ERROR_SIZE]) {
    const struct bench_option *tables[TABLES];
    for (const struct bench_row *r = spec->rows; r && r->name; r++) {
        size_t len = strlen(row_names), room = sizeof row_names - len;
        int more = snprintf(row_names + len, room, "%s%s", len > 0 ? "|" : "", r->name);
        assert((size_t)more < room && "there is room for the names of all rows");
        (void)more;
    }
    list_options(tables);
    bench.sizes = (struct bench_sizes){spec->min_size > 0 ? spec->min_size : 1, spec->max_size};
    bench.repeat = spec->once ? 1 : spec->repeat > 0 ? spec->repeat : 11;
    if (spec->single) bench.iterations = 1, bench.warmup = 0;
    return bench_options_read(tables, TABLES, argc, argv, error);
}

/* The process that prints for the job, by the launcher's numbers; without a launcher there is only one. */
static bool is_first_process(void) {
    static const char *const names[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (int i = 0; i < 3; i++) {
        const char *rank = getenv(names[i]);
        if (rank) return strcmp(rank, "0") == 0;
    }
    return true;
}

/* Needs no MPI: the build writes the manual page with it. */
static _Noreturn void print_help(void) {
    const struct bench_option *tables[TABLES];
    if (!is_first_process()) exit(0);
    list_options(tables);
    printf("Usage: mpiexec -n N %s [OPTION]...\n%s\n", command, spec->help);
    if (spec->max_size > 0) printf("The default sizes are %zu:%zu.\n", bench.sizes.min, bench.sizes.max);
    if (!spec->once) printf("The default of -r is %ld.\n", bench.repeat);
    printf("\n");
    bench_options_print(tables, OWN_TABLES);
    printf("%sOptions of several benchmarks:\n", tables[0] || tables[1] ? "\n" : "");
    bench_options_print(tables + OWN_TABLES, TABLES - OWN_TABLES);
    exit(0);
}

/* Placement. */

/* The first half of the PEs are origins, as in the OSU benchmarks: if PEs are placed in blocks, pairs cross nodes where
 * possible. */
static void place(void) {
    const int pairs = (int)bench.pairs;
    if (2 * pairs > bench.n_pes)
        bench_refuse(2, "%d pair%s of PEs: the job has %d PE%s; start it with mpiexec -n %d or more", pairs,
                     pairs > 1 ? "s" : "", bench.n_pes, bench.n_pes > 1 ? "s" : "", 2 * pairs);
    if (bench.pe < 2 * pairs) {
        bench.role = bench.pe < pairs ? BENCH_ORIGIN : BENCH_TARGET;
        bench.peer = bench.pe < pairs ? bench.pe + pairs : bench.pe - pairs;
    }
    int near = bench.role == BENCH_ORIGIN && rma_on_node(bench.peer);
    BENCH_MPI(MPI_Allreduce(MPI_IN_PLACE, &near, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    const char *where = near == pairs ? "on one node" : near == 0 ? "across nodes" : "on one node and across nodes";
    if (pairs == 1)
        snprintf(pairs_note, sizeof pairs_note, "PE 0 to PE 1, %s", where);
    else
        snprintf(pairs_note, sizeof pairs_note, "%d pairs, the first PE 0 to PE %d, %s", pairs, pairs, where);
    bench.streams = pairs;
}

/* Describes the pairs, and adds the program's own note. */
static const char *note(void) {
    static char text[512];
    if (spec->pairs == 0) return spec->note;
    snprintf(text, sizeof text, "%s%s%s", pairs_note, spec->note ? "; " : "", spec->note ? spec->note : "");
    return text;
}

static void start(void) {
    static const char *const window[] = {[BENCH_MESSAGES] = "none", [BENCH_DYNAMIC] = "dynamic"};
    if (bench.way >= 0 && setenv("RMA_WINDOW", window[bench.way], 1) != 0) bench_fail("setenv", MPI_ERR_NO_MEM);
    if (spec->start)
        spec->start();
    else
        BENCH_RMA(rma_init());
}

void bench_init(int argc, char **argv, const struct bench_spec *s) {
    spec = s;
    if (argc > 0) program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    snprintf(command, sizeof command, "rma_bench %s", strncmp(program, "rma_", 4) == 0 ? program + 4 : program);
    char error[BENCH_ERROR_SIZE] = "";
    int code = read_options(argc, argv, error);
    if (code == 0 && help) print_help();
    start();
    bench.pe = rma_my_pe();
    bench.n_pes = rma_n_pes();
    bench.peer = bench.pe;
    bench.far = rma_n_nodes() > 1;
    bench.crowded = bench_machine_open() > sysconf(_SC_NPROCESSORS_ONLN);
    if (code != 0) bench_refuse(2, "%s", error);
    if (bench.way >= 0 && !bench.far)
        bench_refuse(2, "--way is a way between nodes: the job has 1 node of %d PE%s", bench.n_pes,
                     bench.n_pes > 1 ? "s" : "");
    const char *refused = bench.pe == 0 ? bench_output_refused() : NULL;
    if (bench_agree(refused != NULL)) bench_refuse(2, "%s", refused);
    if (spec->pairs > 0) {
        place();
    } else if (bench.pe < 2) {
        bench.role = bench.pe == 0 ? BENCH_ORIGIN : BENCH_TARGET;
        bench.peer = bench.n_pes > 1 ? 1 - bench.pe : 0;
    }
}

/* Meeting and measuring. */

enum wait {
    NAP,   /* poll now and then */
    SERVE, /* poll, and serve other nodes */
    SPIN   /* poll only in MPI */
};

/* How this PE waits for the others while m (or NULL: nothing) is measured. */
static enum wait way(const struct bench_method *m) {
    if (spec->pairs > 0 && bench.role == BENCH_BYSTANDER) return NAP;
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

void bench_sync(void) { bench_agree(0); }

void bench_sync_mpi(void) {
    double v = 0;
    all_max(&v, 1, SPIN);
}

int bench_column(const struct bench_method *m) { return (int)(m - methods); }

bool bench_calls_run(const struct bench_method *m) {
    switch (m->callers) {
        case BENCH_DEFAULT: return spec->pairs == 0 || bench.role == BENCH_ORIGIN;
        case BENCH_ALL: return true;
        case BENCH_ORIGINS: return bench.role == BENCH_ORIGIN;
        default: return bench.role != BENCH_BYSTANDER;
    }
}

static void sync_window(MPI_Win win) {
    if (win != MPI_WIN_NULL) BENCH_MPI(MPI_Win_sync(win));
}

void bench_check_run(const struct bench_method *m, long n, MPI_Win win) {
    sync_window(win);
    bench_sync();
    if (bench_calls_run(m)) m->run(n);
    bench_sync();
    sync_window(win);
}

/* Runs one batch. Returns the seconds that run reports; *wall gets the elapsed seconds. */
static double batch(const struct bench_method *m, long n, double *wall) {
    double t[2] = {0, 0};
    enum wait wait = way(m);
    all_max(t, 1, wait); /* every PE is awake and here before any of them starts */
    if (bench_calls_run(m)) {
        double start = rma_wtime();
        t[0] = m->run(n);
        t[1] = rma_wtime() - start;
    }
    all_max(t, 2, wait);
    *wall = t[1];
    return t[0];
}

/* Iterations that fill spec->budget. The fastest of several tries counts: a page fault or another process may have
 * disturbed the others. */
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

/* The smallest of many: a disturbance of one reading must not be subtracted from others. */
double bench_clock_cost(void) {
    double least = 1;
    for (int i = 0; i < 10000; i++) {
        double start = rma_wtime(), cost = rma_wtime() - start;
        if (cost < least) least = cost;
    }
    return least;
}

static bool more_is_better(void) { return spec->value == BENCH_MBPS || spec->value == BENCH_RATE; }

/* The ratio of columns in one round, where v[i * stride] is column i's value; NAN if a value is missing. */
static double ratio(const struct bench_ratio *r, const double *v, long stride) {
    double under = NAN;
    for (int i = 0; i < 2; i++) {
        if (r->under[i] < 0) continue;
        double x = v[r->under[i] * stride];
        if (isnan(under) || (more_is_better() ? x > under : x < under)) under = x;
    }
    return v[r->over * stride] / under;
}

/* Rows. */

/* "MPICH 4.0.2" of "MPICH Version:\t4.0.2\nMPICH Release date: ...", "Open MPI v4.1.4" of "Open MPI v4.1.4, package:
 * ...". */
static const char *mpi_name(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;
    BENCH_MPI(MPI_Get_library_version(text, &len));
    text[strcspn(text, ",\n")] = '\0';
    char *word = strstr(text, " Version:"), *number = word ? word + strcspn(word, "\t") : NULL;
    if (number && *number) {
        *word = ' ';
        memmove(word + 1, number + 1, strlen(number));
    }
    return text;
}

/* The methods of the next row. The first row of a program begins its output. */
static void begin_row(void) {
    static const int decimals[] = {5, 2, 2, 2, 4};
    static const char *titles[2 * BENCH_COLUMNS_MAX];
    static bool begun;
    for (n_methods = 0; spec->methods[n_methods].name; n_methods++) {
        assert(n_methods < BENCH_COLUMNS_MAX && "there is room for all columns");
        methods[n_methods] = spec->methods[n_methods];
    }
    for (n_ratios = 0; spec->ratios && spec->ratios[n_ratios].name; n_ratios++)
        assert(n_ratios < BENCH_COLUMNS_MAX && "there is room for all ratios");
    if (bench.pe != 0 || begun) return;
    begun = true;
    for (int i = 0; i < n_methods; i++) titles[i] = methods[i].name;
    for (int i = 0; i < n_ratios; i++) titles[n_methods + i] = spec->ratios[i].name;
    bench_output_head(&(struct bench_head){
        .command = command,
        .title = spec->title,
        .note = note(),
        .version = rma_version(),
        .mpi = mpi_name(),
        .first = spec->first          ? spec->first
                 : spec->max_size > 0 ? "Size"
                                      : "PEs",
        .named = spec->first,
        .decimals = decimals[spec->value],
        .repeat = bench.repeat,
        .validated = bench.validate,
        .n_columns = n_methods,
        .n_ratios = n_ratios,
        .columns = titles,
        .ratios = titles + n_methods,
    });
}

/* n doubles, all NAN. */
static double *doubles(long n) {
    double *v = calloc((size_t)n + 1, sizeof *v);
    if (!v) bench_fail("calloc", MPI_ERR_NO_MEM);
    for (long i = 0; i < n; i++) v[i] = NAN;
    return v;
}

static void warm_up(const struct bench_method *m, long n) {
    double wall;
    long warmup = bench.warmup >= 0 ? bench.warmup : n / 10 + 1;
    if (warmup > 0) batch(m, warmup, &wall);
}

/* Iterations of a batch; 0: no PE's operations go through the dynamic window, as --way says, but by messages. */
static long prepare(const struct bench_method *m) {
    struct rma_stats stats;
    double wall;
    long n = bench.iterations > 0 ? bench.iterations : calibrate(m);
    if (bench.way == BENCH_DYNAMIC && !m->mpi) {
        BENCH_RMA(rma_stats_reset());
        batch(m, n, &wall);
        BENCH_RMA(rma_stats(&stats));
        if (!bench_agree(stats.path[RMA_PATH_WINDOW].puts > 0 || stats.path[RMA_PATH_WINDOW].gets > 0)) return 0;
    }
    warm_up(m, n);
    return n;
}

/* Runs the methods' batches in turn: v[i * repeat + round] is method i's value in that round, if it has one. */
static void measure(double *v) {
    long n[BENCH_COLUMNS_MAX] = {0};
    double wall, unit = spec->value == BENCH_NS ? 1e9 : 1e6;
    for (int i = 0; i < n_methods; i++) {
        if (methods[i].run) n[i] = prepare(&methods[i]);
    }
    double transfers = (double)bench.window * (double)bench.streams;
    for (long round = 0; round < bench.repeat; round++)
        for (int i = 0; i < n_methods; i++) {
            if (n[i] == 0) continue;
            double time = batch(&methods[i], n[i], &wall) / (double)n[i] * unit;
            if (time < 1e-15 * unit) time = 1e-15 * unit; /* the clock's resolution: prevents infinite values */
            v[i * bench.repeat + round] = spec->value == BENCH_MBPS   ? transfers * (double)bench.size / time
                                          : spec->value == BENCH_RATE ? transfers / time
                                                                      : time;
        }
}

static bool check_all(void) {
    double wrong = 0;
    for (int i = 0; i < n_methods; i++) {
        if (!methods[i].run || !methods[i].check) continue;
        wrong += (double)methods[i].check(&methods[i]);
    }
    all_max(&wrong, 1, way(NULL));
    if (wrong > 0) bench.failed = true;
    return wrong == 0;
}

void bench_row(const char *name) {
    long repeat = bench.repeat;
    struct bench_summary of[2 * BENCH_COLUMNS_MAX];
    begin_row();
    for (int i = 0; spec->rows && i < n_methods; i++) methods[i].run = spec->rows[bench.row].run[i];
    if (spec->before) spec->before(methods);
    for (int i = 0; i < n_methods; i++)
        if (methods[i].bare && !bench.on_node) methods[i].run = NULL;
    double *v = doubles(n_methods * repeat), *rounds = doubles(repeat);
    measure(v);
    for (int i = 0; i < n_ratios; i++) {
        for (long k = 0; k < repeat; k++) rounds[k] = ratio(&spec->ratios[i], v + k, repeat);
        of[n_methods + i] = bench_summarize(rounds, isnan(rounds[0]) ? 0 : (int)repeat);
    }
    for (int i = 0; i < n_methods; i++) of[i] = bench_summarize(v + i * repeat, isnan(v[i * repeat]) ? 0 : (int)repeat);
    bool good = !bench.validate || check_all();
    if (bench.pe == 0) bench_output_row(name, of, good);
    free(v);
    free(rounds);
}

void bench_row_of(const char *name, const double *values, bool good) {
    struct bench_summary of[2 * BENCH_COLUMNS_MAX];
    begin_row();
    for (int i = 0; i < n_methods + n_ratios; i++) {
        double value = i < n_methods ? values[i] : ratio(&spec->ratios[i - n_methods], values, 1);
        of[i] = bench_summarize(&value, isnan(value) ? 0 : 1);
    }
    if (bench.pe == 0) bench_output_row(name, of, good);
}

static void sizes(void) {
    char name[24];
    bench.size = bench.sizes.min;
    do {
        snprintf(name, sizeof name, "%zu", spec->max_size > 0 ? bench.size : (size_t)bench.n_pes);
        bench_row(name);
        bench.size *= 2;
    } while (bench.size <= bench.sizes.max);
}

int bench_main(int argc, char **argv, const struct bench_spec *s) {
    bench_init(argc, argv, s);
    if (spec->begin) spec->begin();
    if (!spec->rows) sizes();
    for (const struct bench_row *r = spec->rows; r && r->name; r++) {
        bench.row = (int)(r - spec->rows);
        if (bench.only < 0 || bench.only == bench.row) bench_row(r->name);
    }
    if (spec->end) spec->end();
    return bench_finish();
}
