/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI as a transport between nodes.
 *
 *   messages   short ones and long data; on a communicator of their own
 *   windows    a fixed one over the first part of each PE's symmetric heap, and a dynamic one; each in one epoch from
 *              its creation to its end
 *
 * One communicator and two windows, whatever the job does. No other file calls MPI's RMA functions. No function here
 * waits unless its description says so. */
#ifndef RMAI_TRANSPORT_MPI_H
#define RMAI_TRANSPORT_MPI_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/job/pairs.h"
#include "runtime/transport/transport.h"

struct rmai_transport_mpi {
    struct rmai_transport transport; /* first: its operations get this struct */
    MPI_Comm messages;               /* MPI_COMM_NULL in jobs of one node */
    MPI_Win window[RMAI_WINDOWS];    /* or MPI_WIN_NULL */
    MPI_Info hints;                  /* for making both windows */
    int in_epoch[RMAI_WINDOWS];      /* the window is locked */
    char *fixed_base;
    _Atomic int attached, attached_most; /* regions attached to the dynamic window: now, and at most so far */
};

/* rmai_transport_mpi_none sets the state of a job of one node, in which rmai_transport_mpi_close does nothing. */
void rmai_transport_mpi_none(struct rmai_transport_mpi *m);

/* rmai_transport_mpi_open sets up the messages (collective over MPI_COMM_WORLD). On a leader it also writes the number
 * of leaders to *n_nodes, this one's number to *my_node, the PE of each leader to *leaders, which the caller frees, and
 * the pairs of nodes (one_host: all PEs are on the same host and machine, by rmai_process_host). On other PEs it leaves
 * the four as they are. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI; it may fail on one PE alone, which still
 * takes part in its collective steps. rmai_transport_mpi_close frees what open made, all of it or a part: it is
 * collective, and no message is under way. Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_transport_mpi_open(struct rmai_transport_mpi *m, int is_leader, int one_host, int *n_nodes, int *my_node,
                            int **leaders, struct rmai_pair pairs[RMAI_PAIR_KINDS]);
int rmai_transport_mpi_close(struct rmai_transport_mpi *m);

/* rmai_transport_mpi_machine_id returns a number for this machine: the same in all its containers, and different on
 * other machines. rmai_transport_mpi_machine writes to *n how many PEs of the job run on this PE's machine, on whatever
 * nodes, and makes the n_bits words of `bits` the union of theirs (collective over MPI_COMM_WORLD). one_machine: all
 * PEs have the same machine number. Returns RMA_SUCCESS or RMA_ERR_MPI. */
unsigned rmai_transport_mpi_machine_id(void);
int rmai_transport_mpi_machine(int one_machine, uint64_t *bits, int n_bits, int *n);

#endif
