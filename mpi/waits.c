/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI in which a program waits while others access its windows. MPI's own calls poll for MPI's messages only;
 * librma's would lie there until the progress thread wakes, on a processor that the waiting thread keeps busy. So where
 * windows have processes of several nodes, these calls test and drive progress in turn.
 *
 * A barrier must be the same call in all processes: it depends on the communicator, whose processes have all made a
 * window there or none. Point-to-point calls match whatever the other process calls. */
#include "config.h"

#include "mpi/family.h"
#include "mpi/state.h"

#include <sched.h>

#define POLLS 200 /* in vain, before the thread offers its processor */

#define TURNS 10 /* of progress for each test of MPI: a test takes longer, and what is awaited is one event of many */

/* Serves other nodes between two tests of MPI. */
static void serve(int *polls) {
    for (int i = 0; i < TURNS; i++) rma_progress();
    if (*polls < POLLS)
        ++*polls;
    else
        sched_yield();
}

RMAI_MPI_API int MPI_Barrier(MPI_Comm comm) {
    MPI_Request request;
    int code;
    if (comm == MPI_COMM_NULL || !rmai_win_family_serves(comm)) return PMPI_Barrier(comm);
    code = PMPI_Ibarrier(comm, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

RMAI_MPI_API int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    int done = 0, polls = 0, code = MPI_SUCCESS;
    if (!rmai_win_families_far || !rmai_win_running) return PMPI_Wait(request, status);
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Test(request, &done, status);
        if (!done) serve(&polls);
    }
    return code;
}

RMAI_MPI_API int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses) {
    int done = 0, polls = 0, code = MPI_SUCCESS;
    if (!rmai_win_families_far || !rmai_win_running) return PMPI_Waitall(n, requests, statuses);
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Testall(n, requests, &done, statuses);
        if (!done) serve(&polls);
    }
    return code;
}

RMAI_MPI_API int MPI_Recv(void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                          MPI_Status *status) {
    MPI_Request request;
    int code;
    if (!rmai_win_families_far || !rmai_win_running || from == MPI_PROC_NULL)
        return PMPI_Recv(buffer, n, type, from, tag, comm, status);
    code = PMPI_Irecv(buffer, n, type, from, tag, comm, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, status) : code;
}

RMAI_MPI_API int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    int found = 0, polls = 0, code = MPI_SUCCESS;
    if (!rmai_win_families_far || !rmai_win_running) return PMPI_Probe(from, tag, comm, status);
    while (code == MPI_SUCCESS && !found) {
        code = PMPI_Iprobe(from, tag, comm, &found, status);
        if (!found) serve(&polls);
    }
    return code;
}
