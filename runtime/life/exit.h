/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the process: ending the whole job, and noticing a process that ends while the runtime runs. */
#ifndef RMAI_EXIT_H
#define RMAI_EXIT_H

/* rmai_exit_begin is called where rma_init begins, rmai_exit_watch on its success, by the same thread. From then on an
 * end of this process without rma_finalize, by exit(3), by return from main or by the end of the program's last thread,
 * is reported on stderr, and ends the job: with the process's status, or with RMA_EXIT_BASE + RMA_ERR_STATE if that is
 * 0. There is one exception: if OpenSHMEM was initialized first and the program exits with status 0,
 * interfaces/shmem/setup finalizes (rma_exits_normally_).
 */
void rmai_exit_begin(void);
void rmai_exit_watch(void);

/* rmai_exit_user tells by which call the first interface has been started that the program has to end: the end of the
 * process is reported in that interface's words, and judged by its rules. For "MPI_Init" status 0 is no error of ours.
 */
void rmai_exit_user(const char *call);

/* rmai_exit_job ends the whole job with this exit code. Does not return: if MPI cannot end the job, the process exits.
 */
void rmai_exit_job(int code);

#endif
