/* SPDX-License-Identifier: BSD-3-Clause */
/* Global variables become symmetric: a step of rma_init. They move into this PE's space, stay where they are for the
 * kernel to copy, or are not symmetric (job.statics_mode). A runtime that MPI's windows have started does this step
 * when the first other interface starts (job.statics_later). */
#ifndef RMAI_GLOBALS_H
#define RMAI_GLOBALS_H

struct rmai_world;

/* rmai_globals_room commits memory for the variables that move. It is followed by an agreement. */
int rmai_globals_room(struct rmai_world *w);

/* rmai_globals_open, rmai_globals_agree and rmai_globals_close are the functions of the step: all PEs call each of
 * them. */
int rmai_globals_open(struct rmai_world *w);
int rmai_globals_agree(struct rmai_world *w, int code);
int rmai_globals_close(struct rmai_world *w);

#endif
