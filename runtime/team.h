/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: some of the job's PEs, numbered anew. Here is what a team is, how its handle leads to it, and how its PEs
 * meet; runtime/team_table and runtime/team_split make and destroy teams.
 *
 * The PEs of a team are an arithmetic progression of the world's, however often a team has been split. Only the PEs of
 * a node, or of a color, may be irregular; then they are listed. So most teams are a few numbers, whatever their size.
 * A team has a number, the same on all its PEs, and by that number words in each PE's space, with which its PEs meet.
 * Two teams with the same number have no PE in common.
 *
 * Meeting is dissemination, as on the node (runtime/node/barrier): in round k PE i tells PE i + 2^k and is told by PE
 * i - 2^k; on the node by the words, between nodes by a message of a group of its own. Data may come with it, which
 * each PE merges with its own before the next round. The data of some PEs are merged more than once, so only operations
 * that give the same then will do: minimum, maximum, or, and. */
#ifndef RMAI_TEAM_H
#define RMAI_TEAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/wait.h"
#include "rma.h"
#include "runtime/net/group.h"
#include "runtime/node/mailbox.h"

struct rmai_world;

#define RMAI_TEAMS       64 /* of one PE at a time */
#define RMAI_TEAM_WORLD  0  /* numbers of the two that are always there */
#define RMAI_TEAM_SHARED 1
#define RMAI_TEAM_DATA   56 /* bytes that travel with a round */

/* In the space of each PE, for each team number and round in which the partner is on this node. event.value is the
 * newest epoch that the partner has told. Even and odd epochs have their data in two places: a partner may be one epoch
 * ahead, and would overwrite data that this PE has not yet read. */
struct rmai_team_round {
    _Alignas(128) struct rmai_event event;
    unsigned char data[2][RMAI_TEAM_DATA];
};

/* One node of a team: the number in the team of the node's first PE, and how many PEs of the team the node has. */
struct rmai_team_node {
    int first, n;
};

/* What a team of several nodes knows of them, from the first of its collectives that moves data (collectives/nodes):
 * RMAI_BETWEEN_ROOM bytes, 13 for each PE of the team, and 12 for each node that the team may have. */
struct rmai_team_nodes {
    char *room;    /* RMAI_BETWEEN_ROOM bytes for pieces under way; NULL: nothing is known. What follows is
                      a part of this block: */
    size_t *sizes; /* 1 + a number for each PE of the team, for a call */
    struct rmai_team_node *node;
    int *leader;               /* the PE of the job that is the first of each node */
    int *node_of;              /* the number of each PE's node */
    unsigned char *marks;      /* a byte for each PE, for a call */
    int in_order;              /* each node's PEs follow each other in the team: alike on all PEs */
    struct rmai_group all;     /* all PEs, */
    struct rmai_group leaders; /* and the first one of each node */
};

struct rmai_team {
    int start, stride, n; /* PE i of the team is start + i * stride, */
    int *list;            /* or list[i], if there is one */
    int me;
    uint32_t epoch;      /* meetings that this PE has entered */
    uint64_t generation; /* no two teams that this PE was ever in have the same; 0: the two that are always there */
    int live;
    int meetings_broken;          /* a meeting has failed between nodes */
    int note;                     /* of shmem/: see rma_team_note_ */
    struct rmai_mailboxes near;   /* its PEs of this node */
    struct rmai_team_nodes nodes; /* and all of them, for what crosses nodes */
};

struct rmai_teams {
    struct rmai_team team[RMAI_TEAMS];
    uint64_t free;        /* bit i: number i is free on this PE */
    uint64_t committed;   /* bit i: its words here have memory */
    unsigned rounds;      /* of the world: those of each number's words */
    uint64_t generations; /* teams that this PE was ever in, but for the two that are always there: over all lives of
                             the library, so that a handle of an earlier one is known */
};

/* rmai_team_rounds: the rounds in which n PEs meet. rmai_team_words_at: the offset in every PE's space of the words of
 * team number `number`, which those of the next number follow. rmai_team_clear_words sets this PE's words of t's number
 * to 0: epochs begin anew, and nobody tells anything by the number meanwhile. */
unsigned rmai_team_rounds(int n);
size_t rmai_team_words_at(const struct rmai_world *w, int number);
void rmai_team_clear_words(const struct rmai_world *w, const struct rmai_team *t);

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

/* rmai_team_group: the group of all PEs of t; `tag` is that of team 0. */
struct rmai_group rmai_team_group(const struct rmai_world *w, struct rmai_team *t, int tag);

/* rmai_team_meet meets the PEs of t (collective over it). data, of at most RMAI_TEAM_DATA bytes, are merged with those
 * of all others by `merge`; NULL and 0: none. Returns RMA_SUCCESS or the recorded error of `call`. */
typedef void rmai_team_merge(void *mine, const void *other);
int rmai_team_meet(struct rmai_world *w, const char *call, struct rmai_team *t, void *data, size_t len,
                   rmai_team_merge *merge);

#endif
