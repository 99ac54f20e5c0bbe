/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's return codes in our words, and waiting for MPI without taking the processor from those we wait for. */
#ifndef RMAI_MPI_H
#define RMAI_MPI_H

#include <mpi.h>

/* rmai_mpi looks at the code that MPI call `call` returned to the public call `from`: RMA_SUCCESS for
 * MPI_SUCCESS, else RMA_ERR_MPI with MPI's own text recorded. */
int rmai_mpi(int code, const char *from, const char *call);

/* rmai_mpi_wait completes request, testing at first often and then at short sleeps: MPI's blocking calls poll, which
 * takes 15 ms for each step among 4 processes on 2 processors. Returns as rmai_mpi. */
int rmai_mpi_wait(MPI_Request *request, const char *from, const char *call);

/* rmai_mpi_merge makes each of the n elements of data what op gives over all processes of comm (collective), waiting
 * so. Returns as rmai_mpi. */
int rmai_mpi_merge(MPI_Comm comm, void *data, int n, MPI_Datatype type, MPI_Op op, const char *from);

/* The smallest of a number over all processes, and the first one that has it: MPI's MPI_LONG_INT. */
struct rmai_least {
    long value;
    int pe; /* its rank */
};

/* rmai_mpi_least makes each of the n elements the least over all processes of comm (collective), waiting so; `pe` need
 * not be set before. Returns as rmai_mpi. */
int rmai_mpi_least(MPI_Comm comm, struct rmai_least *all, int n, const char *from);

#endif
