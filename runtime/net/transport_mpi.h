/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI as a transport between nodes.
 *
 *   messages   short ones and long data; on a communicator of their own
 *   windows    a fixed one over the first part of each PE's symmetric heap, and a dynamic one; each in one epoch from
 *              its creation to its end
 *
 * One communicator and two windows, whatever the job does. MPI RMA calls may stand nowhere else. Nothing here waits
 * unless it says so. */
#ifndef RMAI_TRANSPORT_MPI_H
#define RMAI_TRANSPORT_MPI_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/job/pairs.h"
#include "runtime/net/transport.h"

struct rmai_transport_mpi {
    struct rmai_transport transport; /* first: its operations get this struct */
    MPI_Comm messages;               /* MPI_COMM_NULL in jobs of one node */
    MPI_Win window[RMAI_WINDOWS];    /* or MPI_WIN_NULL */
    MPI_Info hints;                  /* with which both are made */
    int in_epoch[RMAI_WINDOWS];      /* the window is locked */
    char *fixed_base;
    _Atomic int attached, attached_most; /* regions of the dynamic window: now, and at most */
};

/* rmai_transport_mpi_none: the state of a job of one node, in which rmai_transport_mpi_close does nothing. */
void rmai_transport_mpi_none(struct rmai_transport_mpi *m);

/* rmai_transport_mpi_open sets up the messages, and tells leaders who they are: *n_nodes leaders, of which this one is
 * number *my_node, and number i is PE (*leaders)[i]; the caller frees *leaders; and the pairs of nodes (one_host: all
 * PEs are on the same host and machine, by rmai_process_host). On other PEs it leaves the four as they are (collective
 * over MPI_COMM_WORLD). Returns RMA_SUCCESS, RMA_ERR_NO_MEM or
 * RMA_ERR_MPI; it may fail on one PE alone, which then meets the others in what takes all PEs.
 * rmai_transport_mpi_close frees what open made, all of it or a part: collective, with no message under way. Returns
 * RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_transport_mpi_open(struct rmai_transport_mpi *m, int is_leader, int one_host, int *n_nodes, int *my_node,
                            int **leaders, struct rmai_pair pairs[RMAI_PAIR_KINDS]);
int rmai_transport_mpi_close(struct rmai_transport_mpi *m);

/* rmai_transport_mpi_machine_id: a number that PEs on one machine have alike, in whatever container they are, and those
 * on others have not. rmai_transport_mpi_machine: *n is how many PEs of the job run on the machine that this PE runs
 * on, whatever nodes they are on, and the n_bits words of `bits` become the union of theirs (collective over
 * MPI_COMM_WORLD). one_machine: all PEs have the same number. Returns RMA_SUCCESS or RMA_ERR_MPI. */
unsigned rmai_transport_mpi_machine_id(void);
int rmai_transport_mpi_machine(int one_machine, uint64_t *bits, int n_bits, int *n);

#endif
