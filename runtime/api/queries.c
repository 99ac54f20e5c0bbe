/* SPDX-License-Identifier: BSD-3-Clause */
/* The public queries: PE numbers, counts, nodes and hosts, of the job and of teams; clock and version. They change
 * nothing. */
#include "config.h"

#include "base/clock.h"
#include "base/error.h"
#include "runtime/job/job.h"
#include "runtime/reach.h"
#include "runtime/team.h"
#include "runtime/world.h"

/* ---- the job ---- */

int rma_initialized(void) { return rma_reach_.running && rmai_references(&rmai_world) > 0; }

#define QUERY(NAME, VALUE)                                                                                             \
    int NAME(void) {                                                                                                   \
        if (rmai_running(#NAME) == RMA_SUCCESS) return VALUE;                                                          \
        rmai_raise(RMA_ERR_STATE);                                                                                     \
        return -1;                                                                                                     \
    }

QUERY(rma_my_pe, rmai_world.job.my_pe)
QUERY(rma_n_pes, rmai_world.job.n_pes)
QUERY(rma_node_my_pe, rmai_world.job.node_my_pe)
QUERY(rma_node_n_pes, rmai_world.job.node_n_pes)
QUERY(rma_my_node, rmai_world.job.my_node)
QUERY(rma_n_nodes, rmai_world.job.n_nodes)

int rma_on_node(int pe) {
    int code = rmai_running("rma_on_node");
    if (code == RMA_SUCCESS) code = rmai_check_pe(&rmai_world.job, "rma_on_node", "PE", pe);
    if (rmai_raise(code) != RMA_SUCCESS) return 0;
    return rmai_node_slot(&rmai_world.job, pe) >= 0;
}

/* ---- teams ---- */

int rma_team_my_pe(const rma_team *team) {
    struct rmai_team *t = team == RMA_TEAM_INVALID ? NULL : rmai_team(&rmai_world, "rma_team_my_pe", team);
    if (!t && team != RMA_TEAM_INVALID) rmai_raise(rma_last_code());
    return t ? t->me : -1;
}

int rma_team_n_pes(const rma_team *team) {
    struct rmai_team *t = team == RMA_TEAM_INVALID ? NULL : rmai_team(&rmai_world, "rma_team_n_pes", team);
    if (!t && team != RMA_TEAM_INVALID) rmai_raise(rma_last_code());
    return t ? t->n : -1;
}

int rma_team_translate_pe(const rma_team *team, int pe, const rma_team *other) {
    static const char call[] = "rma_team_translate_pe";
    struct rmai_team *from, *to;
    if (team == RMA_TEAM_INVALID || other == RMA_TEAM_INVALID) return -1;
    from = rmai_team(&rmai_world, call, team);
    to = from ? rmai_team(&rmai_world, call, other) : NULL;
    if (!to) {
        rmai_raise(rma_last_code());
        return -1;
    }
    if (pe < 0 || pe >= from->n) {
        rmai_raise(rmai_error(RMA_ERR_PE, "%s: PE %d is outside 0..%d of the team", call, pe, from->n - 1));
        return -1;
    }
    return rmai_team_index(to, rmai_team_pe(from, pe));
}

void *rma_team_ptr(const rma_team *team, const void *addr, int pe) {
    static const char call[] = "rma_team_ptr";
    const struct rmai_team *t = team == RMA_TEAM_INVALID ? NULL : rmai_team(&rmai_world, call, team);
    if (team == RMA_TEAM_INVALID) return NULL;
    if (t && pe >= 0 && pe < t->n) return rma_ptr(addr, rmai_team_pe(t, pe));
    rmai_raise(t ? rmai_error(RMA_ERR_PE, "%s: PE %d is outside 0..%d of the team", call, pe, t->n - 1)
                 : rma_last_code());
    return NULL;
}

/* ---- what needs no runtime ---- */

double rma_wtime(void) { return rmai_wtime(); }

const char *rma_version(void) { return RMA_VERSION; }
