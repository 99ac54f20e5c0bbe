/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for the places of a record: file and line, if the program was compiled with -g and addr2line (binutils) is
 * installed, else an offset in the program. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include "trace/read.h"

void trace_names(struct trace_record *r);

#endif
