/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's part file, and the thread that writes it while the program runs. */
#ifndef TRACE_PART_H
#define TRACE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/trace/format.h"

/* trace_part_open creates the file, with its head, and starts the thread. Returns 0, or errno. trace_part_clock appends
 * what the PE knows of its clock. */
int trace_part_open(const char *path, const struct trace_head *head);
void trace_part_clock(const struct trace_clock *clock);

/* trace_part_wake: a ring is half full. */
void trace_part_wake(void);

/* trace_part_close writes what is left, then `end`, whose counts of events it fills in, and ends the thread. */
void trace_part_close(struct trace_end *end);

#endif
