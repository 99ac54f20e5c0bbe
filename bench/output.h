/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h: how rows are shown: as a table and as CSV. For one PE, which prints for the job; local. */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include "options.h"
#include "statistics.h"

#include <stdbool.h>

/* --csv, --stats: a table for bench_options_read. */
extern const struct bench_option bench_output_options[];

/* What all rows have in common. Strings are not copied. */
struct bench_head {
    const char *command;       /* the command that users type: "rma_bench put_latency" */
    const char *title, *note;  /* of the table */
    const char *version, *mpi; /* librma's version, MPI's name and version */
    const char *first;         /* title of the first column */
    bool named;                /* its values are words, not numbers */
    int decimals;              /* of the columns */
    long repeat;               /* values of each cell; 1: medians are not mentioned */
    bool validated;            /* rows have been checked */
    int n_columns, n_ratios;
    const char *const *columns; /* their titles, */
    const char *const *ratios;  /* and those of the ratios */
};

/* bench_output_refused: open the files. Returns null, or why the options cannot be met: a file that cannot be written.
 * Call it before the first row. */
const char *bench_output_refused(void);

/* bench_output_head: begin. */
void bench_output_head(const struct bench_head *head);

/* bench_output_row: one row. of: a summary for each column, and then for each ratio; n 0: no value. good is used if
 * rows are validated. */
void bench_output_row(const char *name, const struct bench_summary *of, bool good);

/* bench_output_note: something that a reader of the rows must know. Call it after the last row; it is printed below the
 * table, and on stderr if there is no table. */
void bench_output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* bench_output_end: end. Returns whether everything could be written. Call it before MPI_Finalize, even if there was no
 * row. */
bool bench_output_end(void);

#endif
