/* SPDX-License-Identifier: BSD-3-Clause */
/* Deadlocks: all PEs wait, each in a call that only another one of them could end. PE 0, which waits too, finds that by
 * a census: several times within RMA_STALL seconds it looks at the signs of all PEs (base/wait.h). The job ends if
 * three of them in a row show that
 *
 *   - each PE is in the same wait as before, and has checked since the last census, in vain, whether it is over,
 *   - nothing but a call of another PE can end that wait, and
 *   - nothing is under way from it.
 *
 * The waits then overlap: at the first census all PEs were in them. What a PE did before has arrived by the second, and
 * by the third each one has looked at it.
 *
 * A process with threads of its own, functions for signals or child processes could end a wait by a store. So there is
 * no deadlock where such a process takes part. Another process that writes to the job's memory is not taken into
 * account. */
#ifndef RMAI_DEADLOCK_H
#define RMAI_DEADLOCK_H

#include "runtime/watch/stall.h"

#define RMAI_CENSUS_PES 256 /* the most PEs of a job that PE 0 can look at */

/* rmai_note_threads_of_mpi is called when MPI has started, in a process that had no threads and functions for signals
 * before: those that it has now are MPI's. */
void rmai_note_threads_of_mpi(struct rmai_watch *w);

/* rmai_wait_is_stuck: 1 if the wait of this PE can be part of a deadlock. `patience`: RMA_STALL. The caller holds the
 * net's lock, if there is a net, here and in the calls below. */
int rmai_wait_is_stuck(struct rmai_watch *w, struct rmai_stall *s, double patience);

/* rmai_census_take looks at all PEs if a census is due, and ends the job in a deadlock. rmai_census_end is called at
 * the end of each wait that has lasted. Both do nothing if this is not PE 0. */
void rmai_census_take(struct rmai_watch *w, struct rmai_stall *s, double patience);
void rmai_census_end(struct rmai_watch *w);

#endif
