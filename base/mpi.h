/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's return codes as errors of this library, and waits for MPI that leave the processor to the PEs that are waited
 * for. */
#ifndef RMAI_MPI_H
#define RMAI_MPI_H

#include <mpi.h>
#include <stddef.h>

#include "base/attributes.h"
#include "rma.h"

/* rmai_mpi checks the code that MPI call `call` returned to the public call `from`. Returns RMA_SUCCESS for
 * MPI_SUCCESS, else RMA_ERR_MPI with MPI's own text recorded. A code of MPI goes here at once, or waits in a variable
 * named mpi_code; `code` is always one of ours. */
int rmai_mpi_failed_(int mpi_code, const char *from, const char *call);
static inline int rmai_mpi(int mpi_code, const char *from, const char *call) {
    return RMAI_LIKELY(mpi_code == MPI_SUCCESS) ? RMA_SUCCESS : rmai_mpi_failed_(mpi_code, from, call);
}

/* rmai_mpi_unheard writes the text of this process's first failure of MPI of which the others may not have heard: they
 * have not met this one in a merge since, and may be waiting in the call that failed here. Returns 0 if there is none.
 * Any thread may call it. rmai_mpi_heard: from now on there is none. */
int rmai_mpi_unheard(char *text, size_t room);
void rmai_mpi_heard(void);

/* rmai_mpi_or_end ends the job if the MPI call has failed, whatever the error handler: for calls after which the
 * processes could not even agree on ending. */
void rmai_mpi_or_end(int mpi_code, const char *from, const char *call);

/* rmai_mpi_rank, rmai_mpi_size: of a communicator; they end the job as rmai_mpi_or_end does. */
int rmai_mpi_rank(MPI_Comm comm, const char *from);
int rmai_mpi_size(MPI_Comm comm, const char *from);

/* rmai_mpi_members lists which of MPI_COMM_WORLD's processes are in comm: *n ranks at *ranks, which the caller frees.
 * *ranks is NULL if that fails. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI. */
int rmai_mpi_members(MPI_Comm comm, int *n, int **ranks, const char *from);

/* rmai_mpi_wait completes request: it tests often at first, and then sleeps shortly between tests. MPI's blocking calls
 * poll all the time, so a step among 4 processes on 2 processors takes 15 ms. Returns as rmai_mpi. */
int rmai_mpi_wait(MPI_Request *request, const char *from, const char *call);

/* rmai_mpi_merge makes each of the n elements of data the result of op over all processes of comm (collective). It
 * waits as rmai_mpi_wait does, and ends the job as rmai_mpi_or_end does. rmai_mpi_broadcast: the same of len bytes,
 * which all processes get from the first one. */
void rmai_mpi_merge(MPI_Comm comm, void *data, int n, MPI_Datatype type, MPI_Op op, const char *from);
void rmai_mpi_broadcast(MPI_Comm comm, void *data, size_t len, const char *from);

/* The smallest value of a number over all processes, and the first process that has it: MPI's MPI_LONG_INT. */
struct rmai_least {
    long value;
    int pe; /* its rank */
};

/* rmai_mpi_least makes each of the n elements the least over all processes of comm (collective), as rmai_mpi_merge;
 * `pe` need not be set before. */
void rmai_mpi_least(MPI_Comm comm, struct rmai_least *all, int n, const char *from);

#endif
