/* SPDX-License-Identifier: BSD-3-Clause */
/* RMA_TRACE=FILE[,OPTION]...: what to record and where. rma_trace(1) is the manual. */
#ifndef TRACE_OPTIONS_H
#define TRACE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct trace_options {
    char file[3800]; /* absolute, without .json or .html */
    uint64_t limit;  /* bytes of events that each PE writes */
    int keep;        /* 1: the parts are kept although the report is complete */
};

/* trace_options_read: returns 1, 0 if the text is empty or "no", or -1 with the reason in why. */
int trace_options_read(struct trace_options *o, const char *text, char *why, size_t room);

/* trace_options_try creates the folder of the parts, and tries whether the report's files can be written. Returns 0, or
 * -1 with the reason in why. */
int trace_options_try(const struct trace_options *o, char *why, size_t room);

/* The names of the files. */
void trace_part_name(const char *file, int pe, char *name, size_t room);

#endif
