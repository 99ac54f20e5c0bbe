/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress in MPI_Finalize: a way around a hang of MPICH. MPICH closes its connections there, and then waits for the
 * other processes in the launcher's barrier without driving progress. If a process comes later, and closing its
 * connection needs a message from the other side (over TCP nearly every second time), it then waits for ever.
 *
 * Seen with MPICH 4.0.2 (Debian 12) and 4.2.1 (Debian 13), both with UCX; so it is compiled with MPICH only, from 4.0
 * on. It acts only if a process is stuck. RMA_FINALIZE_HELPER=no turns it off. */
#ifndef RMAI_FINALIZE_PROGRESS_H
#define RMAI_FINALIZE_PROGRESS_H

/* rmai_finalize_progress_start is called where this thread's MPI_Finalize begins, whether the library or the program
 * calls that. Another thread then drives progress while this one waits in the launcher's barrier. A signal holds this
 * one there meanwhile, so that it also works if MPI is initialized for one thread. The other thread ends by itself when
 * MPI is finalized. Jobs of one node do not need it. */
void rmai_finalize_progress_start(int n_nodes);

#endif
