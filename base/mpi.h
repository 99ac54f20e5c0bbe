/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's return codes as errors of this library, and waits for MPI that leave the processor to the PEs that are waited
 * for. */
#ifndef RMAI_MPI_H
#define RMAI_MPI_H

#include <mpi.h>

#include "base/attributes.h"
#include "rma.h"

/* rmai_mpi checks the code that MPI call `call` returned to the public call `from`. Returns RMA_SUCCESS for
 * MPI_SUCCESS, else RMA_ERR_MPI with MPI's own text recorded. A code of MPI goes here at once, or waits in a variable
 * named mpi_code; `code` is always one of ours. */
int rmai_mpi_failed_(int mpi_code, const char *from, const char *call);
static inline int rmai_mpi(int mpi_code, const char *from, const char *call) {
    return RMAI_LIKELY(mpi_code == MPI_SUCCESS) ? RMA_SUCCESS : rmai_mpi_failed_(mpi_code, from, call);
}

/* rmai_mpi_wait completes request: it tests often at first, and then sleeps shortly between tests. MPI's blocking calls
 * poll all the time, so a step among 4 processes on 2 processors takes 15 ms. Returns as rmai_mpi. */
int rmai_mpi_wait(MPI_Request *request, const char *from, const char *call);

/* rmai_mpi_merge makes each of the n elements of data the result of op over all processes of comm (collective). It
 * waits as rmai_mpi_wait does. Returns as rmai_mpi. */
int rmai_mpi_merge(MPI_Comm comm, void *data, int n, MPI_Datatype type, MPI_Op op, const char *from);

/* The smallest value of a number over all processes, and the first process that has it: MPI's MPI_LONG_INT. */
struct rmai_least {
    long value;
    int pe; /* its rank */
};

/* rmai_mpi_least makes each of the n elements the least over all processes of comm (collective). It waits as
 * rmai_mpi_wait does; `pe` need not be set before. Returns as rmai_mpi. */
int rmai_mpi_least(MPI_Comm comm, struct rmai_least *all, int n, const char *from);

#endif
