/* SPDX-License-Identifier: BSD-3-Clause */
/* A team of several nodes learns them (struct rmai_team_nodes in runtime/team.h) in the first of its collectives that
 * moves data: most teams never need to. */
#ifndef RMAI_NODES_H
#define RMAI_NODES_H

struct rmai_world;
struct rmai_team;

/* rmai_nodes_ready fills in t->nodes (collective over t, which is on several nodes), if that has not been done. Returns
 * RMA_SUCCESS, or on all PEs an error: RMA_ERR_NO_MEM, RMA_ERR_MPI. */
int rmai_nodes_ready(struct rmai_world *w, const char *call, struct rmai_team *t);

#endif
