/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries whether MPI's own windows put data to the right place, for the note of RMA_MPI_INFO=1. */
#ifndef RMAI_MPI_TRIAL_H
#define RMAI_MPI_TRIAL_H

/* rmai_mpi_shifts: 1 if MPI puts to a wrong place in a window whose memory does not begin at a multiple of 16 bytes, as
 * MPICH 4.0 does with UCX 1.13 and later: it rounds the address down. Not collective. 0 also if MPI makes no
 * window of one process, as Open MPI. */
int rmai_mpi_shifts(void);

#endif
