/* SPDX-License-Identifier: BSD-3-Clause */
/* The reports that rma_finalize prints. */
#ifndef RMAI_STATS_H
#define RMAI_STATS_H

struct rmai_world;

/* rmai_traffic_report shows, with RMA_STATS=yes, the sums over all PEs on PE 0's stderr (collective). */
void rmai_traffic_report(struct rmai_world *w);

/* rmai_report prints to stderr, with RMA_HEAP_CHECK=leaks or full, the blocks that were not freed and those that were
 * overrun. It is called when all PEs have met for the last time. */
void rmai_report(struct rmai_world *w);

#endif
