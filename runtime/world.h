/* SPDX-License-Identifier: BSD-3-Clause */
/* The world: all that the process knows of the job, and the life cycle that makes and unmakes it. The one mutable
 * global of the library; rma_reach_ is that part of it which the inlined calls read. */
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
#include "runtime/barrier.h"
#include "runtime/blocking.h"
#include "runtime/context.h"
#include "runtime/far.h"
#include "runtime/net.h"
#include "runtime/serve.h"
#include "runtime/stall.h"
#include "runtime/team.h"
#include "runtime/traffic.h"
#include "runtime/watchman.h"

/* The offset in a global pointer: what is left without the PE. */
#define RMAI_OFFSET_MASK (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1)

/* The two pools of a local heap: the owner's, and that in which others allocate. */
enum rmai_pool { RMAI_OWN, RMAI_GUEST, RMAI_POOLS };

/* The first RMAI_HEADER_ROOM bytes of each PE's space. Zero until the PE writes them. */
struct rmai_header {
    _Atomic size_t extent[RMAI_POOLS]; /* offsets in the space up to which its local heap and the guests' part of it may
                                        * be touched; rma_inline.h reads them */
    struct rmai_cpus cpus;             /* processors that the PE may run on, */
    int quota;                         /* and how many at a time */
    int crowded;            /* whether it finds more PEs than processors: one that does is enough for the node */
    int pe;                 /* the PE */
    int pid;                /* its process, */
    uint64_t pid_namespace; /* and among which others it has that number */
    uint64_t statics;       /* where its global variables are in its process */
    struct rmai_returned returned[RMAI_POOLS]; /* blocks that others have given back */
    struct rmai_lock guest_lock;               /* who changes the guests' part */
    _Atomic int guest_orphan;                  /* 1 + the PE that died while it did */
    int my_node, n_nodes;                      /* of the node's PE 0: told to the others at init */
    struct rmai_barrier_shared barrier;
    struct rmai_agree_shared agree;
    struct rmai_serve_shared serve;
    struct rmai_waiting waiting; /* in which public call it waits */
};

_Static_assert(sizeof(struct rmai_header) <= RMAI_HEADER_ROOM, "the header fits its room");

/* What this PE has attached; peers see the table only. */
struct rmai_attachments {
    struct rmai_attached table;
    void *by_address;             /* tree (tsearch(3)) of struct attachment, see runtime/attach.c */
    struct rmai_exposed *exposed; /* list, see runtime/expose.c */
};

struct rmai_world {
    int references;   /* rma_init minus rma_finalize; > 0 also after the program's own MPI_Finalize ended it */
    int owns_mpi;     /* rma_init called MPI_Init */
    int mpi_multiple; /* several threads may call MPI */
    int ended;        /* was initialized once, and is not now */
    int failed_pe;    /* why rma_init failed: the first PE that did */
    int level;        /* enum rma_thread_level in force */
    int my_pe, n_pes;
    int my_node, n_nodes;
    int node_my_pe, node_n_pes;
    int *node_pes; /* node_n_pes PE numbers of the node, ascending */
    char host[64];
    char binding[128]; /* what rmai_bind said */
    struct rmai_settings settings;
    struct rmai_layout layout;
    struct rmai_reservation reservation;
    struct rmai_segment symmetric, local;
    struct rmai_quick quick; /* of local */
    int quick_open;          /* it may be used without a further look: running, one thread at a time, no red zones */
    struct rmai_returned *returned; /* this PE's own list, in its header */
    struct rmai_statics statics;
    int statics_mode; /* enum rmai_statics_mode in force; what was asked for may not have been possible */
    struct rmai_attachments attachments;
    struct rmai_serve serve;
    pthread_mutex_t local_lock; /* the threads of this PE in its local heap and its attachments */
    MPI_Comm node;
    struct rmai_net net;
    struct rmai_far far;
    struct rmai_teams teams;
    struct rmai_contexts contexts;
    struct rmai_traffic traffic;
    struct rmai_watchman watchman;
    struct rmai_flush_watch flush_watch;
    struct rmai_blocking *blocking; /* of rma_init, while it opens; else NULL */
    int networked;                  /* MPI carries something: there are several nodes, or RMA_AMO=mpi */
    int watched;                    /* every PE has a watchman: it answers, whatever its program does */
    int one_machine;                /* all PEs run on one machine, on however many nodes */
    int crowded_somewhere;          /* on some node there are more PEs than processors */
    int statics_stuck; /* at the end a PE of this node still has its variables in the shared memory: it must stay */
    struct rmai_barrier barrier;
    _Atomic unsigned polls_now; /* see struct rmai_patience */
};

extern struct rmai_world rmai_world;

/* rmai_running is RMA_SUCCESS, or records RMA_ERR_STATE for `call` and returns it. */
int rmai_running(const char *call);

/* rmai_header is the header of the node's PE q. */
struct rmai_header *rmai_header(const struct rmai_world *w, int q);

/* rmai_node_slot is the number among the PEs of this node of pe, or -1. */
int rmai_node_slot(const struct rmai_world *w, int pe);

/* rmai_same_pids: 1 if this process can name the one of PE number q of the node by its pid: not across containers. */
int rmai_same_pids(const struct rmai_world *w, int q);

/* rmai_pe_gone: 1 if PE `pe` of this node has died. For rmai_lock; context is the world. */
int rmai_pe_gone(void *context, uint32_t pe);

/* rmai_own_lock, rmai_own_unlock: one thread of this PE at a time in what is its own: its local heap, its attachments.
 */
void rmai_own_lock(struct rmai_world *w);
void rmai_own_unlock(struct rmai_world *w);

/* rmai_commit_for is rmai_commit as heap/attached wants it; context is the reservation. */
int rmai_commit_for(void *context, void *start, size_t len);

/* rmai_check_pe is RMA_SUCCESS, or records RMA_ERR_PE for `call`. */
int rmai_check_pe(const struct rmai_world *w, const char *call, const char *argument, int pe);

/* rmai_meet_only waits for every PE of the job. What any PE wrote to shared memory before is seen by all after. Returns
 * RMA_SUCCESS or RMA_ERR_MPI. rmai_meet is rmai_far_calm before it: what this PE has begun is complete; or the first
 * error of that. */
int rmai_meet_only(struct rmai_world *w, const char *call);
int rmai_meet(struct rmai_world *w, const char *call);

/* rmai_one_node: 1 if all PEs are on this node, and no atomic is MPI's. Alike on all PEs. */
int rmai_one_node(const struct rmai_world *w);

/* rmai_reach_grown makes the inlined calls see the symmetric heap's present size. Other threads may be in them: they
 * see the old size or the new one. */
void rmai_reach_grown(const struct rmai_world *w);

#endif
