/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes a team has (struct rmai_team_nodes in runtime/team.h). A team on several nodes finds out in its first
 * collective that moves data; most teams never make such a call. */
#ifndef RMAI_NODES_H
#define RMAI_NODES_H

struct rmai_job;
struct rmai_team;
struct rmai_team_nodes;
struct rmai_world;

/* rmai_nodes_ready fills in t->nodes, unless an earlier call has (collective over t, which is on several nodes).
 * Returns RMA_SUCCESS; RMA_ERR_NO_MEM on all PEs, if one of them lacks memory; or an error of the group, perhaps on one
 * PE alone, whose next calls then also fail. */
int rmai_nodes_ready(struct rmai_world *w, const char *call, struct rmai_team *t);

/* rmai_nodes_rule sets the rule that tells the nodes of t's PEs, if there is one, and in_order and the leaders, which
 * follow from it. Returns 1 if there is one. All PEs of the team compute the same. */
int rmai_nodes_rule(const struct rmai_job *job, const struct rmai_team *t, struct rmai_team_nodes *nodes);

#endif
