/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/mpi.h"
#include "base/error.h"

#include <string.h>
#include <time.h>

#define TESTS 2000 /* a few hundred microseconds: far more than a message on this node takes */

int rmai_mpi_failed_(int mpi_code, const char *from, const char *call) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int len = 0;
    if (MPI_Error_string(mpi_code, text, &len) != MPI_SUCCESS) strcpy(text, "no text");
    return rmai_error(RMA_ERR_MPI, "%s: %s failed with code %d: %s", from, call, mpi_code, text);
}

int rmai_mpi_wait(MPI_Request *request, const char *from, const char *call) {
    for (unsigned tests = 0;; tests++) {
        int done = 0, mpi_code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (mpi_code != MPI_SUCCESS || done) return rmai_mpi(mpi_code, from, call);
        if (tests > TESTS) nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

int rmai_mpi_merge(MPI_Comm comm, void *data, int n, MPI_Datatype type, MPI_Op op, const char *from) {
    MPI_Request request;
    int mpi_code = MPI_Iallreduce(MPI_IN_PLACE, data, n, type, op, comm, &request);
    return mpi_code == MPI_SUCCESS ? rmai_mpi_wait(&request, from, "MPI_Iallreduce")
                                   : rmai_mpi(mpi_code, from, "MPI_Iallreduce");
}

int rmai_mpi_least(MPI_Comm comm, struct rmai_least *all, int n, const char *from) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < n; i++) all[i].pe = rank;
    return rmai_mpi_merge(comm, all, n, MPI_LONG_INT, MPI_MINLOC, from);
}
