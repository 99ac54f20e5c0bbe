/* SPDX-License-Identifier: BSD-3-Clause */
/* librma_mpi: the one-sided chapter of MPI (MPI-3.1 chapter 11), on librma. A program that runs with this library
 * loaded before MPI calls the functions of this folder in place of MPI's. This module is the life cycle: the program's
 * MPI_Init starts librma, its MPI_Finalize ends it. */
#ifndef RMAI_MPI_SETUP_H
#define RMAI_MPI_SETUP_H

#include <mpi.h>

/* 1 while the windows that the program makes are ours. 0: before MPI_Init, while librma itself makes windows in
 * rma_init, and after MPI_Finalize. Then the calls go to MPI. */
extern int rmai_win_running;

/* rmai_win_await completes a request of MPI. Meanwhile it serves PEs of other nodes. Returns MPI's code. */
int rmai_win_await(MPI_Request *request);

/* Defines a function of MPI's interface; the library exports nothing else. */
#define RMAI_MPI_API __attribute__((visibility("default")))

#endif
