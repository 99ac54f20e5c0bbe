/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h: how rows are shown: as a table, as CSV, as JSON, and the line that says how far a long run is. For one PE,
 * which speaks for the job; local. */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include "options.h"
#include "statistics.h"

#include <stdbool.h>

/* --csv, --json, --stats, --progress: a table for bench_options_read. */
extern const struct bench_option bench_output_options[];

/* What all rows have in common. Strings are kept, not copied. */
struct bench_head {
    const char *program;                   /* as it was called, without folders */
    const char *command;                   /* as users call it: "rma_bench put_latency" */
    const char *title, *note;              /* of the table */
    const char *version, *mpi, *processor; /* what is measured, and on what */
    const char *first;                     /* title of the first column */
    bool named;                            /* whose values are words; otherwise numbers */
    const char *unit;                      /* of the columns, or null if each has its own */
    bool more_is_better;                   /* of the columns */
    int decimals;                          /* of the columns */
    long repeat;                           /* values behind each cell; 1: nothing is said of medians */
    bool validated;                        /* rows have been checked */
    int n_pes, n_nodes;
    long pairs;            /* 0: the program knows none */
    const char *placement; /* of the pairs, a word of --placement, or null */
    int n_columns, n_ratios;
    const char *const *columns; /* their titles, */
    const char *const *ratios;  /* and those of the ratios */
};

/* bench_output_refused: null, or why what the options say cannot be done: a file that cannot be written. Opens the
 * files. Before the first row. */
const char *bench_output_refused(void);

/* bench_output_head: begin. */
void bench_output_head(const struct bench_head *head);

/* bench_output_row: one row. of: a summary for each column, and then for each ratio; n 0: there is none. good counts if
 * rows are validated. */
void bench_output_row(const char *name, const struct bench_summary *of, bool good);

/* bench_output_progress: what is being done, a few words, on stderr: where that ends in a terminal, when the program
 * has been running for 2 seconds, and not more often than 5 times in a second. */
void bench_output_progress(const char *row, long done, long of);

/* bench_output_others: how many processors other processes used meanwhile; not a number: unknown. For JSON. */
void bench_output_others(double processors);

/* bench_output_note: something that whoever reads the rows must know, after the last row: below the table, in JSON, and
 * on stderr if there is no table. */
void bench_output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* bench_output_end: end. Returns whether all could be written. Before MPI_Finalize, also if there was no row. */
bool bench_output_end(void);

#endif
