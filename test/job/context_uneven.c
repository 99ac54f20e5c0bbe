/* SPDX-License-Identifier: BSD-3-Clause */
/* test/job/context.c with nodes whose PEs are not an arithmetic progression, as some launchers place them: 0 1 3 | 2 4.
 *
 * No option of MPICH or Open MPI simulates such nodes on one machine. So this program intercepts MPI: the library asks
 * which processes share memory, and gets fewer of them. */
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
