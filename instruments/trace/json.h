/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_JSON_H
#define TRACE_JSON_H

#include <stdio.h>

#include "instruments/trace/read.h"

/* trace_json writes the timeline in Trace Event Format, with the longest events if there are too many for a viewer.
 * Returns how many it has left out. trace_json_text writes a string as JSON has it, and safe inside of HTML. */
uint64_t trace_json(const struct trace_record *r, FILE *f);
void trace_json_text(FILE *f, const char *text);

#endif
