/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: PEs that work together between nodes, such as the leaders of all nodes, or the PEs of a team. They exchange
 * messages under a tag of the group's own. All PEs of a group make the same calls in the same order, and messages from
 * one PE to another keep their order; so each message meets the right receive. Two groups with a PE in common have
 * different tags.
 *
 * Every call that waits serves other PEs meanwhile. It returns RMA_SUCCESS or the recorded error of `call`:
 * RMA_ERR_MPI, or RMA_ERR_MISMATCH if a PE has sent more or fewer bytes than this one expects, because the PEs have
 * called with different arguments. (A message that is too long for its receive is an error of MPI; rmai_group_exchange
 * receives short messages with room for longer ones.) After an error a message may be missing, or may arrive late and
 * be taken for one of the next call: so all further calls of the group on this PE fail (RMA_ERR_STATE). */
#ifndef RMAI_GROUP_H
#define RMAI_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/transport/transport.h"

struct rmai_net;
struct rmai_team;

#define RMAI_LEADERS_TAG        20000 /* of the leaders of all nodes */
#define RMAI_TEAMS_TAG          20001 /* of the PEs of team 0; the other numbers follow */
#define RMAI_TEAMS_LEADERS_TAG  20101 /* of the leaders of the nodes of team 0; the other numbers follow */
#define RMAI_TEAMS_MEETINGS_TAG 20201 /* of the PEs of team 0 when they meet; the other numbers follow */

struct rmai_group {
    struct rmai_net *net;
    int tag;
    int n, me;              /* how many PEs, and the number of this PE, or -1 if it is not in the group */
    const int *list;        /* PE i of the group is PE list[i] of the job, */
    int start, stride;      /* or start + i * stride, where list is NULL */
    struct rmai_team *team; /* a report about a long wait names its PEs; NULL: the leaders of all nodes */
    int broken;             /* a call has failed */
    unsigned one_way;       /* calls of rmai_group_one_way */
};

/* rmai_group_pe returns the PE of the job that is number i of the group. */
static inline int rmai_group_pe(const struct rmai_group *g, int i) {
    return g->list ? g->list[i] : g->start + i * g->stride;
}

/* Messages under way. rmai_group_begin makes an empty set. rmai_group_send and rmai_group_receive add one message: len
 * bytes, at most RMAI_PIECE, to or from number i of the group. The data stay in use until rmai_group_finish, which
 * waits for all messages, or rmai_group_drop, which gives up those under way after an error. */
#define RMAI_GROUP_MESSAGES 4
struct rmai_group_messages {
    int n;
    struct rmai_token token[RMAI_GROUP_MESSAGES];
    size_t len[RMAI_GROUP_MESSAGES]; /* bytes that a receive expects; for a send, RMAI_SENDS */
};
#define RMAI_SENDS SIZE_MAX
static inline void rmai_group_begin(struct rmai_group_messages *m) { m->n = 0; }
int rmai_group_send(struct rmai_group *g, const char *call, struct rmai_group_messages *m, int i, const void *data,
                    size_t len);
int rmai_group_receive(struct rmai_group *g, const char *call, struct rmai_group_messages *m, int i, void *data,
                       size_t len);
int rmai_group_finish(struct rmai_group *g, const char *call, struct rmai_group_messages *m);
void rmai_group_drop(struct rmai_group *g, struct rmai_group_messages *m);

/* rmai_group_exchange sends out_len bytes to number `to`, receives in_len bytes from number `from`, and waits for both.
 * -1 means no PE. Lengths may be any; the other side gives the same ones. */
int rmai_group_exchange(struct rmai_group *g, const char *call, int to, const void *out, size_t out_len, int from,
                        void *in, size_t in_len);

/* rmai_group_meet waits for all PEs of the group. rmai_group_merge also merges the len bytes at data, at most
 * RMAI_MERGE_MOST, with those of all PEs. It merges the data of some PEs more than once, so the operation must be
 * idempotent: minimum, maximum, or, and. */
#define RMAI_MERGE_MOST 256
typedef void rmai_group_merger(void *mine, const void *other);
int rmai_group_meet(struct rmai_group *g, const char *call);
int rmai_group_merge(struct rmai_group *g, const char *call, void *data, size_t len, rmai_group_merger *merge);

/* rmai_group_one_way: every PE calls it before an operation in which some PEs only send, and so wait for nobody. Every
 * RMAI_ONE_WAY_MOST-th call is a meeting, so no PE gets further ahead of another one than that: the slower PE has to
 * buffer the messages. */
#define RMAI_ONE_WAY_MOST 64
int rmai_group_one_way(struct rmai_group *g, const char *call);

#endif
