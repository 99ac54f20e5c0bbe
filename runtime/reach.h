/* SPDX-License-Identifier: BSD-3-Clause */
/* What the inlined calls read of the library: rma_reach_, and a line for each context (rma_inline.h). Between rma_init
 * and rma_finalize only the heap's size and nothing_pending change. */
#ifndef RMAI_REACH_H
#define RMAI_REACH_H

#include "rma.h"

#define RMAI_CONTEXTS 4096 /* of one PE at a time, with the one that is always there */

/* The first line is of the standing context. Those of no context are zero: a handle leads from there to the library. */
extern struct rma_context_ rmai_context_lines[RMAI_CONTEXTS];

/* rmai_reach_open: the calls may be used from now on, and find what they need in *r. rmai_reach_close: they must not be
 * used any more. rmai_reach_grown: they see `size` bytes of symmetric heap; other threads may be in them, and see the
 * old size or the new one. */
void rmai_reach_open(const struct rma_reach_ *r);
void rmai_reach_close(void);
void rmai_reach_grown(size_t size);

/* rmai_running: RMA_SUCCESS, or records RMA_ERR_STATE for `call` and returns it. */
int rmai_running(const char *call);

#endif
