/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/meet.h"
#include "runtime/context.h"
#include "runtime/net/group.h"
#include "runtime/node/barrier.h"
#include "runtime/world.h"

int rmai_meet_only(struct rmai_world *w, const char *call) {
    int code = RMA_SUCCESS;
    rmai_barrier_node(w->barrier, call);
    if (w->job.n_nodes == 1) return code;
    if (w->job.node_my_pe == 0) code = rmai_group_meet(w->leaders, call);
    rmai_barrier_node(w->barrier, call);
    return code;
}

int rmai_meet(struct rmai_world *w, const char *call) {
    int code = rmai_quiet_default(w, call), met = rmai_meet_only(w, call);
    return code != RMA_SUCCESS ? code : met;
}
