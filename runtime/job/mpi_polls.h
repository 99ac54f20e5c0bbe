/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets processes that wait in MPI's own calls sleep, in a job with more processes than processors.
 *
 * MPICH waits by polling for messages, and never gives its processor away. With more processes than processors a
 * process that has something to send often has to wait for a processor while others poll away their time slices, so
 * that a call costs milliseconds. This module makes those processes sleep.
 *
 * MPICH polls by ucp_worker_progress, and sends by a few other calls of UCX. libmpich calls them by name, and the
 * dynamic linker takes the first library that defines a name. So librma defines these calls: each calls that of libucp.
 * A process whose polls find nothing many times in a row sleeps on an event in memory that the processes of the node
 * share, and a process that sends a message wakes those that sleep. While MPI starts and ends there is no such memory,
 * and a process only yields its processor; so does one whose threads may be in MPI at the same time.
 *
 * It is for MPICH with UCX. In a process of another MPI, or if libmpich was loaded before librma and does not find
 * these functions, nothing changes. */
#ifndef RMAI_MPI_POLLS_H
#define RMAI_MPI_POLLS_H

#include "base/wait.h"

/* In memory that the processes of a node share; zero at first. */
struct rmai_mpi_bell {
    struct rmai_event rung;
    _Atomic uint32_t senders; /* those of the sleepers that wait for a long send to end */
};

/* The following are called while no other thread of this process is in MPI.
 *
 * rmai_mpi_polls_share: the processes of the node, which share `bell`, outnumber the processors by `more`. From now on
 * this process sleeps on it. threads: 1 if several threads may call MPI at the same time: it yields, since MPI's lock
 * is held during a poll, but it wakes others. rmai_mpi_polls_plain: from now on it polls as MPI does.
 * rmai_mpi_polls_guess: back to the state at the program's start: polls yield if the launcher has started more
 * processes on this node than it has processors. To be called before the bell's memory is unmapped. */
void rmai_mpi_polls_share(struct rmai_mpi_bell *bell, int more, int threads);
void rmai_mpi_polls_plain(void);
void rmai_mpi_polls_guess(void);

/* rmai_mpi_polls_sleep: 1 if this process sleeps when it waits in MPI, and MPI has polled through this module. */
int rmai_mpi_polls_sleep(void);

/* rmai_mpi_polls_listen and rmai_mpi_polls_heard enclose a call of MPI. The latter returns 1 if a poll has found
 * something in between, as far as this module knows. */
void rmai_mpi_polls_listen(void);
int rmai_mpi_polls_heard(void);

#endif
