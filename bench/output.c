/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c: rows to up to three places: the standard output, and the files of --csv and --json.
 *
 * A table and plain CSV have a line for each row, with the medians; with --stats they have one for each row and column.
 * JSON always has all. Each line is flushed, so that a reader of a long job's output sees its progress. */
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

enum format { TABLE, CSV, JSON, N_FORMATS };
enum { PROGRESS_AUTO, PROGRESS_YES, PROGRESS_NO };

static struct bench_output_option csv, json;
static bool stats;
static int progress = PROGRESS_AUTO;

const struct bench_option bench_output_options[] = {
    {"csv", 0, BENCH_OUTPUT, &csv, 0, 0, "FILE",
     "a header line and comma-separated rows, no value: empty; with =FILE there, besides the table"},
    {"json", 0, BENCH_OUTPUT, &json, 0, 0, "FILE",
     "an object with all statistics; with =FILE there, besides the table"},
    {"stats", 's', BENCH_FLAG, &stats, 0, 0, NULL,
     "minimum, median, 99th percentile and 95 % interval, a line for each column"},
    {"progress", 0, BENCH_WORD, &progress, 0, 0, "auto|yes|no",
     "how far a long run is, on stderr [auto: if that is a terminal]"},
    {0},
};

static FILE *to[N_FORMATS]; /* null: not wanted */
static struct bench_head head;
static bool begun; /* head is given */
static char date[24];
static long n_rows;
static bool bad; /* something could not be written */

/* Places. */

static FILE *place(const struct bench_output_option *o) {
    return !o->asked ? NULL : o->file ? fopen(o->file, "w") : stdout;
}

const char *bench_output_refused(void) {
    static char text[BENCH_ERROR_SIZE];
    const struct bench_output_option *of[N_FORMATS] = {[CSV] = &csv, [JSON] = &json};
    if (csv.asked && !csv.file && json.asked && !json.file)
        return "options --csv and --json: both to the standard output; give one of them a file, as --json=FILE";
    to[TABLE] = (csv.asked && !csv.file) || (json.asked && !json.file) ? NULL : stdout;
    for (int i = CSV; i < N_FORMATS; i++) {
        to[i] = place(of[i]);
        if (!of[i]->asked || to[i]) continue;
        snprintf(text, sizeof text, "option --%s: '%.128s' cannot be written", i == CSV ? "csv" : "json", of[i]->file);
        return text;
    }
    return NULL;
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

/* JSON. */

static void json_text(const char *text) {
    fputc('"', to[JSON]);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', to[JSON]);
        fputc(*text, to[JSON]);
    }
    fputc('"', to[JSON]);
}

static void json_member(const char *name, const char *text) {
    fprintf(to[JSON], "\"%s\": ", name);
    if (text)
        json_text(text);
    else
        fprintf(to[JSON], "null");
    fprintf(to[JSON], ", ");
}

static void json_number(const char *name, double value, const char *then) {
    if (isnan(value) || isinf(value))
        fprintf(to[JSON], "\"%s\": null%s", name, then);
    else
        fprintf(to[JSON], "\"%s\": %.9g%s", name, value, then);
}

static void json_head(void) {
    FILE *f = to[JSON];
    fprintf(f, "{");
    json_member("benchmark", head.program);
    json_member("version", head.version);
    json_member("date", date);
    json_member("mpi", head.mpi);
    json_member("processor", head.processor);
    json_member("title", head.title);
    json_member("note", head.note);
    json_member("unit", head.unit);
    json_member("better", head.more_is_better ? "more" : "less");
    json_member("placement", head.placement);
    fprintf(f, "\"pes\": %d, \"nodes\": %d, \"pairs\": %ld, \"repeat\": %ld,\n \"rows\": [", head.n_pes, head.n_nodes,
            head.pairs, head.repeat);
}

static void json_columns(const char *name, int first, int n, const struct bench_summary *of) {
    fprintf(to[JSON], ",\n   \"%s\": {", name);
    for (int i = first, some = 0; i < first + n; i++) {
        if (of[i].n == 0) continue;
        fprintf(to[JSON], "%s\n    ", some++ ? "," : "");
        json_text(title(i));
        fprintf(to[JSON], ": {");
        json_number("min", of[i].min, ", ");
        json_number("median", of[i].median, ", ");
        json_number("p99", of[i].p99, ", ");
        json_number("max", of[i].max, ", ");
        json_number("low", of[i].low, ", ");
        json_number("high", of[i].high, ", ");
        fprintf(to[JSON], "\"n\": %d}", of[i].n);
    }
    fprintf(to[JSON], "}");
}

/* A row has a member "size" or "pes", or "row" if rows have names. */
static void json_row(const char *name, const struct bench_summary *of, bool good) {
    FILE *f = to[JSON];
    fprintf(f, "%s\n  {", n_rows > 0 ? "," : "");
    if (head.named) {
        fprintf(f, "\"row\": ");
        json_text(name);
    } else {
        fprintf(f, "\"%s\": %s", strcmp(head.first, "Size") == 0 ? "size" : "pes", name);
    }
    json_columns("columns", 0, head.n_columns, of);
    json_columns("ratios", head.n_columns, head.n_ratios, of);
    fprintf(f, ",\n   \"valid\": %s}", !head.validated ? "null" : good ? "true" : "false");
}

/* Progress. */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double started; /* when the options were read */
static bool shown;     /* there is a line to wipe out */

/* The launcher forwards what a PE writes, so the launcher's standard error matters, if it can be found. The launcher is
 * an ancestor whose name begins with mpiexec or mpirun. Open MPI 5's launcher writes text without a newline to its
 * standard output, among the rows: so it does not count. */
static bool launcher_on_terminal(void) {
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
    return false;
#endif
    long pid = getppid();
    for (int generation = 0; generation < 16 && pid > 1; generation++) {
        char path[64], line[256] = "", target[64] = "";
        snprintf(path, sizeof path, "/proc/%ld/stat", pid);
        FILE *f = fopen(path, "r");
        if (!f) return false;
        const char *got = fgets(line, sizeof line, f);
        fclose(f);
        const char *name = got ? strchr(line, '(') : NULL, *after = got ? strrchr(line, ')') : NULL;
        if (!name || !after) return false;
        if (strncmp(name + 1, "mpiexec", 7) == 0 || strncmp(name + 1, "mpirun", 6) == 0) {
            snprintf(path, sizeof path, "/proc/%ld/fd/2", pid);
            ssize_t len = readlink(path, target, sizeof target - 1);
            return len > 0 && (strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0);
        }
        char state;
        if (sscanf(after + 1, " %c %ld", &state, &pid) != 2) return false;
    }
    return false;
}

static void wipe(void) {
    if (shown) fprintf(stderr, "\r\033[K");
    shown = false;
}

void bench_output_progress(const char *row, long done, long of) {
    static double last;
    static int wanted = -1;
    double time = now();
    if (started == 0) started = time;
    if (progress == PROGRESS_NO || time - started < 2 || time - last < 0.2) return;
    if (wanted < 0) wanted = progress == PROGRESS_YES || isatty(STDERR_FILENO) || launcher_on_terminal();
    if (!wanted) return;
    last = time;
    fprintf(stderr, "\r\033[K%s: %s %s, %ld %% of it, %.0f s", head.command, head.first, row,
            of > 0 ? 100 * done / of : 0, time - started);
    fflush(stderr);
    shown = true;
}

/* Notes. */

static double others = NAN;
static char notes[4][512];
static int n_notes;

void bench_output_others(double processors) { others = processors; }

void bench_output_note(const char *format, ...) {
    char *text = notes[n_notes];
    assert(n_notes < (int)(sizeof notes / sizeof *notes) && "each kind of note is given once");
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof *notes, format, args);
    va_end(args);
    n_notes++;
    wipe();
    if (to[TABLE])
        fprintf(to[TABLE], "# note: %s\n", text);
    else
        fprintf(stderr, "%s: note: %s\n", head.command, text);
}

static void json_end(void) {
    fprintf(to[JSON], "\n ],\n ");
    json_number("others", others, ", \"notes\": [");
    for (int i = 0; i < n_notes; i++) {
        fprintf(to[JSON], "%s\n  ", i > 0 ? "," : "");
        json_text(notes[i]);
    }
    fprintf(to[JSON], "\n ]}\n");
}

/* All together. */

void bench_output_head(const struct bench_head *h) {
    time_t start = time(NULL);
    head = *h;
    begun = true;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&start));
    if (started == 0) started = now();
    if (to[TABLE]) line_head(TABLE);
    if (to[CSV]) line_head(CSV);
    if (to[JSON]) json_head();
}

void bench_output_row(const char *name, const struct bench_summary *of, bool good) {
    wipe();
    if (to[TABLE]) line_row(TABLE, name, of, good);
    if (to[CSV]) line_row(CSV, name, of, good);
    if (to[JSON]) json_row(name, of, good);
    for (int i = 0; i < N_FORMATS; i++)
        if (to[i]) flushed(to[i]);
    n_rows++;
}

bool bench_output_end(void) {
    wipe();
    if (to[JSON] && begun) json_end();
    for (int i = 0; i < N_FORMATS; i++) {
        if (!to[i]) continue;
        flushed(to[i]);
        if (to[i] != stdout && fclose(to[i]) != 0) bad = true;
        to[i] = NULL;
    }
    return !bad;
}
