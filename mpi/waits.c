/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI in which a program waits while others access its windows. MPI's own calls poll only for MPI's messages.
 * Requests of librma would wait until the progress thread wakes, on a processor that the waiting thread keeps busy. So
 * if a window has processes of several nodes, these calls alternately test for MPI's event and drive librma's progress.
 *
 * A barrier must be the same call in all processes: it depends on the communicator, whose processes have all made a
 * window there or none. Point-to-point calls match whatever the other process calls. */
#include "config.h"

#include "mpi/family.h"
#include "mpi/state.h"

/* 1 if a process of another node may access a window of this process. */
static int may_be_asked(void) { return rmai_win_families_far && rmai_win_running; }

RMAI_MPI_API int MPI_Barrier(MPI_Comm comm) {
    MPI_Request request;
    int code;
    if (comm == MPI_COMM_NULL || !rmai_win_family_serves(comm)) return PMPI_Barrier(comm);
    code = PMPI_Ibarrier(comm, &request);
    return code == MPI_SUCCESS ? rmai_win_await(&request, MPI_STATUS_IGNORE) : code;
}

RMAI_MPI_API int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    return may_be_asked() ? rmai_win_await(request, status) : PMPI_Wait(request, status);
}

RMAI_MPI_API int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses) {
    int done = 0, polls = 0, code = MPI_SUCCESS;
    if (!may_be_asked()) return PMPI_Waitall(n, requests, statuses);
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Testall(n, requests, &done, statuses);
        if (!done) rmai_win_serve(&polls);
    }
    return code;
}

RMAI_MPI_API int MPI_Recv(void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                          MPI_Status *status) {
    MPI_Request request;
    int code;
    if (!may_be_asked() || from == MPI_PROC_NULL) return PMPI_Recv(buffer, n, type, from, tag, comm, status);
    code = PMPI_Irecv(buffer, n, type, from, tag, comm, &request);
    return code == MPI_SUCCESS ? rmai_win_await(&request, status) : code;
}

RMAI_MPI_API int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    int found = 0, polls = 0, code = MPI_SUCCESS;
    if (!may_be_asked()) return PMPI_Probe(from, tag, comm, status);
    while (code == MPI_SUCCESS && !found) {
        code = PMPI_Iprobe(from, tag, comm, &found, status);
        if (!found) rmai_win_serve(&polls);
    }
    return code;
}
