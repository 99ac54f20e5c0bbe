/* SPDX-License-Identifier: BSD-3-Clause */
/* The world: all that the process knows of the job. runtime/runtime.c opens and closes it; API files see all of it, the
 * files below take their part of it. rma_reach_ is what the inlined calls read. */
#ifndef RMAI_WORLD_H
#define RMAI_WORLD_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "base/settings.h"
#include "base/topology.h"
#include "heap/attached.h"
#include "heap/quick.h"
#include "heap/returned.h"
#include "heap/segment.h"
#include "heap/statics.h"
#include "rma.h"
#include "runtime/agree.h"
#include "runtime/header.h"
#include "runtime/job/job.h"
#include "runtime/reach.h"
#include "runtime/node/barrier.h"
#include "runtime/net/blocking.h"
#include "runtime/context.h"
#include "runtime/net/flush_watch.h"
#include "runtime/net/net.h"
#include "runtime/net/progress.h"
#include "runtime/net/request.h"
#include "runtime/net/transport_mpi.h"
#include "runtime/node/service.h"
#include "runtime/stall.h"
#include "runtime/team.h"
#include "runtime/job/traffic.h"
#include "runtime/net/progress_thread.h"

/* The offset in a global pointer: what is left without the PE. */
#define RMAI_OFFSET_MASK (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1)

/* What this PE has attached; peers see the table only. */
struct rmai_attachments {
    struct rmai_attached table;
    void *by_address;             /* tree (tsearch(3)) of struct attachment, see runtime/attach.c */
    struct rmai_exposed *exposed; /* list, see runtime/expose.c */
};

struct rmai_world {
    int references; /* rma_init minus rma_finalize; > 0 also after the program's own MPI_Finalize ended it */
    int owns_mpi;   /* rma_init called MPI_Init */
    int failed_pe;  /* why rma_init failed: the first PE that did */
    struct rmai_job job;
    struct rmai_reservation reservation;
    struct rmai_segment symmetric, local;
    struct rmai_quick quick; /* of local */
    int quick_open;          /* it may be used without a further look: running, one thread at a time, no red zones */
    struct rmai_returned *returned; /* this PE's own list, in its header */
    struct rmai_statics statics;
    struct rmai_attachments attachments;
    struct rmai_service service;
    pthread_mutex_t local_lock; /* the threads of this PE in its local heap and its attachments */
    MPI_Comm node;
    struct rmai_transport_mpi mpi;
    struct rmai_net net;
    struct rmai_group leaders; /* of all nodes; used by leaders, in jobs of several nodes */
    struct rmai_teams teams;
    struct rmai_contexts contexts;
    struct rmai_traffic traffic;
    struct rmai_progress_thread progress_thread;
    struct rmai_flush_watch flush_watch;
    struct rmai_blocking *blocking; /* of rma_init, while it opens; else NULL */
    int finalize_helper; /* the setting, which stays when another rma_init fails before it has read its own */
    int statics_stuck;   /* at the end a PE of this node still has its variables in the shared memory: it must stay */
    struct rmai_barrier barrier;
    _Atomic unsigned polls_now; /* see struct rmai_patience */
};

extern struct rmai_world rmai_world;

/* rmai_one_node: 1 if all PEs are on this node, and no atomic is MPI's. Alike on all PEs. */
int rmai_one_node(const struct rmai_world *w);

#endif
