/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread: it drives progress while the program computes. So requests of other PEs do not wait for the
 * program. It polls at short intervals while there is traffic and at long ones when there is none, and it leaves
 * progress to a thread of the program that drives it. It needs an MPI that several threads may call. */
#ifndef RMAI_PROGRESS_THREAD_H
#define RMAI_PROGRESS_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

struct rmai_net;

struct rmai_progress_thread {
    int running; /* the thread exists */
    _Atomic int ending;
    pthread_t thread;
    struct rmai_net *net;
};

/* rmai_progress_thread_start starts the thread if it does not run. Returns RMA_SUCCESS, RMA_ERR_SYSTEM (no thread),
 * RMA_ERR_STATE (MPI is initialized for one thread). rmai_progress_thread_end ends it, if it runs. */
int rmai_progress_thread_start(struct rmai_progress_thread *p, struct rmai_net *net, const char *call);
void rmai_progress_thread_end(struct rmai_progress_thread *p);

#endif
