/* SPDX-License-Identifier: BSD-3-Clause */
/* Covers this PE's memory by MPI's windows, in rma_init and as the heaps grow. */
#ifndef RMAI_WINDOW_MEMORY_H
#define RMAI_WINDOW_MEMORY_H

struct rmai_world;

/* rmai_window_memory_open makes MPI's windows. rmai_window_memory_choose finds out what to use them for, and attaches
 * this PE's memory to the dynamic one; other PEs may already access this one's memory. rma_init calls both, on all PEs
 * (collective). Return RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI. */
int rmai_window_memory_open(struct rmai_world *w);
int rmai_window_memory_choose(struct rmai_world *w);

/* rmai_window_memory_globals attaches global variables that have become symmetric after rma_init. All PEs agree on that
 * before, and nothing is under way. */
void rmai_window_memory_globals(struct rmai_world *w);

/* rmai_window_memory_symmetric follows a growth of the symmetric heap of all PEs (collective). It replaces the fixed
 * window if the window is of use and does not cover a good part of the heap. All PEs must have met just before: while
 * they replace the window they wait in MPI, and none can answer another. Returns RMA_SUCCESS or RMA_ERR_MPI; one PE
 * alone may get the error. */
int rmai_window_memory_symmetric(struct rmai_world *w, const char *call);

/* 1 while this thread makes a window in rmai_window_memory_open or rmai_window_memory_symmetric. */
extern _Thread_local int rmai_making_window;

/* rmai_window_memory_grown is called when all PEs have met after rmai_window_memory_symmetric, so each has attached its
 * part. */
void rmai_window_memory_grown(struct rmai_world *w);

/* rmai_window_memory_local follows a growth of this PE's own pool, before other PEs learn of it.
 * rmai_window_memory_guests follows a growth of the part in which other PEs allocate. Any thread may call them. */
void rmai_window_memory_local(struct rmai_world *w);
void rmai_window_memory_guests(struct rmai_world *w);

#endif
