/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes a team has (struct rmai_team_nodes in runtime/team.h). A team on several nodes finds out in its first
 * collective that moves data; most teams never make such a call. */
#ifndef RMAI_NODES_H
#define RMAI_NODES_H

struct rmai_world;
struct rmai_team;

/* rmai_nodes_ready fills in t->nodes, unless an earlier call has (collective over t, which is on several nodes).
 * Returns RMA_SUCCESS; RMA_ERR_NO_MEM on all PEs, if one of them lacks memory; or an error of the group, perhaps on one
 * PE alone, whose next calls then also fail. */
int rmai_nodes_ready(struct rmai_world *w, const char *call, struct rmai_team *t);

#endif
