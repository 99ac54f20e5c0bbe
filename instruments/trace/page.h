/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include <stdio.h>

#include "instruments/trace/advice.h"
#include "instruments/trace/read.h"

/* trace_page writes the report as one HTML page: page.html with the record's numbers in it. */
void trace_page(const struct trace_record *r, const struct trace_lines *advice, const struct trace_lines *notes,
                FILE *f);

#endif
