/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding out what the job is: MPI, the launcher, the settings, and which PEs share a node. Each function records the
 * error of rma_init that it returns; it may fail on one PE alone. */
#ifndef RMAI_LAUNCH_H
#define RMAI_LAUNCH_H

#include <mpi.h>

#include "runtime/job/job.h"

/* rmai_launch_mpi initializes MPI, unless the program has, and sets *owns_mpi to 1 if it did. It fills in my_pe, n_pes,
 * mpi_multiple and level. required: enum rma_thread_level; or RMAI_LEVEL_UNSAID: RMA_THREAD_SINGLE, or MPI's level if
 * the program has initialized MPI. Returns RMA_SUCCESS, RMA_ERR_STATE (MPI is finalized) or RMA_ERR_MPI. */
#define RMAI_LEVEL_UNSAID (-1)
int rmai_launch_mpi(struct rmai_job *job, int required, int *owns_mpi);

/* rmai_launch_facts reads the settings, and makes *node the communicator of the PEs of this machine that share memory
 * (collective over MPI_COMM_WORLD). Returns RMA_SUCCESS, RMA_ERR_LAUNCH, RMA_ERR_SETTING or RMA_ERR_MPI. */
int rmai_launch_facts(struct rmai_job *job, MPI_Comm *node);

/* rmai_launch_node splits *node by RMA_NODE_PES, and fills in the job's facts about the node and about how this PE is
 * bound (collective over *node). Returns RMA_SUCCESS, RMA_ERR_NO_MEM, RMA_ERR_SETTING, RMA_ERR_SYSTEM or RMA_ERR_MPI.
 */
int rmai_launch_node(struct rmai_job *job, MPI_Comm *node);

#endif
