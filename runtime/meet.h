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

/* rmai_meet_last is rmai_meet before the runtime ends. Returns RMA_ERR_STATE if a PE of this node has come to another
 * meeting, such as a barrier, and RMA_ERR_MISMATCH, on both sides, if a PE of another node has. */
int rmai_meet_last(struct rmai_world *w, const char *call);

#endif
