/* SPDX-License-Identifier: BSD-3-Clause */
/* The job: facts that rma_init finds out and that nobody changes afterwards. So every module may read them without a
 * lock.
 */
#ifndef RMAI_JOB_H
#define RMAI_JOB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "base/topology.h"
#include "base/update.h"
#include "heap/segment.h"
#include "runtime/job/directory.h"
#include "runtime/job/pairs.h"

/* The rule that tells a PE's node. Launchers place PEs in one of two ways. */
enum rmai_placement {
    RMAI_PLACED_ANYHOW,    /* neither of them */
    RMAI_PLACED_IN_BLOCKS, /* PE p is on node p / node_most */
    RMAI_PLACED_IN_TURN    /* PE p is on node p % n_nodes */
};

struct rmai_job {
    int my_pe, n_pes;
    int my_node, n_nodes;
    int node_my_pe, node_n_pes;    /* this PE's number on its node, and the number of PEs there */
    int *node_pes;                 /* the node_n_pes PEs of the node, ascending */
    int node_most;                 /* the most PEs that a node has */
    enum rmai_placement placement; /* of all PEs of the job */
    int *leaders;                  /* on a leader, if there is no rule: the first PE of each node; else NULL */
    char *spaces;                  /* the space of the node's PE q begins at spaces + q * stride; */
    size_t stride;                 /* NULL and 0 until address space is reserved */
    struct rmai_layout layout;     /* where the parts of a space are */
    struct rmai_stripes stripes;   /* of this node */
    struct rmai_settings settings; /* in force; the PEs have agreed on those that must be alike */
    int level;                     /* enum rma_thread_level in force */
    int mpi_multiple;              /* several threads may call MPI */
    int networked;                 /* there are several nodes, and messages between them; alike on all PEs */
    int all_progress;              /* every PE has a progress thread, so it answers whatever its program does */
    int one_machine;               /* all PEs run on one machine, on however many nodes, */
    int one_host;                  /* and in the same namespaces */
    int crowded_somewhere;         /* on some node there are more PEs than processors */
    int one_address;               /* the spaces of all PEs lie at the same address in their processes */
    size_t heap_alignment;         /* a power of two: the symmetric heap of each PE begins at a multiple of it */
    int heap_alignment_pe;         /* this PE's own alignment, which is not smaller */
    int statics_mode;              /* enum rmai_statics_mode in force; the one asked for may not be possible */
    int statics_later;             /* the one that will be in force as soon as an interface needs the variables */
    int mpi_first;                 /* on all PEs MPI's windows have started the runtime */
    char host[64];
    char binding[128]; /* what rmai_affinity_describe wrote */
    /* Pairs of nodes on which the probe tries what MPI does between nodes. */
    struct rmai_pair pairs[RMAI_PAIR_KINDS];
};

/* The first bytes of each PE's space: the PE's facts about itself. They are zero until the PE writes them; then all PEs
 * agree that they are written. Only extents and slept_on change later. */
struct rmai_facts {
    _Atomic size_t extent[RMAI_POOLS]; /* offsets in the space up to which its local heap and its guests' part may be
                                          accessed; rma_inline.h reads them */
    struct rmai_cpus cpus;             /* processors that the PE may run on, */
    int quota;                         /* and how many at a time */
    int crowded;                       /* by how many it finds more PEs than processors; one such PE makes the node
                                          crowded */
    int pe;                            /* the PE */
    int pid;                           /* its process, */
    uint64_t pid_namespace;            /* and the namespace in which it has that number */
    uint64_t statics;                  /* where its global variables are in its process, */
    uint64_t space;                    /* and its space */
    void *_Atomic slept_on; /* the word on which its program sleeps in the kernel, as an address of its process, or
                               NULL. A thread that changes the word for another node wakes it */
    /* Only on the node's PE 0, which tells them to the others at init. */
    int my_node, n_nodes;
    struct rmai_pair pairs[RMAI_PAIR_KINDS];
};

/* rmai_job_space returns the space of the node's PE q, rmai_facts the facts of that PE. */
static inline char *rmai_job_space(const struct rmai_job *job, int q) { return job->spaces + (size_t)q * job->stride; }
static inline struct rmai_facts *rmai_facts(const struct rmai_job *job, int q) {
    return (struct rmai_facts *)(void *)rmai_job_space(job, q);
}

/* rmai_position returns the position (base/update.h) of what is at `offset` in the space of the node's PE q. */
static inline uint64_t rmai_position(const struct rmai_job *job, int q, uint64_t offset) {
    return (uint64_t)q * job->stride + offset - job->layout.symmetric;
}

/* rmai_directory returns the directory of the node's PE q, if the job is networked. It is in the second half of the
 * page before the symmetric heap; the first half is for the probe of MPI's windows. */
#define RMAI_DIRECTORY_AT (RMAI_PROBE_ROOM / 2)
static inline struct rmai_directory *rmai_directory(const struct rmai_job *job, int q) {
    return (struct rmai_directory *)(void *)(rmai_job_space(job, q) + job->layout.symmetric - RMAI_PROBE_ROOM +
                                             RMAI_DIRECTORY_AT);
}

/* rmai_node_slot returns the number of `pe` on this node, or -1. */
static inline int rmai_node_slot(const struct rmai_job *job, int pe) {
    return rmai_find(job->node_pes, job->node_n_pes, pe);
}

/* rmai_placed: 1 if that rule describes the PEs of this node. It is the job's rule if it describes all nodes. It needs
 * node_most and n_nodes. */
int rmai_placed(const struct rmai_job *job, enum rmai_placement rule);

/* rmai_check_pe: RMA_SUCCESS, or records RMA_ERR_PE for `call` if there is no PE `pe`. */
int rmai_check_pe(const struct rmai_job *job, const char *call, const char *argument, int pe);

/* rmai_same_pids: 1 if this process and that of the node's PE q are in one pid namespace, so that a pid names it: not
 * across containers. rmai_pe_gone: 1 if `pe` is another PE of this node, and its process has ended. */
int rmai_same_pids(const struct rmai_job *job, int q);
int rmai_pe_gone(const struct rmai_job *job, int pe);

#endif
