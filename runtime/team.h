/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: some of the job's PEs, with numbers of their own. This module has the team itself, finds it by its handle, and
 * lets its PEs meet; runtime/team_table and runtime/api/team_split make and destroy teams.
 *
 * The PEs of a team are an arithmetic progression of the world's, however often a team has been split. Only the PEs of
 * a node, or of a color, may be irregular; then the team has a list. So most teams are a few numbers, whatever their
 * size. A team has a number, the same on all its PEs. The number selects words in each PE's space, by which its PEs
 * meet. Two teams with the same number have no PE in common.
 *
 * Meeting is dissemination, as on the node (runtime/node/barrier): in round k PE i signals PE i + 2^k and waits for PE
 * i - 2^k; on a node by the words, between nodes by a message of a group of its own. Data may come with the signal;
 * each PE merges them with its own before the next round. The data of some PEs are merged more than once, so the
 * operation must be idempotent: minimum, maximum, or, and. */
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
#define RMAI_TEAM_WORLD  0  /* numbers of the two teams that always exist */
#define RMAI_TEAM_SHARED 1
#define RMAI_TEAM_DATA   56 /* bytes that travel with a round */

/* In the space of each PE, for each team number and round in which the partner is on this node. event.value is the
 * newest epoch that the partner has signalled. Even and odd epochs have their data in two places: a partner may be one
 * epoch ahead, and would otherwise overwrite data that this PE has not read yet. */
struct rmai_team_round {
    _Alignas(128) struct rmai_event event;
    unsigned char data[2][RMAI_TEAM_DATA];
    int code[2]; /* RMA_SUCCESS, or the error that the partner had between nodes in an earlier round */
};

/* What a team of several nodes knows about them. Its first collective that moves data fills it in (collectives/nodes).
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
    uint32_t epoch;      /* meetings that this PE has entered */
    uint64_t generation; /* different for all teams that this PE was ever in; 0 for the two that always exist */
    int live;
    int meetings_broken;          /* a meeting has failed between nodes */
    int note;                     /* for interfaces/shmem/: see rma_team_note_ */
    struct rmai_mailboxes near;   /* its PEs of this node */
    struct rmai_team_nodes nodes; /* all its nodes, for collectives between nodes */
};

struct rmai_teams {
    struct rmai_team team[RMAI_TEAMS];
    uint64_t free;        /* bit i: number i is free on this PE */
    uint64_t committed;   /* bit i: number i's words on this PE have memory */
    unsigned rounds;      /* of the world: each number has words for so many */
    uint64_t generations; /* teams that this PE was ever in, without the two that always exist. It counts on after
                             rma_finalize, so that an old handle is recognized after another rma_init */
};

/* rmai_team_rounds returns the rounds in which n PEs meet. rmai_team_words_at returns the offset in every PE's space of
 * the words of team number `number`; the words of the next number follow them. rmai_team_clear_words sets this PE's
 * words of t's number to 0, so that epochs start from 0; nobody signals by the number meanwhile. */
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

/* rmai_team_meet meets the PEs of t (collective over it). `merge` merges the data, at most RMAI_TEAM_DATA bytes, with
 * those of all others; data may be NULL with len 0. Returns RMA_SUCCESS or the recorded error of `call`. */
typedef void rmai_team_merge(void *mine, const void *other);
int rmai_team_meet(struct rmai_world *w, const char *call, struct rmai_team *t, void *data, size_t len,
                   rmai_team_merge *merge);

#endif
