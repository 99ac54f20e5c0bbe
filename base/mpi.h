/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's return codes as errors of this library, and waits for MPI that leave the processor to other PEs. */
#ifndef RMAI_MPI_H
#define RMAI_MPI_H

#include <mpi.h>
#include <stddef.h>

#include "base/attributes.h"
#include "rma.h"

/* rmai_mpi checks the code that MPI's function `call` returned within the public call `from`. Returns RMA_SUCCESS for
 * MPI_SUCCESS; else records MPI's own text and returns RMA_ERR_MPI. Pass a code of MPI here at once, or keep it in a
 * variable named mpi_code; `code` is always one of ours. */
int rmai_mpi_failed_(int mpi_code, const char *from, const char *call);
static inline int rmai_mpi(int mpi_code, const char *from, const char *call) {
    return RMAI_LIKELY(mpi_code == MPI_SUCCESS) ? RMA_SUCCESS : rmai_mpi_failed_(mpi_code, from, call);
}

/* rmai_mpi_unheard writes the text of this process's first MPI failure that the other processes may not know: there was
 * no merge since, and they may be waiting in the call that failed here. Returns 0 if there is no such failure. Any
 * thread may call it. rmai_mpi_heard marks the failure as known. */
int rmai_mpi_unheard(char *text, size_t room);
void rmai_mpi_heard(void);

/* rmai_mpi_or_end ends the job if the MPI call has failed, whatever the error handler: for calls after whose failure
 * the processes could not even agree on ending. */
void rmai_mpi_or_end(int mpi_code, const char *from, const char *call);

/* rmai_mpi_rank, rmai_mpi_size: rank and size of a communicator. On failure they end the job as rmai_mpi_or_end
 * does. */
int rmai_mpi_rank(MPI_Comm comm, const char *from);
int rmai_mpi_size(MPI_Comm comm, const char *from);

/* rmai_mpi_members lists the ranks in MPI_COMM_WORLD of comm's processes: *n ranks at *ranks, which the caller frees.
 * *ranks is NULL if that fails. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI. */
int rmai_mpi_members(MPI_Comm comm, int *n, int **ranks, const char *from);

/* rmai_mpi_wait completes request: it first tests often, and then sleeps briefly between tests. MPI's blocking calls
 * poll all the time, so a step among 4 processes on 2 processors takes 15 ms. Returns as rmai_mpi. */
int rmai_mpi_wait(MPI_Request *request, const char *from, const char *call);

/* rmai_mpi_merge replaces each of the n elements of data by the result of op over all processes of comm (collective).
 * It waits as rmai_mpi_wait does, and on failure ends the job as rmai_mpi_or_end does. rmai_mpi_broadcast does the same
 * for len bytes, which all processes get from the first one. */
void rmai_mpi_merge(MPI_Comm comm, void *data, int n, MPI_Datatype type, MPI_Op op, const char *from);
void rmai_mpi_broadcast(MPI_Comm comm, void *data, size_t len, const char *from);

/* The smallest value of a number over all processes, and the first process that has it: MPI's MPI_LONG_INT. */
struct rmai_least {
    long value;
    int pe; /* its rank */
};

/* rmai_mpi_least replaces each of the n elements by the smallest over all processes of comm (collective), as
 * rmai_mpi_merge does; the caller need not set `pe`. */
void rmai_mpi_least(MPI_Comm comm, struct rmai_least *all, int n, const char *from);

#endif
