/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RMAI_STATS_H
#define RMAI_STATS_H

struct rmai_world;

/* rmai_report shows, with RMA_HEAP_CHECK=leaks or full, what was not given back and what was overrun, on stderr. Called
 * when all PEs have met for the last time. */
void rmai_report(struct rmai_world *w);

#endif
