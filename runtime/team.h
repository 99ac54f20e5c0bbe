/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: some of the job's PEs, numbered anew.
 *
 * The PEs of a team are an arithmetic progression of the world's, however often a team has been split; only those of a
 * node may be none, and are listed. So a team is a few numbers, whatever its size. A team has a number, the same on all
 * its PEs, and with it words in each PE's space, by which its PEs meet. Two teams with one number have no PE in common.
 *
 * Meeting is dissemination, as on the node (runtime/node/barrier): in round k PE i tells PE i + 2^k and hears from PE i
 * - 2^k. What is told may carry data, which are merged on the way; the operations merge some PEs' more than once, so
 * they must not mind. */
#ifndef RMAI_TEAM_H
#define RMAI_TEAM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wait.h"
#include "rma.h"
#include "runtime/node/mailbox.h"

struct rmai_world;

#define RMAI_TEAMS       64 /* of one PE at a time */
#define RMAI_TEAM_WORLD  0  /* numbers of the two that are always there */
#define RMAI_TEAM_SHARED 1
#define RMAI_TEAM_DATA   56 /* bytes that travel with a round */

/* In the space of each PE, for each team number and round. event.value is the newest epoch in which the partner was
 * heard; the data of even and odd epochs have their own place, as a partner may be one epoch ahead. */
struct rmai_team_round {
    _Alignas(128) struct rmai_event event;
    unsigned char data[2][RMAI_TEAM_DATA];
};

/* The PEs of one node: numbers first, first + 1, ... in the team, if the team is in order. */
struct rmai_group_node {
    int first, n;
};

/* The team as MPI knows it, where it is on several nodes: see runtime/group. */
struct rmai_group {
    MPI_Comm all;     /* of all PEs, numbered as in the team; MPI_COMM_NULL until it is made */
    MPI_Comm leaders; /* by the number of their PE; MPI_COMM_NULL on the others */
    int n_nodes;
    int in_order;                 /* each node's PEs follow each other in the team: alike on all PEs */
    struct rmai_group_node *node; /* of leaders, by number among the leaders; NULL elsewhere */
    size_t *sizes;                /* room for a call: two numbers for each PE of the team, */
    int *counts;                  /* two for MPI, */
    unsigned char *marks;         /* and a byte */
    char *stage;                  /* RMAI_GROUP_STAGE bytes: pieces under way (rmai_group_swap_begin) */
};

struct rmai_team {
    int start, stride, n; /* PE i of the team is start + i * stride, */
    int *list;            /* or list[i], if there is one */
    int me;
    uint32_t epoch; /* meetings that this PE has entered */
    uint64_t
        generation; /* no two teams that this PE has been in have the same, but for the two that are always there: 0 */
    int live;
    int note;                   /* of a face: see rma_team_note_ */
    struct rmai_mailboxes near; /* its PEs of this node */
    struct rmai_group group;    /* and all of them, for MPI */
};

struct rmai_teams {
    struct rmai_team team[RMAI_TEAMS];
    uint64_t free;      /* bit i: number i is free on this PE */
    uint64_t committed; /* bit i: its words here have memory */
    unsigned rounds;    /* of the world: those of each number's words */
};

/* rmai_teams_commit gets memory for the words and mailboxes of the two teams that are always there, and for the header
 * before them; rmai_teams_open makes these teams; rmai_teams_close lets go of all. The first two return RMA_SUCCESS or
 * record RMA_ERR_NO_MEM. */
int rmai_teams_commit(struct rmai_world *w);
int rmai_teams_open(struct rmai_world *w);
void rmai_teams_close(struct rmai_world *w);

/* rmai_teams_hold: 1 if [offset, offset + len) of a PE's space is among the words of teams. */
int rmai_teams_hold(size_t offset, size_t len);

/* rmai_team finds the team of a handle. NULL after recording RMA_ERR_STATE or RMA_ERR_ARG for `call`. */
struct rmai_team *rmai_team(struct rmai_world *w, const char *call, const rma_team *handle);

/* rmai_team_handle: the handle of t. */
rma_team *rmai_team_handle(const struct rmai_world *w, const struct rmai_team *t);

/* rmai_team_pe is the world's number of PE i of t; rmai_team_index is the number in t of a PE of the world, or -1. */
int rmai_team_pe(const struct rmai_team *t, int i);
int rmai_team_index(const struct rmai_team *t, int pe);

/* rmai_team_meet meets the PEs of t (collective over it). data, of at most RMAI_TEAM_DATA bytes, are merged with those
 * of all others by `merge`; NULL and 0: none. Returns RMA_SUCCESS or the recorded error of `call`. */
typedef void rmai_team_merge(void *mine, const void *other);
int rmai_team_meet(struct rmai_world *w, const char *call, struct rmai_team *t, void *data, size_t len,
                   rmai_team_merge *merge);

#endif
