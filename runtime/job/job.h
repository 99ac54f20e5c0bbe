/* SPDX-License-Identifier: BSD-3-Clause */
/* The job: what rma_init finds out, and what nobody changes from then on. So every module may read it without a lock.
 */
#ifndef RMAI_JOB_H
#define RMAI_JOB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "base/topology.h"
#include "heap/segment.h"
#include "runtime/job/directory.h"
#include "runtime/job/pairs.h"

/* Which rule tells the node of a PE. Launchers place PEs in one of two ways. */
enum rmai_placement {
    RMAI_PLACED_ANYHOW,    /* none of them */
    RMAI_PLACED_IN_BLOCKS, /* PE p is on node p / node_most */
    RMAI_PLACED_IN_TURN    /* PE p is on node p % n_nodes */
};

struct rmai_job {
    int my_pe, n_pes;
    int my_node, n_nodes;
    int node_my_pe, node_n_pes;    /* this PE's number among those of its node, and how many these are */
    int *node_pes;                 /* node_n_pes PE numbers of the node, ascending */
    int node_most;                 /* PEs of the node that has most */
    enum rmai_placement placement; /* of all PEs of the job */
    int *leaders;                  /* on a leader: the first PE of each of the n_nodes nodes; on other PEs NULL */
    char *spaces;                  /* the space of the node's PE q begins at spaces + q * stride; */
    size_t stride;                 /* NULL and 0 until address space is reserved */
    struct rmai_layout layout;     /* what stands where in a space */
    struct rmai_settings settings; /* in force: agreed on where they must be alike */
    int level;                     /* enum rma_thread_level in force */
    int mpi_multiple;              /* several threads may call MPI */
    int networked;                 /* there are several nodes, and messages between them; alike on all PEs */
    int all_progress;              /* every PE has a progress thread: it answers, whatever its program does */
    int one_machine;               /* all PEs run on one machine, on however many nodes, */
    int one_host;                  /* and in the same namespaces */
    int crowded_somewhere;         /* on some node there are more PEs than processors */
    int one_address;               /* the spaces of all PEs lie at the same address in their processes */
    size_t heap_alignment;         /* a power of two: the symmetric heap of each PE begins at a multiple of it */
    int heap_alignment_pe;         /* and that of this PE at a multiple of no greater one */
    int statics_mode;              /* enum rmai_statics_mode in force; what was asked for may not have been possible */
    char host[64];
    char binding[128]; /* what rmai_affinity_describe wrote */
    /* Of nodes: on these it is tried out what MPI does between nodes. */
    struct rmai_pair pairs[RMAI_PAIR_KINDS];
};

/* The first bytes of each PE's space: what it says of itself. Zero until the PE writes them, before the others agree
 * with it that they are written. Only extents and slept_on change later. */
struct rmai_facts {
    _Atomic size_t extent[RMAI_POOLS]; /* offsets in the space up to which its local heap and the guests' part of it may
                                        * be touched; rma_inline.h reads them */
    struct rmai_cpus cpus;             /* processors that the PE may run on, */
    int quota;                         /* and how many at a time */
    int crowded;            /* whether it finds more PEs than processors: one that does is enough for the node */
    int pe;                 /* the PE */
    int pid;                /* its process, */
    uint64_t pid_namespace; /* and among which others it has that number */
    uint64_t statics;       /* where its global variables are in its process, */
    uint64_t space;         /* and its space */
    void *_Atomic slept_on; /* a word of its own on which its program sleeps in the kernel, as an address of its
                               process, or NULL: who changes the word for another node wakes it */
    /* Of the node's PE 0: told to the others at init. */
    int my_node, n_nodes;
    struct rmai_pair pairs[RMAI_PAIR_KINDS];
};

/* rmai_job_space: the space of the node's PE q. rmai_facts: what that PE says of itself. */
static inline char *rmai_job_space(const struct rmai_job *job, int q) { return job->spaces + (size_t)q * job->stride; }
static inline struct rmai_facts *rmai_facts(const struct rmai_job *job, int q) {
    return (struct rmai_facts *)(void *)rmai_job_space(job, q);
}

/* rmai_directory: that of the node's PE q, where the PEs are networked. It is the second half of the page before the
 * symmetric heap, the first is for the probe of MPI's window. */
#define RMAI_DIRECTORY_AT (RMAI_PROBE_ROOM / 2)
static inline struct rmai_directory *rmai_directory(const struct rmai_job *job, int q) {
    return (struct rmai_directory *)(void *)(rmai_job_space(job, q) + job->layout.symmetric - RMAI_PROBE_ROOM +
                                             RMAI_DIRECTORY_AT);
}

/* rmai_node_slot: the number among the PEs of this node of `pe`, or -1. */
static inline int rmai_node_slot(const struct rmai_job *job, int pe) {
    return rmai_find(job->node_pes, job->node_n_pes, pe);
}

/* rmai_placed: 1 if the PEs of this node are where that rule has them. It is the job's rule if all nodes say so. Wants
 * node_most and n_nodes. */
int rmai_placed(const struct rmai_job *job, enum rmai_placement rule);

/* rmai_check_pe: RMA_SUCCESS, or records RMA_ERR_PE for `call` if there is no PE `pe`. */
int rmai_check_pe(const struct rmai_job *job, const char *call, const char *argument, int pe);

/* rmai_same_pids: 1 if this process can name the one of the node's PE q by its pid: not across containers.
 * rmai_pe_gone: 1 if PE `pe` is another one of this node, and its process has ended. */
int rmai_same_pids(const struct rmai_job *job, int q);
int rmai_pe_gone(const struct rmai_job *job, int pe);

#endif
