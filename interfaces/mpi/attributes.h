/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes, names and groups of windows. */
#ifndef RMAI_MPI_ATTRIBUTES_H
#define RMAI_MPI_ATTRIBUTES_H

struct rmai_win;

/* rmai_win_attributes_end calls the program's functions for the attributes that are left, as MPI_Win_free has to.
 * Returns MPI_SUCCESS, or the code of the first function that fails: then the window stays. */
int rmai_win_attributes_end(struct rmai_win *w);

/* rmai_win_find_in_mpi writes the address of a function of MPI's, which MPICH's Fortran library calls and no C program,
 * to *function, a pointer to a function. */
void rmai_win_find_in_mpi(const char *name, void *function);

#endif
