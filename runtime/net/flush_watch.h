/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushes of MPI's window that last. MPI_Win_flush returns when the target has answered, and until then MPICH lets no
 * other thread of the process into MPI: a flush of a PE that stands still would be silent for ever, and nothing could
 * be asked of anybody. So a thread that flushes says so in a few words of memory (runtime/net/flush), and a thread that
 * never enters MPI looks at these, and says after RMA_STALL seconds which call waits for which PE. RMA_TIMEOUT seconds
 * later it ends the process, and so the job (runtime/net/blocking). */
#ifndef RMAI_FLUSH_WATCH_H
#define RMAI_FLUSH_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct rmai_net;

struct rmai_flush_watch {
    int running; /* the thread exists */
    _Atomic uint32_t ending;
    pthread_t thread;
    struct rmai_net *net;
    void (*publish)(void *context, const char *call);
    void *context;
};

/* rmai_flush_watch_start begins to watch, where a window may be used. Without a thread for it nothing is watched: that
 * is no error. publish tells others in which public call this PE waits, "" for none. rmai_flush_watch_end ends it, if
 * it runs. */
void rmai_flush_watch_start(struct rmai_flush_watch *f, struct rmai_net *net,
                            void (*publish)(void *context, const char *call), void *context);
void rmai_flush_watch_end(struct rmai_flush_watch *f);

#endif
