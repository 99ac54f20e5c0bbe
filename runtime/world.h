/* SPDX-License-Identifier: BSD-3-Clause */
/* The world: all that the process knows about the job. runtime/life/runtime.c opens and closes it.
 *
 * The job, the heaps and what waits read are embedded. For every other module it has only a pointer: a file that uses
 * the fields of a module includes that module's header, so its includes tell what it may touch. rma_reach_ is what the
 * inlined calls read. */
#ifndef RMAI_WORLD_H
#define RMAI_WORLD_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/crowd.h"
#include "base/wait.h"
#include "heap/quick.h"
#include "heap/reserve.h"
#include "heap/segment.h"
#include "runtime/job/job.h"

struct rmai_attachments;
struct rmai_barrier;
struct rmai_contexts;
struct rmai_group;
struct rmai_net;
struct rmai_progress_thread;
struct rmai_returned;
struct rmai_service;
struct rmai_statics;
struct rmai_teams;
struct rmai_traffic;
struct rmai_transport_mpi;
struct rmai_watch;
struct rmai_watchdog;

/* runtime/world.c sets the pointers once and for all, except `returned`. */
struct rmai_world {
    int inits;           /* calls of rma_init since the runtime began, without that of MPI's windows */
    int references;      /* all calls minus rma_finalize; > 0 also after the program's own MPI_Finalize ended it */
    int held;            /* 1: one of them is that of MPI's windows, for a program that has called MPI_Init */
    int starting;        /* 1: in rma_init, before the runtime runs */
    int owns_mpi;        /* rma_init called MPI_Init, and the program has not done so since */
    int mpi_kept;        /* OpenSHMEM is running, and puts the program's MPI_Finalize off */
    _Atomic int exiting; /* this process has called exit */
    int failed_pe;       /* the first PE on which rma_init failed */
    struct rmai_job job;
    struct rmai_reservation reservation;
    struct rmai_segment symmetric, local;
    struct {
        const char *call;
        size_t size;
    } denied; /* runtime/denied.h */
    struct rmai_holes symmetric_holes;
    struct rmai_canaries symmetric_canaries;
    struct rmai_quick quick; /* of local */
    int quick_open;          /* 1: no check is needed before using it: running, one thread at a time, no red zones */
    struct rmai_returned *returned;       /* this PE's own list, in its header */
    struct rmai_statics *statics;         /* heap/statics.h */
    struct rmai_attachments *attachments; /* runtime/attach.h */
    struct rmai_service *service;         /* runtime/node/service.h */
    pthread_mutex_t local_lock;           /* for this PE's threads: guards its local heap and attachments */
    MPI_Comm node;
    struct rmai_transport_mpi *mpi; /* runtime/transport/transport_mpi.h */
    struct rmai_net *net;           /* runtime/net/net.h; NULL in a job of one node */
    struct rmai_event doze;         /* threads of the program that wait for other nodes sleep on it */
    struct rmai_group *leaders; /* runtime/net/group.h: of all nodes; only leaders use it, in jobs of several nodes */
    struct rmai_teams *teams;   /* runtime/team.h */
    struct rmai_contexts *contexts;               /* runtime/context.h */
    struct rmai_traffic *traffic;                 /* runtime/job/traffic.h */
    struct rmai_progress_thread *progress_thread; /* runtime/net/progress_thread.h */
    struct rmai_watch *watch;                     /* runtime/watch/stall.h */
    struct rmai_watchdog *watchdog;               /* runtime/watch/watchdog.h */
    int finalize_helper; /* the setting; it stays if another rma_init fails before it has read the settings */
    int statics_stuck; /* at the end a PE of this node still has its variables in the shared memory, which must stay */
    struct rmai_barrier *barrier; /* runtime/node/barrier.h */
    _Atomic unsigned polls_now;   /* see struct rmai_patience, */
    struct rmai_crowd crowd;      /* and this */
};

extern struct rmai_world rmai_world;

/* The references of the interfaces that the program starts and ends itself: all but that of MPI's windows. */
static inline int rmai_references(const struct rmai_world *w) { return w->references - w->held; }

#endif
