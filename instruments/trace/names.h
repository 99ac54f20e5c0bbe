/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for the places of a record: file and line (base/lines.h), or an offset in the program. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include "instruments/trace/read.h"

void trace_names(struct trace_record *r);

#endif
