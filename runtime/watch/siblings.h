/* SPDX-License-Identifier: BSD-3-Clause */
/* The other PEs of this host, found without MPI and without shared memory. It is for times when the job is not set up
 * yet, or waits inside MPI. A sibling is a process whose environment has a rank, and whose nearest ancestor without
 * one, the launcher's process on this host, is also this process's. */
#ifndef RMAI_SIBLINGS_H
#define RMAI_SIBLINGS_H

#include <stddef.h>

/* rmai_siblings_prepare reads the environment; a thread of the program calls it before all other functions here. */
void rmai_siblings_prepare(void);

/* rmai_sibling_me returns the rank that the launcher has given this process, or -1. */
int rmai_sibling_me(void);

/* rmai_siblings_stopped writes which PEs of this host are stopped; returns their number. */
int rmai_siblings_stopped(char *text, size_t room);

/* rmai_siblings_dead writes which PEs of this host have died; returns their number. A PE is dead if no process has had
 * its rank for at least RMAI_SIBLING_DEATH seconds, although an earlier call found one, or the launcher says that it
 * has started one. So it takes two calls to find a dead PE. It never takes a PE in another container, or of a launcher
 * whose process cannot be seen, for dead. One thread at a time may call it. */
#define RMAI_SIBLING_DEATH 1.0
int rmai_siblings_dead(char *text, size_t room);

/* rmai_sibling_without returns the rank of a PE of this host of which no process has a file in its memory whose path
 * contains `name`, and writes one of the PE's processes to *pid; -1 if there is none. A process that may not be looked
 * into, or that hangs in the kernel, counts as one that has the file. One thread at a time may call it. */
int rmai_sibling_without(const char *name, int *pid);

/* rmai_siblings_abort asks the launcher to end the job with this exit code, if it has a connection that takes text (the
 * first version of PMI, which MPICH's launcher and srun --mpi=pmi2 understand). It is for a process in which a thread
 * waits inside MPI: MPI_Abort might wait for that call. */
void rmai_siblings_abort(int code);

#endif
