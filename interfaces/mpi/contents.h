/* SPDX-License-Identifier: BSD-3-Clause */
/* A derived datatype as MPI takes it apart: the arguments of its constructor. */
#ifndef RMAI_MPI_CONTENTS_H
#define RMAI_MPI_CONTENTS_H

#include <mpi.h>

struct rmai_contents {
    int combiner, n_types;
    MPI_Count *numbers;   /* the integers, in the order of MPI_Type_get_contents, whatever their type was */
    MPI_Count *addresses; /* the addresses */
    MPI_Datatype *types;
};

/* rmai_contents_read fills in *c for any type; a predefined one has no contents. Returns 0 if it is no type, or memory
 * is exhausted; then there is nothing to free. */
int rmai_contents_read(MPI_Datatype type, struct rmai_contents *c);
void rmai_contents_free(struct rmai_contents *c);

/* rmai_is_predefined: 1 if a type with this combiner is not made of others. */
static inline int rmai_is_predefined(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

#endif
