/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "collectives/nodes.h"
#include "base/error.h"
#include "collectives/between.h"
#include "runtime/job/job.h"
#include "runtime/net/group.h"
#include "runtime/node/barrier.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"
#include "runtime/world.h"

#include <assert.h>
#include <stdlib.h>

/* Allocates all memory that the team's collectives will need, so that none of them fails on one PE while the others
 * wait. Every PE also allocates what only leaders need. */
static int get_memory(const char *call, const struct rmai_team *t, struct rmai_team_nodes *nodes, int rule, int most) {
    const size_t sizes = ((size_t)t->n + 1) * sizeof *nodes->sizes,
                 node_of = rule ? 0 : (size_t)t->n * sizeof *nodes->node_of,
                 leader = rule ? 0 : (size_t)most * sizeof *nodes->leader;
    char *at = malloc(RMAI_BETWEEN_ROOM + sizes + node_of + leader);
    if (!at)
        return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for %zu bytes of pieces and the nodes of %d PEs", call,
                          RMAI_BETWEEN_ROOM, t->n);
    nodes->room = at;
    nodes->sizes = (size_t *)(void *)(at += RMAI_BETWEEN_ROOM);
    nodes->node_of = (int *)(void *)(at += sizes);
    nodes->leader = (int *)(void *)(at + node_of);
    return RMA_SUCCESS;
}

static int common_divisor(int a, int b) {
    while (b) {
        const int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int rmai_nodes_rule(const struct rmai_job *job, const struct rmai_team *t, struct rmai_team_nodes *nodes) {
    const int stride = t->stride < 0 ? -t->stride : t->stride;
    nodes->block = nodes->cycle = 0;
    if (t->list || job->placement == RMAI_PLACED_ANYHOW) return 0;
    if (job->placement == RMAI_PLACED_IN_TURN)
        nodes->cycle = job->n_nodes / common_divisor(job->n_nodes, stride);
    else if (stride >= job->node_most)
        nodes->block = 1;
    else if (t->stride > 0 && job->node_most % stride == 0 && t->start % job->node_most < stride)
        nodes->block = job->node_most / stride; /* the first node is whole */
    if (nodes->cycle >= t->n) nodes->block = 1;
    nodes->in_order = nodes->block > 0;
    nodes->leaders.n = nodes->block ? (t->n + nodes->block - 1) / nodes->block : nodes->cycle;
    nodes->leaders.list = NULL;
    nodes->leaders.start = t->start;
    nodes->leaders.stride = nodes->block ? nodes->block * t->stride : t->stride;
    return nodes->block || nodes->cycle;
}

/* On entry nodes->node_of[i] is the team number of the first PE of PE i's node; it becomes the node's number. */
static void number_nodes(const struct rmai_team *t, struct rmai_team_nodes *nodes) {
    int n = 0;
    nodes->in_order = 1;
    for (int i = 0; i < t->n; i++) {
        const int first = nodes->node_of[i];
        if (first == i) {
            nodes->leader[n] = rmai_team_pe(t, i);
            nodes->node_of[i] = n++;
            continue;
        }
        nodes->node_of[i] = nodes->node_of[first];
        if (nodes->node_of[i] != nodes->node_of[i - 1]) nodes->in_order = 0;
    }
    nodes->leaders.n = n;
    nodes->leaders.list = nodes->leader;
}

/* Each PE tells the others the first PE of its node. */
static int learn_nodes(const char *call, const struct rmai_team *t, struct rmai_team_nodes *nodes) {
    int code;
    nodes->node_of[t->me] = t->near.index[0];
    code = rmai_between_allgather_alike(&nodes->all, call, nodes->node_of, sizeof *nodes->node_of);
    if (code == RMA_SUCCESS) number_nodes(t, nodes);
    return code;
}

/* The largest code of all PEs. */
static void merge_codes(void *mine, const void *other) {
    if (*(const int *)other > *(int *)mine) *(int *)mine = *(const int *)other;
}

/* A near PE that leaves the call after an error between nodes would leave the others waiting: it tells them, so that
 * either all go on or none. It does not wait for them itself, since they may be waiting for a message of it. */
static int agree_near(const char *call, struct rmai_team *t, int code) {
    struct rmai_mailboxes *near = &t->near;
    int failed = -1, worst = code;
    if (near->n == 1) return code;
    rmai_mailbox_begin(near, 1, 0);
    rmai_mailbox_slot(near, near->me)->word = (uint64_t)code;
    rmai_mailbox_post(near);
    for (int i = 0; i < near->n && code == RMA_SUCCESS; i++) {
        int theirs;
        if (i == near->me) continue;
        rmai_mailbox_hear(near, i);
        theirs = (int)rmai_mailbox_slot(near, i)->word;
        if (theirs > worst) worst = theirs, failed = i;
    }
    rmai_mailbox_through(near);
    if (code != RMA_SUCCESS || worst == RMA_SUCCESS) return code;
    t->nodes.all.broken = 1;
    return rmai_neighbour_failed(call, worst, rmai_team_pe(t, near->index[failed]));
}

int rmai_nodes_ready(struct rmai_world *w, const char *call, struct rmai_team *t) {
    struct rmai_team_nodes *nodes = &t->nodes;
    const int most = w->job.n_nodes < t->n ? w->job.n_nodes : t->n;
    int code, met, worst, rule;
    if (nodes->room) return RMA_SUCCESS;
    /* A group that has failed before is kept, and fails again. */
    if (!nodes->all.net) nodes->all = rmai_team_group(w, t, RMAI_TEAMS_TAG);
    nodes->leaders = nodes->all;
    nodes->leaders.tag = RMAI_TEAMS_LEADERS_TAG + rmai_team_number(w, t);
    rule = rmai_nodes_rule(&w->job, t, nodes);
    worst = code = get_memory(call, t, nodes, rule, most);
    met = rmai_group_merge(&nodes->all, call, &worst, sizeof worst, merge_codes);
    if (code == RMA_SUCCESS && met == RMA_SUCCESS && worst != RMA_SUCCESS)
        code = rmai_error(worst, "%s: another PE of the team has no memory for it", call);
    if (code == RMA_SUCCESS) code = met;
    if (code == RMA_SUCCESS && !rule) code = learn_nodes(call, t, nodes);
    code = agree_near(call, t, code);
    if (code != RMA_SUCCESS) {
        free(nodes->room);
        nodes->room = NULL;
        return code;
    }
    assert(rmai_group_pe(&nodes->leaders, rmai_team_node(nodes, t->me)) == rmai_team_pe(t, t->near.index[0]) &&
           "the first PE of this node leads it");
    nodes->leaders.me = t->near.me == 0 ? rmai_team_node(nodes, t->me) : -1;
    return RMA_SUCCESS;
}
