/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c: rows to up to two places: the standard output, and the file of --csv.
 *
 * A table and CSV have a line for each row, with the medians; with --stats they have one for each row and column. Each
 * line is flushed, so that a reader of a long job's output sees its progress. */
#include "output.h"

#include <assert.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STATISTICS 5 /* of a summary: min, median, p99, low, high */

enum format { TABLE, CSV, N_FORMATS };

static struct bench_output_option csv;
static bool stats;

const struct bench_option bench_output_options[] = {
    {"csv", 0, BENCH_OUTPUT, &csv, 0, 0, "FILE",
     "a header line and comma-separated rows, no value: empty; with =FILE there, besides the table"},
    {"stats", 's', BENCH_FLAG, &stats, 0, 0, NULL,
     "minimum, median, 99th percentile and 95 % interval, a line for each column"},
    {0},
};

static FILE *to[N_FORMATS]; /* null: not wanted */
static struct bench_head head;
static char date[24];
static bool bad; /* something could not be written */

/* Places. */

const char *bench_output_refused(void) {
    static char text[BENCH_ERROR_SIZE];
    to[TABLE] = csv.asked && !csv.file ? NULL : stdout;
    to[CSV] = !csv.asked ? NULL : csv.file ? fopen(csv.file, "w") : stdout;
    if (!csv.asked || to[CSV]) return NULL;
    snprintf(text, sizeof text, "option --csv: '%.128s' cannot be written", csv.file);
    return text;
}

static void flushed(FILE *f) {
    if (fflush(f) != 0 || ferror(f)) bad = true;
}

/* Numbers. */

static double statistic(const struct bench_summary *s, int i) {
    const double of[STATISTICS] = {s->min, s->median, s->p99, s->low, s->high};
    return of[i];
}

static int decimals(int column) { return column < head.n_columns ? head.decimals : 3; }

static const char *title(int column) {
    return column < head.n_columns ? head.columns[column] : head.ratios[column - head.n_columns];
}

/* Lines of the table, whose columns are padded, and of CSV. No title or name has a comma or a quote. */

static int width(const char *of) { return strlen(of) > 10 ? (int)strlen(of) : 10; }

/* Names of rows are longer than sizes. */
static int name_width(void) { return head.named ? 16 : 10; }

static int title_width(void) {
    int most = 0;
    for (int i = 0; i < head.n_columns + head.n_ratios; i++)
        if (width(title(i)) > most) most = width(title(i));
    return most;
}

/* The first cell of a line, left-aligned in the table; and further ones, right-aligned unless columns < 0. */
static void first(enum format k, int columns, const char *text) {
    fprintf(to[k], "%-*s", k == CSV ? 0 : columns, text);
}

static void further(enum format k, int columns, const char *text) {
    fprintf(to[k], "%s%*s", k == CSV ? "," : "  ", k == CSV ? 0 : columns, text);
}

static void number(enum format k, int columns, double value, int digits) {
    char text[64];
    snprintf(text, sizeof text, "%.*f", digits, value);
    further(k, columns, !isnan(value) ? text : k == CSV ? "" : "-");
}

static void line_head(enum format k) {
    static const char *const titles[STATISTICS] = {"Min", "Median", "P99", "95% low", "95% high"};
    FILE *f = to[k];
    if (k == TABLE) {
        fprintf(f, "# librma %s (%s, %s, %s)\n# %s", head.title, head.version, head.mpi, date, head.note);
        if (head.repeat > 1) fprintf(f, "; medians of %ld batches, taken in turn", head.repeat);
        fprintf(f, "\n# ");
    }
    first(k, name_width() - 2, head.first);
    if (stats) further(k, -title_width(), "Column");
    for (int i = 0; stats && i < STATISTICS; i++) further(k, 10, titles[i]);
    for (int i = 0; !stats && i < head.n_columns + head.n_ratios; i++) further(k, width(title(i)), title(i));
    if (head.validated) further(k, 10, "Validation");
    fprintf(f, "\n");
}

/* With --stats a line for each column that has a value. */
static void line_row(enum format k, const char *name, const struct bench_summary *of, bool good) {
    const char *valid = good ? "Pass" : "Fail";
    if (!stats) first(k, name_width(), name);
    for (int i = 0; i < head.n_columns + head.n_ratios; i++) {
        if (!stats) {
            number(k, width(title(i)), of[i].median, decimals(i));
            continue;
        }
        if (of[i].n == 0) continue;
        first(k, name_width(), name);
        further(k, -title_width(), title(i));
        for (int n = 0; n < STATISTICS; n++) number(k, 10, statistic(&of[i], n), decimals(i));
        if (head.validated) further(k, 10, valid);
        fprintf(to[k], "\n");
    }
    if (!stats && head.validated) further(k, 10, valid);
    if (!stats) fprintf(to[k], "\n");
}

/* Notes. */

void bench_output_note(const char *format, ...) {
    va_list args;
    FILE *f = to[TABLE] ? to[TABLE] : stderr;
    va_start(args, format);
    if (to[TABLE])
        fprintf(f, "# note: ");
    else
        fprintf(f, "%s: note: ", head.command);
    vfprintf(f, format, args);
    fprintf(f, "\n");
    va_end(args);
}

/* All together. */

void bench_output_head(const struct bench_head *h) {
    time_t start = time(NULL);
    head = *h;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&start));
    if (to[TABLE]) line_head(TABLE);
    if (to[CSV]) line_head(CSV);
}

void bench_output_row(const char *name, const struct bench_summary *of, bool good) {
    if (to[TABLE]) line_row(TABLE, name, of, good);
    if (to[CSV]) line_row(CSV, name, of, good);
    for (int i = 0; i < N_FORMATS; i++)
        if (to[i]) flushed(to[i]);
}

bool bench_output_end(void) {
    for (int i = 0; i < N_FORMATS; i++) {
        if (!to[i]) continue;
        flushed(to[i]);
        if (to[i] != stdout && fclose(to[i]) != 0) bad = true;
        to[i] = NULL;
    }
    return !bad;
}
