/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to the user, each a line on stderr that begins with "rma_trace: ". */
#ifndef TRACE_SAY_H
#define TRACE_SAY_H

void trace_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
