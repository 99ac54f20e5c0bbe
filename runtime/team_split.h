/* SPDX-License-Identifier: BSD-3-Clause */
/* The two steps of a split of a team. All PEs of the parent take part in each of them. Callers find out between the two
 * which PEs the new team has. */
#ifndef RMAI_TEAM_SPLIT_H
#define RMAI_TEAM_SPLIT_H

#include "rma.h"

struct rmai_statement;
struct rmai_team;
struct rmai_world;

/* rmai_split_settle: the PEs of the parent compare what they state (runtime/compare), and agree on a number for the new
 * team, which is free on all PEs that will be in it. To a PE that will not be in it (`joins` is 0) any number will do.
 * Returns RMA_SUCCESS on all PEs, with *number, or an error on all PEs. */
int rmai_split_settle(struct rmai_world *w, const char *call, struct rmai_team *parent,
                      const struct rmai_statement *mine, int joins, int *number);

/* rmai_split_found makes `made` team number `number` on this PE, and *team its handle. made->n is 0 on PEs that are not
 * in the new team, which may have another team of this number, and -1 where this PE had no memory for its list.
 * `stated` is what this PE has stated before; its `code` is an error that this PE has met since then. Returns
 * RMA_SUCCESS on all PEs, or an error on all PEs: made->list is then freed. */
int rmai_split_found(struct rmai_world *w, const char *call, struct rmai_team *parent, int number,
                     const struct rmai_statement *stated, struct rmai_team *made, rma_team **team);

#endif
