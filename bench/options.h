/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h: command-line options of a benchmark, from tables.
 *
 * Understands -i 10, -i10, --iterations 10 and --iterations=10. Sizes take the suffixes k, M and G (powers of 1024) in
 * either case. It does not know PEs and prints no errors: the caller lets one PE print for all. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct bench_sizes {
    size_t min;
    size_t max;
};

struct bench_output_option {
    bool asked;
    const char *file; /* null: the standard output */
};

enum bench_kind {
    BENCH_FLAG,   /* value is a bool, set to true */
    BENCH_COUNT,  /* value is a long in min..max */
    BENCH_SIZES,  /* value is a struct bench_sizes within min..max, written [MIN:]MAX; MIN is then min */
    BENCH_OUTPUT, /* value is a struct bench_output_option; the file must be in the same word: --name or --name=FILE */
    BENCH_TEXT,   /* value is a const char * */
    BENCH_WORD    /* value is an int: the index of the given word in arg's list: "write|read" */
};

struct bench_option {
    const char *name;     /* long name, without dashes; null ends a table */
    char letter;          /* short name, or 0 */
    enum bench_kind kind; /* how to read the value */
    void *value;          /* where to store it */
    long min, max;        /* for BENCH_COUNT and BENCH_SIZES; min >= 0 */
    const char *arg;      /* how --help shows the value; null for flags */
    const char *help;     /* one line, with the default in brackets */
};

/* bench_options_read: store argv's values. A null table is empty. Returns 0, or -1 with a message in error that names
 * option and value; values read before stay. */
#define BENCH_ERROR_SIZE 256
int bench_options_read(const struct bench_option *const tables[], int n, int argc, char **argv,
                       char error[BENCH_ERROR_SIZE]);

/* bench_options_print: a line for each option, to stdout. */
void bench_options_print(const struct bench_option *const tables[], int n);

#endif
