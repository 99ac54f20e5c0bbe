/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that wait in MPI's own calls, in a job with more processes than processors.
 *
 * MPICH waits by polling for messages, and never gives its processor away. With more processes than processors a
 * process that has something to send often has no processor, while others use up their time slices with polls: a call
 * costs milliseconds. This module makes those processes sleep.
 *
 * MPICH polls by ucp_worker_progress, and sends by a few other calls of UCX. libmpich calls them by name, and the
 * dynamic linker takes the first library that defines a name. So librma defines these calls: each calls that of libucp.
 * A process whose polls find nothing many times in a row sleeps on an event in memory that the processes of the node
 * share, and a process that sends a message wakes those that sleep. MPI's own start and end have no such memory; there
 * a process yields its processor.
 *
 * It is for MPICH with UCX. In a process of another MPI, or if something keeps libmpich from finding these functions,
 * nothing changes. */
#ifndef RMAI_MPI_POLLS_H
#define RMAI_MPI_POLLS_H

#include "base/wait.h"

/* In memory that the processes of a node share; zero at first. */
struct rmai_mpi_bell {
    struct rmai_event rung;
    _Atomic uint32_t senders; /* those of the sleepers that wait for a long send to end */
};

/* The following are called between MPI's calls.
 *
 * rmai_mpi_polls_share: from now on this process sleeps on `bell`, like the other processes of its node. Only one
 * thread at a time may call MPI: it sleeps with MPI's lock.
 * rmai_mpi_polls_plain: from now on it polls as MPI does.
 * rmai_mpi_polls_guess: as at the program's start: polls yield if the launcher has started more processes on this node
 * than it has processors. To be called before the memory of the bell goes. */
void rmai_mpi_polls_share(struct rmai_mpi_bell *bell);
void rmai_mpi_polls_plain(void);
void rmai_mpi_polls_guess(void);

/* rmai_mpi_polls_sleep: 1 if this process sleeps when it waits in MPI. */
int rmai_mpi_polls_sleep(void);

#endif
