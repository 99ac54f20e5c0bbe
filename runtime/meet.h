/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings of all PEs of the job: first those of each node, by its barrier, and between the nodes their first PEs. */
#ifndef RMAI_MEET_H
#define RMAI_MEET_H

struct rmai_world;

/* rmai_meet_only waits for every PE of the job. What any PE wrote to shared memory before is seen by all after. Returns
 * RMA_SUCCESS or RMA_ERR_MPI. rmai_meet is rmai_quiet_default before it: what this PE has begun is complete; or the
 * first error of that. Both: all PEs, in the same order. */
int rmai_meet_only(struct rmai_world *w, const char *call);
int rmai_meet(struct rmai_world *w, const char *call);

/* rmai_meet_last is rmai_meet before the runtime ends. It ends the job, whatever the error handler, if another PE has
 * come to another meeting, such as a barrier: with RMA_ERR_STATE if that PE is of this node, else RMA_ERR_MISMATCH. */
int rmai_meet_last(struct rmai_world *w, const char *call);

#endif
