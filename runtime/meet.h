/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings of all PEs of the job: the PEs of each node meet by its barrier, and the first PEs of the nodes by messages.
 */
#ifndef RMAI_MEET_H
#define RMAI_MEET_H

struct rmai_world;

/* rmai_meet_only waits for every PE of the job. Every PE then sees what any PE wrote to shared memory before. Returns
 * RMA_SUCCESS or RMA_ERR_MPI. rmai_meet first completes what this PE has begun (rmai_quiet_default); it returns the
 * first error of the two steps. All PEs call both functions in the same order. */
int rmai_meet_only(struct rmai_world *w, const char *call);
int rmai_meet(struct rmai_world *w, const char *call);

/* rmai_meet_node waits for the PEs of this node, in the form in which they come to the calls above: so a PE in one of
 * those can tell that another PE is not. */
void rmai_meet_node(struct rmai_world *w, const char *call);

/* rmai_meeting_name writes the name of the last call in which the node's PE q has only met the others, such as a
 * barrier. For an error of `call` that finds it there. */
#define RMAI_MEETING_NAME 64
void rmai_meeting_name(const struct rmai_world *w, const char *call, int q, char name[RMAI_MEETING_NAME]);

/* rmai_meet_last is rmai_meet before the runtime ends. It ends the job, whatever the error handler, if another PE is in
 * another meeting, such as a barrier: with RMA_ERR_STATE if that PE is on this node, else with RMA_ERR_MISMATCH. */
int rmai_meet_last(struct rmai_world *w, const char *call);

#endif
