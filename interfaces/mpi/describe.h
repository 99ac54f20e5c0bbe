/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes a datatype apart, by the constructors that the program has called, into a list of blocks or a section. */
#ifndef RMAI_MPI_DESCRIBE_H
#define RMAI_MPI_DESCRIBE_H

#include "interfaces/mpi/types.h"

/* rmai_datatype_describe fills in *t; the caller frees t->blocks. Returns 0 if handle is no type, or memory is
 * exhausted. Only one thread may be in it. */
int rmai_datatype_describe(MPI_Datatype handle, struct rmai_datatype *t);

#endif
