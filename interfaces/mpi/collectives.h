/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective calls of MPI that librma does within a node. They are barriers, and broadcasts, reductions and gathers
 * of short data, on communicators of all processes, in jobs of one node whose processes do not let several threads into
 * MPI at once. There they take a quarter of MPI's time, and with more processes than processors a tenth, because a
 * process sleeps until those have come for which it waits. Meanwhile it drives MPI's progress: others may wait for its
 * messages.
 *
 * All processes of a communicator have to decide alike. So the decision depends only on what MPI requires to be the
 * same in all of them: the communicator, the number of bytes, a predefined datatype and operation. */
#ifndef RMAI_MPI_COLLECTIVES_H
#define RMAI_MPI_COLLECTIVES_H

#include <mpi.h>
#include <stdint.h>

/* rmai_collectives_open makes librma's team for them; rmai_collectives_close ends its use. All processes of the job
 * call them together. Returns an enum rma_error. */
int rmai_collectives_open(void);
void rmai_collectives_close(void);

/* For the calls of this folder that are collective themselves: a barrier, and a reduction of 64-bit numbers by
 * MPI_BAND or MPI_SUM. Return 0, with nothing done, if collectives of comm are MPI's. */
int rmai_collectives_barrier(const char *call, MPI_Comm comm);
int rmai_collectives_reduce(const char *call, MPI_Comm comm, const uint64_t *mine, uint64_t *all, int n, MPI_Op op);

#endif
