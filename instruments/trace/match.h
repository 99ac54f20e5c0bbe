/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing the records of the PEs: who came last to each collective, and whose operation ended each wait. */
#ifndef TRACE_MATCH_H
#define TRACE_MATCH_H

#include "instruments/trace/read.h"

void trace_match(struct trace_record *r);

#endif
