/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "collectives/nodes.h"
#include "base/error.h"
#include "collectives/between.h"
#include "runtime/net/group.h"
#include "runtime/team.h"
#include "runtime/world.h"

#include <stdlib.h>

/* Allocates all memory that the team's collectives will need, so that none of them fails on one PE while the others
 * wait. Every PE also allocates what only leaders need. */
static int get_memory(const char *call, const struct rmai_team *t, struct rmai_team_nodes *nodes, int most) {
    const size_t n = (size_t)t->n, n_nodes = (size_t)most;
    const size_t sizes = (n + 1) * sizeof *nodes->sizes, node = n_nodes * sizeof *nodes->node,
                 leader = n_nodes * sizeof *nodes->leader, node_of = n * sizeof *nodes->node_of;
    char *at = malloc(RMAI_BETWEEN_ROOM + sizes + node + leader + node_of + n);
    if (!at)
        return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for %zu bytes of pieces and the nodes of %d PEs", call,
                          RMAI_BETWEEN_ROOM, t->n);
    nodes->room = at;
    nodes->sizes = (size_t *)(void *)(at += RMAI_BETWEEN_ROOM);
    nodes->node = (struct rmai_team_node *)(void *)(at += sizes);
    nodes->leader = (int *)(void *)(at += node);
    nodes->node_of = (int *)(void *)(at += leader);
    nodes->marks = (unsigned char *)(at + node_of);
    return RMA_SUCCESS;
}

/* On entry nodes->node_of[i] is the team number of the first PE of PE i's node; it becomes the node's number. */
static void number_nodes(const struct rmai_team *t, struct rmai_team_nodes *nodes) {
    int n = 0;
    nodes->in_order = 1;
    for (int i = 0; i < t->n; i++) {
        const int first = nodes->node_of[i];
        if (first == i) {
            nodes->leader[n] = rmai_team_pe(t, i);
            nodes->node[n] = (struct rmai_team_node){.first = i, .n = 1};
            nodes->node_of[i] = n++;
            continue;
        }
        nodes->node_of[i] = nodes->node_of[first];
        nodes->node[nodes->node_of[i]].n++;
        if (nodes->node_of[i] != nodes->node_of[i - 1]) nodes->in_order = 0;
    }
    nodes->leaders.n = n;
}

/* The largest code of all PEs. */
static void merge_codes(void *mine, const void *other) {
    if (*(const int *)other > *(int *)mine) *(int *)mine = *(const int *)other;
}

int rmai_nodes_ready(struct rmai_world *w, const char *call, struct rmai_team *t) {
    struct rmai_team_nodes *nodes = &t->nodes;
    const int most = w->job.n_nodes < t->n ? w->job.n_nodes : t->n;
    int code, met, worst;
    if (nodes->room) return RMA_SUCCESS;
    /* A group that has failed before is kept, and fails again. */
    if (!nodes->all.net) nodes->all = rmai_team_group(w, t, RMAI_TEAMS_TAG);
    nodes->leaders = nodes->all;
    nodes->leaders.tag = RMAI_TEAMS_LEADERS_TAG + rmai_team_number(w, t);
    worst = code = get_memory(call, t, nodes, most);
    met = rmai_group_merge(&nodes->all, call, &worst, sizeof worst, merge_codes);
    if (code == RMA_SUCCESS && met == RMA_SUCCESS && worst != RMA_SUCCESS)
        code = rmai_error(worst, "%s: another PE of the team has no memory for it", call);
    if (code == RMA_SUCCESS) code = met;
    if (code == RMA_SUCCESS) {
        nodes->node_of[t->me] = t->near.index[0];
        code = rmai_between_allgather_alike(&nodes->all, call, nodes->node_of, sizeof *nodes->node_of);
    }
    if (code != RMA_SUCCESS) {
        free(nodes->room);
        nodes->room = NULL;
        return code;
    }
    number_nodes(t, nodes);
    nodes->leaders.list = nodes->leader;
    nodes->leaders.me = t->near.me == 0 ? nodes->node_of[t->me] : -1;
    return RMA_SUCCESS;
}
