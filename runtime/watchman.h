/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchman: a thread that drives progress while the program computes, so that who asks something of this PE does
 * not wait for it. It looks in steps, short ones while there is traffic and long ones when there is none, and stands
 * back while a thread of the program drives progress itself. It needs an MPI that several threads may call. */
#ifndef RMAI_WATCHMAN_H
#define RMAI_WATCHMAN_H

#include <pthread.h>
#include <stdatomic.h>

struct rmai_world;

struct rmai_watchman {
    int running; /* the thread exists */
    _Atomic int ending;
    pthread_t thread;
};

/* rmai_watchman_start starts it if it does not run. Returns RMA_SUCCESS, RMA_ERR_SYSTEM (no thread), RMA_ERR_STATE (MPI
 * is initialized for one thread). rmai_watchman_end ends it, if it runs. */
int rmai_watchman_start(struct rmai_world *w, const char *call);
void rmai_watchman_end(struct rmai_world *w);

/* rmai_usher_start: called where this thread's MPI_Finalize begins, whoever called it. MPICH 4.0.2 closes its
 * connections there and then waits for the other processes without driving progress; one that comes later, and whose
 * connection cannot be closed without a word from the other side (over TCP nearly every second time), then waits for
 * ever. So another thread drives progress while this one waits in the launcher's barrier, held there by a signal
 * meanwhile: also where MPI is initialized for one thread. It ends by itself when MPI is finalized. */
void rmai_usher_start(const struct rmai_world *w);

#endif
