/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of starting and ending OpenSHMEM. */
#ifndef RMAI_SHMEM_SETUP_H
#define RMAI_SHMEM_SETUP_H

/* rmai_shmem_environment_begin translates the specification's variables into settings of librma, before rma_init reads
 * them. It returns RMA_SUCCESS, or RMA_ERR_SETTING after the error handler. rmai_shmem_environment_end restores the
 * environment; before it rmai_shmem_environment_late says which of these variables have come too late, if librma was
 * running already. */
int rmai_shmem_environment_begin(const char *call);
void rmai_shmem_environment_late(const char *call);
void rmai_shmem_environment_end(void);

/* rmai_shmem_environment_inform prints on PE 0 what the variables request. */
void rmai_shmem_environment_inform(void);

/* rmai_shmem_threads: 1 if the program has asked for SHMEM_THREAD_MULTIPLE: several of its threads may be in collective
 * calls at a time. */
int rmai_shmem_threads(void);

/* rmai_shmem_mpi_begin and rmai_shmem_mpi_end enclose calls of rma_init and rma_finalize: MPI's calls between them are
 * librma's, not the program's. running: 1 if OpenSHMEM is initialized now. rmai_shmem_mpi_end ends MPI if the program
 * has asked for that and nobody needs MPI any more; it returns RMA_SUCCESS or RMA_ERR_MPI. */
void rmai_shmem_mpi_begin(void);
int rmai_shmem_mpi_end(const char *call, int running);

/* rmai_shmem_mpi_at_exit ends MPI, if OpenSHMEM began it and it has not ended yet. */
void rmai_shmem_mpi_at_exit(void);

#endif
