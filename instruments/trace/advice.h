/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader should know first. Each sentence is one line of plain text. */
#ifndef TRACE_ADVICE_H
#define TRACE_ADVICE_H

#include "instruments/trace/read.h"

#define TRACE_LINES 24
struct trace_lines {
    int n;
    char line[TRACE_LINES][400];
};

/* trace_summary: the job in about ten lines. trace_notes: what limits the record. trace_advice: what to change in the
 * program, if the record shows it. */
void trace_summary(const struct trace_record *r, struct trace_lines *lines);
void trace_notes(const struct trace_record *r, struct trace_lines *lines);
void trace_advice(const struct trace_record *r, struct trace_lines *lines);

#endif
