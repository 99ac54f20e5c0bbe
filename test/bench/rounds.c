/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.c: a benchmark with given times, on a machine as busy as --others says: tests the harness's notes below the
 * rows. test/check-bench.sh runs it. */
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long others;
static const double *times; /* of the row: three rounds of A, three of B */
static int calls[2];        /* in this row */

/* Linked with --wrap=fopen: as if other processes had used so many processors ever since. */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

FILE *__wrap_fopen(const char *path, const char *mode) {
    static char text[64];
    static double first = -1;
    if (strcmp(path, "/proc/stat") != 0) return __real_fopen(path, mode);
    double now = rma_wtime();
    if (first < 0) first = now;
    snprintf(text, sizeof text, "cpu %ld 0 0 0 0 0 0 0\n",
             (long)((now - first) * (double)others * (double)sysconf(_SC_CLK_TCK)));
    return fmemopen(text, strlen(text), mode);
}

static double run(int method) {
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    return 1e-6 * times[3 * method + calls[method]++];
}
static double run_a(long n) { return (double)n * run(0); }
static double run_b(long n) { return (double)n * run(1); }

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"others", 0, BENCH_COUNT, &others, 0, 1000, "N", "processors that other processes use [0]"},
        {0},
    };
    static const struct bench_method methods[] = {
        {.name = "A (us)", .run = run_a}, {.name = "B (us)", .run = run_b}, {0}};
    static const struct bench_ratio ratios[] = {{"A/B", 0, {1, -1}}, {0}};
    static const struct bench_spec spec = {.title = "given rounds",
                                           .help = "test",
                                           .note = "no note",
                                           .options = options,
                                           .methods = methods,
                                           .ratios = ratios,
                                           .first = "Row",
                                           .value = BENCH_US,
                                           .repeat = 3};
    static const struct {
        const char *name;
        double times[6];
    } rows[] = {{"even", {1, 2, 3, 1, 2, 3}}, {"odd", {1, 4, 16, 4, 16, 1}}};
    bench_init(argc, argv, &spec);
    for (int i = 0; i < 2; i++) {
        times = rows[i].times;
        calls[0] = calls[1] = 0;
        bench_row(rows[i].name);
    }
    return bench_finish();
}
