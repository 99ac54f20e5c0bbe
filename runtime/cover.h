/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's windows cover this PE's memory: they are made in rma_init, and follow what grows. */
#ifndef RMAI_COVER_H
#define RMAI_COVER_H

struct rmai_world;

/* rmai_cover_open makes MPI's windows. rmai_cover_choose, when other PEs may access this one's memory, finds out what
 * they are good for, and attaches what this PE has to the dynamic one (rma_init, both collective). Return RMA_SUCCESS,
 * RMA_ERR_NO_MEM or RMA_ERR_MPI. */
int rmai_cover_open(struct rmai_world *w);
int rmai_cover_choose(struct rmai_world *w);

/* rmai_cover_symmetric follows a growth of the symmetric heap of all PEs (collective). The fixed window is made anew,
 * where it is of use and a good part of the heap lies outside of it. All PEs have met just before: while the window is
 * away none may need an answer from another one, which would wait in MPI. Returns RMA_SUCCESS or RMA_ERR_MPI, which may
 * be on one PE alone. */
int rmai_cover_symmetric(struct rmai_world *w, const char *call);

/* rmai_cover_grown: all PEs have met after rmai_cover_symmetric, so each has attached its part. */
void rmai_cover_grown(struct rmai_world *w);

/* rmai_cover_local follows a growth of this PE's own pool, before others learn of it. rmai_cover_guests: of the part in
 * which others allocate. Any thread. */
void rmai_cover_local(struct rmai_world *w);
void rmai_cover_guests(struct rmai_world *w);

#endif
