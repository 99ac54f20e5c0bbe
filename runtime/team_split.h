/* SPDX-License-Identifier: BSD-3-Clause */
/* What a split of a team is made of, for splits whose PEs the caller finds (collectives/split_color). All PEs of the
 * parent make the calls. */
#ifndef RMAI_TEAM_SPLIT_H
#define RMAI_TEAM_SPLIT_H

#include "rma.h"

struct rmai_team;
struct rmai_world;

/* rmai_split_agree: the PEs of the parent tell each other `code`, what each has found of its arguments, and settle on a
 * number that is free on all PEs for which `joins` is not 0. Returns RMA_SUCCESS on all PEs, with *number, or an error
 * on all PEs. */
int rmai_split_agree(struct rmai_world *w, const char *call, struct rmai_team *parent, int code, int joins,
                     int *number);

/* rmai_split_found: if `code` is RMA_SUCCESS on all PEs of the parent, *made becomes this PE's team of that number, and
 * *team its handle; made->n is 0 on a PE that is in none. Else all PEs return an error, and made->list is freed. */
int rmai_split_found(struct rmai_world *w, const char *call, struct rmai_team *parent, int code, int number,
                     struct rmai_team *made, rma_team **team);

#endif
