/* SPDX-License-Identifier: BSD-3-Clause */
/* What starting and ending OpenSHMEM is made of. */
#ifndef RMAI_SHMEM_SETUP_H
#define RMAI_SHMEM_SETUP_H

/* rmai_shmem_environment_begin turns the specification's variables into the engine's settings, before rma_init reads
 * these; rmai_shmem_environment_end makes the environment what it was. The first returns RMA_SUCCESS, or
 * RMA_ERR_SETTING after the error handler. */
int rmai_shmem_environment_begin(const char *call);
void rmai_shmem_environment_end(void);

/* rmai_shmem_environment_inform prints on PE 0 what the variables ask for. */
void rmai_shmem_environment_inform(void);

/* rmai_shmem_threads: 1 if the program has asked for SHMEM_THREAD_MULTIPLE, so that several of its threads may be in
 * collective calls at a time. */
int rmai_shmem_threads(void);

/* rmai_shmem_mpi_begin and _end stand around calls of rma_init and rma_finalize: what the engine asks of MPI between
 * them is not the program's. running: whether OpenSHMEM is initialized now. The second ends MPI if the program has
 * asked for it and nobody needs it any more. Return RMA_SUCCESS or RMA_ERR_MPI. */
void rmai_shmem_mpi_begin(void);
int rmai_shmem_mpi_end(const char *call, int running);

/* rmai_shmem_mpi_at_exit ends MPI if it was OpenSHMEM that began it, and it has not ended. */
void rmai_shmem_mpi_at_exit(void);

#endif
