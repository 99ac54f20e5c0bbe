/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI in which a program waits while others access its windows. MPI's own calls poll only for MPI's messages.
 * Requests of librma would wait until the progress thread wakes, on a processor that the waiting thread keeps busy. So
 * if a window has processes of several nodes, these calls alternately test for MPI's event and drive librma's progress.
 * They do so, too, if there are more processes than processors and MPI's polls do not sleep (runtime/job/mpi_polls.h).
 * Otherwise they are MPI's own, and the watchdog reports processes that are stopped or dead.
 *
 * All processes of a communicator must make the same collective call of MPI. So collective calls
 * (interfaces/mpi/collectives.c) decide by the communicator: either all of its processes have made a window on it, or
 * none. Point-to-point calls match in any case. */
#include "config.h"

#include "interfaces/mpi/comm.h"
#include "interfaces/mpi/state.h"

/* 1 if the program has windows with processes of other nodes, or if others need the processor that MPI's
 * polls would keep busy. */
static int must_test(void) { return rmai_win_comms_far && rmai_win_running; }

RMAI_MPI_API int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (!must_test()) RMAI_WIN_RETURN_MPI(PMPI_Wait(request, status));
    return rmai_win_await_free(__func__, request, status);
}

RMAI_MPI_API int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses) {
    struct rma_tests_ tests = {.call = __func__};
    int done = 0, code = MPI_SUCCESS;
    if (!must_test()) RMAI_WIN_RETURN_MPI(PMPI_Waitall(n, requests, statuses));
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Testall(n, requests, &done, statuses);
        if (!done) rma_tests_turn_(&tests);
    }
    rma_tests_over_(&tests);
    return code;
}

RMAI_MPI_API int MPI_Waitany(int n, MPI_Request *requests, int *index, MPI_Status *status) {
    struct rma_tests_ tests = {.call = __func__};
    int done = 0, code = MPI_SUCCESS;
    if (!must_test()) RMAI_WIN_RETURN_MPI(PMPI_Waitany(n, requests, index, status));
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Testany(n, requests, index, &done, status);
        if (!done) rma_tests_turn_(&tests);
    }
    rma_tests_over_(&tests);
    return code;
}

RMAI_MPI_API int MPI_Recv(void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                          MPI_Status *status) {
    MPI_Request request;
    int code;
    if (!must_test() || from == MPI_PROC_NULL) RMAI_WIN_RETURN_MPI(PMPI_Recv(buffer, n, type, from, tag, comm, status));
    code = PMPI_Irecv(buffer, n, type, from, tag, comm, &request);
    return code == MPI_SUCCESS ? rmai_win_await_free(__func__, &request, status) : code;
}

RMAI_MPI_API int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    struct rma_tests_ tests = {.call = __func__};
    int found = 0, code = MPI_SUCCESS;
    if (!must_test()) RMAI_WIN_RETURN_MPI(PMPI_Probe(from, tag, comm, status));
    while (code == MPI_SUCCESS && !found) {
        code = PMPI_Iprobe(from, tag, comm, &found, status);
        if (!found) rma_tests_turn_(&tests);
    }
    rma_tests_over_(&tests);
    return code;
}

/* The send is begun first: one that MPI refuses must not leave a receive behind that takes a message. From
 * MPI_PROC_NULL nothing is received, but only MPI_Recv writes the status for that (MPICH 4.0.2). */
RMAI_MPI_API int MPI_Sendrecv(const void *out, int n_out, MPI_Datatype out_type, int to, int out_tag, void *in,
                              int n_in, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request receive, send;
    int code, one;
    if (!must_test())
        RMAI_WIN_RETURN_MPI(
            PMPI_Sendrecv(out, n_out, out_type, to, out_tag, in, n_in, in_type, from, in_tag, comm, status));
    code = PMPI_Isend(out, n_out, out_type, to, out_tag, comm, &send);
    if (code != MPI_SUCCESS) return code;
    if (from == MPI_PROC_NULL) {
        code = PMPI_Recv(in, n_in, in_type, from, in_tag, comm, status);
    } else {
        code = PMPI_Irecv(in, n_in, in_type, from, in_tag, comm, &receive);
        if (code == MPI_SUCCESS) code = rmai_win_await_free(__func__, &receive, status);
    }
    one = rmai_win_await_free(__func__, &send, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? one : code;
}

/* ---- tests ----
 *
 * A program that tests for a message has something else to do, or something else to wait for. */

#define TEST(CALL)                                                                                                     \
    do {                                                                                                               \
        int code_;                                                                                                     \
        rma_mpi_testing_ = 1;                                                                                          \
        code_ = CALL;                                                                                                  \
        rma_mpi_testing_ = 0;                                                                                          \
        return code_;                                                                                                  \
    } while (0)

RMAI_MPI_API int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
    TEST(PMPI_Test(request, done, status));
}

RMAI_MPI_API int MPI_Testall(int n, MPI_Request *requests, int *done, MPI_Status *statuses) {
    TEST(PMPI_Testall(n, requests, done, statuses));
}

RMAI_MPI_API int MPI_Testany(int n, MPI_Request *requests, int *index, int *done, MPI_Status *status) {
    TEST(PMPI_Testany(n, requests, index, done, status));
}

RMAI_MPI_API int MPI_Testsome(int n, MPI_Request *requests, int *n_done, int *indices, MPI_Status *statuses) {
    TEST(PMPI_Testsome(n, requests, n_done, indices, statuses));
}

RMAI_MPI_API int MPI_Request_get_status(MPI_Request request, int *done, MPI_Status *status) {
    TEST(PMPI_Request_get_status(request, done, status));
}

RMAI_MPI_API int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *found, MPI_Status *status) {
    TEST(PMPI_Iprobe(from, tag, comm, found, status));
}

RMAI_MPI_API int MPI_Improbe(int from, int tag, MPI_Comm comm, int *found, MPI_Message *message, MPI_Status *status) {
    TEST(PMPI_Improbe(from, tag, comm, found, message, status));
}
