/* SPDX-License-Identifier: BSD-3-Clause */
/* The two steps of a split of a team. All PEs of the parent take part in each of them. Between the two the caller finds
 * out which PEs the new team has. */
#ifndef RMAI_TEAM_SPLIT_H
#define RMAI_TEAM_SPLIT_H

#include "rma.h"

struct rmai_statement;
struct rmai_team;
struct rmai_world;

/* rmai_split_settle: the PEs of the parent compare what they state (runtime/compare), and agree on a number for the new
 * team that is free on all PEs that will be in it. A PE that will not be in it (`joins` is 0) accepts any number.
 * Returns RMA_SUCCESS on all PEs, with *number, or an error on all PEs. */
int rmai_split_settle(struct rmai_world *w, const char *call, struct rmai_team *parent,
                      const struct rmai_statement *mine, int joins, int *number);

/* rmai_split_found enters `made` as team number `number` on this PE, and sets *team to its handle. made->n is 0 on PEs
 * that are not in the new team (they may have another team of this number), and -1 on a PE that had no memory for the
 * list. `stated` is what this PE has stated before; its `code` is an error that has occurred on this PE since then.
 * Returns RMA_SUCCESS on all PEs, or an error on all PEs: made->list is then freed. */
int rmai_split_found(struct rmai_world *w, const char *call, struct rmai_team *parent, int number,
                     const struct rmai_statement *stated, struct rmai_team *made, rma_team **team);

#endif
