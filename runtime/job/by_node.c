/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/job/by_node.h"
#include "base/settings.h"
#include "base/size.h"
#include "runtime/job/job.h"

/* The number of this PE's proxy on a node of n PEs. The PEs of one node have different proxies there, if it has enough
 * PEs; PEs with the same number on different nodes also have different ones. */
static uint32_t proxy_of(const struct rmai_job *job, uint32_t n) {
    return n ? ((uint32_t)job->node_my_pe + (uint32_t)job->my_node) % n : 0;
}

void rmai_by_node_open(struct rmai_by_node *b, const struct rmai_job *job) {
    const uint32_t n_pes = (uint32_t)job->n_pes, n_nodes = (uint32_t)job->n_nodes, most = (uint32_t)job->node_most;
    uint32_t least; /* PEs of the nodes that have fewer */
    *b = (struct rmai_by_node){.in_turn = job->placement == RMAI_PLACED_IN_TURN};
    if (job->placement == RMAI_PLACED_ANYHOW || most < 2 || n_nodes < 2 || !job->all_progress ||
        job->statics_mode == RMAI_STATICS_WINDOW)
        return;
    b->size = b->in_turn ? n_nodes : most;
    b->more = b->in_turn ? n_pes % n_nodes : n_pes / most;
    least = b->in_turn ? n_pes / n_nodes : n_pes % most;
    b->to[0] = proxy_of(job, least);
    b->to[1] = proxy_of(job, b->in_turn ? least + 1 : most);
    b->most = most;
    b->open = 1;
}
