/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/team.h"
#include "base/error.h"
#include "runtime/net/group.h"
#include "runtime/reach.h"
#include "runtime/world.h"

#include <assert.h>
#include <string.h>

int rmai_team_number(const struct rmai_world *w, const struct rmai_team *t) { return (int)(t - w->teams->team); }

/* ---- which PEs ---- */

int rmai_team_index(const struct rmai_team *t, int pe) {
    int i;
    if (t->list) {
        for (i = 0; i < t->n; i++)
            if (t->list[i] == pe) return i;
        return -1;
    }
    if ((pe - t->start) % t->stride != 0) return -1;
    i = (pe - t->start) / t->stride;
    return i >= 0 && i < t->n ? i : -1;
}

/* A handle is not an address but a number: the generation, and 1 + the team's number. So the handle of a destroyed team
 * differs from that of the team that has its number now. */
rma_team *rmai_team_handle(const struct rmai_world *w, const struct rmai_team *t) {
    return (rma_team *)((uintptr_t)t->generation << 16 | (uintptr_t)(rmai_team_number(w, t) + 1));
}

struct rmai_team *rmai_team(struct rmai_world *w, const char *call, const rma_team *handle) {
    uintptr_t word = (uintptr_t)handle, number = (word & 0xffff) - 1;
    struct rmai_team *t = &w->teams->team[number < RMAI_TEAMS ? number : 0];
    if (rmai_running(call) != RMA_SUCCESS) return NULL;
    if (number < RMAI_TEAMS && t->live && t->generation == word >> 16) return t;
    if (handle == RMA_TEAM_INVALID)
        rmai_error(RMA_ERR_ARG, "%s: team is %s", call,
                   rmai_error_of_shmem(call) ? "SHMEM_TEAM_INVALID" : "RMA_TEAM_INVALID");
    else
        rmai_error(RMA_ERR_ARG, "%s: team %p is none, or has been destroyed", call, (const void *)handle);
    return NULL;
}

/* ---- meeting ---- */

struct rmai_group *rmai_team_group(const struct rmai_world *w, struct rmai_team *t) {
    struct rmai_group *g = &t->nodes.all;
    if (!g->net)
        *g = (struct rmai_group){.net = w->net,
                                 .tag = RMAI_TEAMS_TAG + rmai_team_number(w, t),
                                 .n = t->n,
                                 .me = t->me,
                                 .list = t->list,
                                 .start = t->start,
                                 .stride = t->stride,
                                 .team = t};
    return g;
}

/* Every near PE reads what every other one has posted. */
static void meet_near(struct rmai_mailboxes *near, void *data, size_t len, rmai_team_merge *merge) {
    rmai_mailbox_begin(near, 1, len);
    if (len) memcpy(rmai_mailbox_note(near, near->me), data, len);
    rmai_mailbox_meet(near);
    for (int i = 0; i < near->n && len; i++)
        if (i != near->me) merge(data, rmai_mailbox_note(near, i));
    rmai_mailbox_through(near);
}

/* The first near PE posts the data of all nodes; the others wait for that. */
static void hand_down(struct rmai_mailboxes *near, void *data, size_t len) {
    rmai_mailbox_begin(near, near->me == 0, len);
    if (near->me == 0) {
        if (len) memcpy(rmai_mailbox_note(near, 0), data, len);
        rmai_mailbox_post(near);
    } else {
        rmai_mailbox_hear(near, 0);
        if (len) memcpy(data, rmai_mailbox_note(near, 0), len);
    }
    rmai_mailbox_through(near);
}

int rmai_team_meet(struct rmai_world *w, const char *call, struct rmai_team *t, void *data, size_t len,
                   rmai_team_merge *merge) {
    struct rmai_mailboxes *near = &t->near;
    struct rmai_group *leaders = t == &w->teams->team[RMAI_TEAM_WORLD] ? w->leaders : &t->nodes.leaders;
    const int far = near->n < t->n;
    int code = RMA_SUCCESS;
    assert(len <= RMAI_TEAM_DATA && "the data fit into a note");
    if (far && leaders != w->leaders && !t->nodes.room)
        return rmai_group_merge(rmai_team_group(w, t), call, data, len, merge);
    near->call = call;
    if (near->n > 1) meet_near(near, data, len, merge);
    if (far && near->me == 0) code = rmai_group_merge(leaders, call, data, len, merge);
    if (far && near->n > 1) hand_down(near, data, len);
    return code;
}

int rmai_team_meet_last(struct rmai_world *w, const char *call, struct rmai_team *t) {
    if (t->near.n < t->n) return rmai_group_meet(rmai_team_group(w, t), call);
    t->near.call = call;
    rmai_mailbox_end(&t->near);
    return RMA_SUCCESS;
}
