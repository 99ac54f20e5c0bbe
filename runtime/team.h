/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: some of the job's PEs, with numbers of their own. This module has the team itself, finds it by its handle, and
 * lets its PEs meet; runtime/team_table and runtime/api/team_split make and destroy teams.
 *
 * The PEs of a team are an arithmetic progression of the world's, however often a team has been split. Only the PEs of
 * a node, or of a color, may be irregular; then the team has a list. So most teams are a few numbers, whatever their
 * size. A team has a number, the same on all its PEs. The number selects a mailbox in each PE's space
 * (runtime/node/mailbox). Two teams with the same number have no PE in common.
 *
 * The PEs of a team meet as they do in collectives: those of a node by their mailboxes, and the first ones of the nodes
 * by messages of a group (runtime/net/group). Before the team knows its nodes, all its PEs meet by messages. Data may
 * be merged on the way; those of some PEs are merged more than once, so the operation must be idempotent: minimum,
 * maximum, or, and. */
#ifndef RMAI_TEAM_H
#define RMAI_TEAM_H

#include <stddef.h>
#include <stdint.h>

#include "rma.h"
#include "runtime/net/group.h"
#include "runtime/node/mailbox.h"

struct rmai_world;

#define RMAI_TEAMS       64 /* of one PE at a time */
#define RMAI_TEAM_WORLD  0  /* numbers of the two teams that always exist */
#define RMAI_TEAM_SHARED 1
#define RMAI_TEAM_DATA   RMAI_NOTE /* bytes that are merged in a meeting */

/* What a team of several nodes knows about them. Its first sync or collective fills it in (collectives/nodes).
 * The nodes have numbers in the order of their first PEs. If the team's PEs meet each node in the same way
 * (rmai_nodes_rule), a rule tells the number of each PE's node: i / block if block > 0, else i % cycle if cycle > 0.
 * Only without a rule there are tables, of 4 bytes for each PE and 4 for each node. */
struct rmai_team_nodes {
    char *room;                /* RMAI_BETWEEN_ROOM bytes for pieces under way; NULL: nothing is known */
    size_t *sizes;             /* in the same memory: 1 + a number for each PE of the team, for a call */
    int block, cycle;          /* the rule */
    int *node_of;              /* or in the same memory: the number of each PE's node, */
    int *leader;               /* and the PE of the job that is the first of each node */
    int in_order;              /* each node's PEs have successive numbers in the team; alike on all PEs */
    struct rmai_group all;     /* all PEs, */
    struct rmai_group leaders; /* and the first one of each node */
};

/* rmai_team_node returns the number of the node of PE i of the team. */
static inline int rmai_team_node(const struct rmai_team_nodes *nodes, int i) {
    return nodes->block ? i / nodes->block : nodes->cycle ? i % nodes->cycle : nodes->node_of[i];
}

struct rmai_team {
    int start, stride, n; /* PE i of the team is start + i * stride, */
    int *list;            /* or list[i], if there is one */
    int me;
    uint64_t generation; /* different for all teams that this PE was ever in; 0 for the two that always exist */
    int live;
    int note;                     /* for interfaces/shmem/: see rma_team_note_ */
    struct rmai_mailboxes near;   /* its PEs of this node */
    struct rmai_team_nodes nodes; /* all its nodes, for collectives between nodes */
};

struct rmai_teams {
    struct rmai_team team[RMAI_TEAMS];
    uint64_t free;        /* bit i: number i is free on this PE */
    uint64_t committed;   /* bit i: number i's mailbox on this PE has memory */
    uint64_t generations; /* teams that this PE was ever in, without the two that always exist. It counts on after
                             rma_finalize, so that an old handle is recognized after another rma_init */
};

/* rmai_team finds the team of a handle. NULL after recording RMA_ERR_STATE or RMA_ERR_ARG for `call`. */
struct rmai_team *rmai_team(struct rmai_world *w, const char *call, const rma_team *handle);

/* rmai_team_handle: the handle of t. rmai_team_number: its number. */
rma_team *rmai_team_handle(const struct rmai_world *w, const struct rmai_team *t);
int rmai_team_number(const struct rmai_world *w, const struct rmai_team *t);

/* rmai_team_pe is the world's number of PE i of t; rmai_team_index is the number in t of a PE of the world, or -1. */
static inline int rmai_team_pe(const struct rmai_team *t, int i) {
    return t->list ? t->list[i] : t->start + i * t->stride;
}
int rmai_team_index(const struct rmai_team *t, int pe);

/* rmai_team_group: the group of all PEs of t. */
struct rmai_group *rmai_team_group(const struct rmai_world *w, struct rmai_team *t);

/* rmai_team_meet meets the PEs of t (collective over it). `merge` merges the data, at most RMAI_TEAM_DATA bytes, with
 * those of all others; data may be NULL with len 0. The caller has set the stamp of t->near. rmai_team_meet_last is the
 * last meeting: after it no PE reads another one's mailbox, and the memory may be used for another team. They return
 * RMA_SUCCESS or the recorded error of `call`. */
typedef void rmai_team_merge(void *mine, const void *other);
int rmai_team_meet(struct rmai_world *w, const char *call, struct rmai_team *t, void *data, size_t len,
                   rmai_team_merge *merge);
int rmai_team_meet_last(struct rmai_world *w, const char *call, struct rmai_team *t);

#endif
