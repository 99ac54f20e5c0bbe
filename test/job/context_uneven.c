/* SPDX-License-Identifier: BSD-3-Clause */
/* test/job/context.c where the PEs of a node are no arithmetic progression, as some launchers place them: 0 1 3 | 2 4.
 *
 * No switch of MPICH or Open MPI makes such nodes of one machine. So MPI's own tool interface does: the library asks
 * for the processes that share memory, and is told of fewer. */
#include "job.h"

#include <mpi.h>

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part) {
    MPI_Comm machine;
    int rank, code = PMPI_Comm_split_type(comm, type, key, info, &machine);
    if (code != MPI_SUCCESS) return code;
    PMPI_Comm_rank(comm, &rank);
    code = PMPI_Comm_split(machine, rank == 2 || rank == 4, key, part);
    PMPI_Comm_free(&machine);
    return code;
}

#include "context.c"
