/* SPDX-License-Identifier: BSD-3-Clause */
/* Each host has a clock of its own. At both ends of a recording PE 0 compares its clock with those of the other nodes,
 * by exchanges of which the fastest counts (D. Mills, RFC 5905, section 8, does so for hosts on the Internet): the
 * other clock was read between the times at which PE 0 asked and was answered. */
#ifndef TRACE_CLOCKS_H
#define TRACE_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* In the symmetric heap, filled with zeros on all PEs. */
struct trace_exchange {
    uint64_t ask, answer, done;
    int64_t ns;           /* the answering PE's time */
    int64_t ahead, error; /* as in struct trace_clock */
    int64_t own[3];       /* node (struct trace_job), ahead, error; of all PEs: all[PE] */
    int64_t all[][3];
};

/* trace_clocks_room: the length of a struct trace_exchange. trace_clocks_compare writes the result into each PE's part.
 * Collective. On one node it does nothing that the library's counters count. */
size_t trace_clocks_room(void);
void trace_clocks_compare(struct trace_exchange *x);

#endif
