/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers and syncs of a team. After a barrier all earlier operations are complete and all PEs have arrived; after a
 * sync all PEs have arrived, and nothing else is promised. The job and the node have barriers of their own
 * (runtime/node/barrier), teams of one node meet by their mailboxes (runtime/node/mailbox), others by rounds
 * (runtime/team). */
#include "config.h"

#include "collectives/call.h"
#include "base/error.h"
#include "runtime/context.h"
#include "runtime/meet.h"
#include "runtime/node/mailbox.h"
#include "runtime/reach.h"
#include "runtime/team.h"
#include "runtime/world.h"

static int sync_team(struct rmai_world *w, const char *call, struct rmai_team *t) {
    if (t == &w->teams->team[RMAI_TEAM_WORLD]) return rmai_meet_only(w, call);
    if (t == &w->teams->team[RMAI_TEAM_SHARED]) {
        rmai_meet_node(w, call);
        return RMA_SUCCESS;
    }
    if (t->near.n < t->n) return rmai_team_meet(w, call, t, NULL, 0, NULL);
    t->near.call = call;
    rmai_statement_say(t->near.said, &(struct rmai_statement){.call = RMAI_CALL_SYNC});
    rmai_mailbox_sync(&t->near);
    return RMA_SUCCESS;
}

int rma_barrier_all(void) {
    int code = rmai_running("rma_barrier_all");
    if (code == RMA_SUCCESS) code = rmai_meet(&rmai_world, "rma_barrier_all");
    return rmai_raise(code);
}

int rma_sync_all(void) {
    int code = rmai_running("rma_sync_all");
    if (code == RMA_SUCCESS) code = rmai_meet_only(&rmai_world, "rma_sync_all");
    return rmai_raise(code);
}

int rma_team_sync(rma_team *team) {
    struct rmai_world *w = &rmai_world;
    struct rmai_team *t = rmai_team(w, "rma_team_sync", team);
    return rmai_raise(t ? sync_team(w, "rma_team_sync", t) : rma_last_code());
}

int rma_team_barrier(rma_team *team) {
    struct rmai_world *w = &rmai_world;
    struct rmai_team *t = rmai_team(w, "rma_team_barrier", team);
    int code, met;
    if (!t) return rmai_raise(rma_last_code());
    /* A PE that could not complete its puts still meets the others: otherwise they would wait for it for ever. */
    code = rmai_quiet_default(w, "rma_team_barrier");
    met = sync_team(w, "rma_team_barrier", t);
    return rmai_raise(code != RMA_SUCCESS ? code : met);
}
