/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables that the inlined calls read: rma_reach_, and a line for each context (rma_inline.h). Between rma_init
 * and rma_finalize only the heap's size and complete change. */
#ifndef RMAI_REACH_H
#define RMAI_REACH_H

#include "base/attributes.h"
#include "rma.h"

#define RMAI_CONTEXTS 4096 /* that one PE has at a time, including the default context */

/* The first line is that of the default context. A line without a context is zero: an inlined call that finds it by a
 * wrong handle calls the library. */
extern struct rma_context_ rmai_context_lines[RMAI_CONTEXTS];

/* rmai_reach_open lets the inlined calls work with *r from now on. rmai_reach_close makes them fail from now on.
 * rmai_reach_grown gives them `size` bytes of symmetric heap; threads that are in such a call see the old size or the
 * new one. */
void rmai_reach_open(const struct rma_reach_ *r);
void rmai_reach_close(void);

/* rmai_reach_ended notes that the library was in use before it was closed: errors then say that rma_finalize was
 * called, not that rma_init is missing. */
void rmai_reach_ended(void);

void rmai_reach_grown(size_t size);

/* rmai_reach_alone sets the field `alone`, before the program runs. */
void rmai_reach_alone(uint32_t *lock);

/* rmai_running: RMA_SUCCESS, or records RMA_ERR_STATE for `call` and returns it. */
int rmai_not_running_(const char *call);
static inline int rmai_running(const char *call) {
    return RMAI_LIKELY(rma_reach_.running) ? RMA_SUCCESS : rmai_not_running_(call);
}

#endif
