/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/team_table.h"
#include "base/error.h"
#include "heap/reserve.h"
#include "heap/segment.h"
#include "runtime/compare.h"
#include "runtime/header.h"
#include "runtime/job/job.h"
#include "runtime/node/barrier.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"
#include "runtime/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(RMAI_MAILBOXES_AT + RMAI_TEAMS * sizeof(struct rmai_mailbox) <= RMAI_STRIPES_AT,
               "the mailboxes of all teams fit");

static struct rmai_mailbox *own_mailbox(const struct rmai_world *w, int number) {
    return (struct rmai_mailbox *)(void *)(rmai_job_space(&w->job, w->job.node_my_pe) + rmai_mailbox_at(number));
}

/* ---- the two that always exist ---- */

void rmai_teams_none(struct rmai_teams *all) {
    /* Entries that were never used stay untouched: the table has 19 KiB. */
    for (int i = 0; i < RMAI_TEAMS; i++)
        if (all->team[i].n) memset(&all->team[i], 0, sizeof all->team[i]);
    all->free = all->committed = 0;
    all->rounds = 0;
}

/* The words of the first numbers follow the header and each other, and so do their mailboxes. */
int rmai_teams_commit(struct rmai_world *w) {
    const size_t standing = RMAI_TEAM_SHARED + 1;
    int code;
    w->teams->rounds = rmai_team_rounds(w->job.n_pes);
    code = rmai_commit(&w->reservation, rmai_header(&w->job, w->job.node_my_pe), rmai_team_words_at(w, (int)standing));
    return code == RMA_SUCCESS
               ? rmai_commit(&w->reservation, own_mailbox(w, RMAI_TEAM_WORLD), standing * sizeof(struct rmai_mailbox))
               : code;
}

static int open_mailboxes(struct rmai_world *w, const char *call, struct rmai_team *t, int number) {
    int code, *index_of = malloc((size_t)w->job.node_n_pes * sizeof *index_of);
    if (!index_of) return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for the %d PEs of a node", call, w->job.node_n_pes);
    for (int q = 0; q < w->job.node_n_pes; q++) index_of[q] = rmai_team_index(t, w->job.node_pes[q]);
    code = rmai_mailbox_open(&t->near, &w->job, &w->barrier->patience, call, number, index_of, w->barrier->crowded);
    t->near.differ = rmai_compare_differ;
    free(index_of);
    return code;
}

int rmai_teams_open(struct rmai_world *w) {
    struct rmai_teams *all = w->teams;
    int step = w->job.node_n_pes > 1 ? w->job.node_pes[1] - w->job.node_pes[0] : 1, regular = 1, code;
    rmai_teams_none(all);
    all->rounds = rmai_team_rounds(w->job.n_pes);
    all->free = ~(uint64_t)3;
    all->committed = 3;
    all->team[RMAI_TEAM_WORLD] = (struct rmai_team){.stride = 1, .n = w->job.n_pes, .me = w->job.my_pe, .live = 1};
    for (int i = 1; i < w->job.node_n_pes; i++) regular &= w->job.node_pes[i] - w->job.node_pes[i - 1] == step;
    all->team[RMAI_TEAM_SHARED] = (struct rmai_team){
        .start = w->job.node_pes[0], .stride = step, .n = w->job.node_n_pes, .me = w->job.node_my_pe, .live = 1};
    if (!regular) all->team[RMAI_TEAM_SHARED].list = w->job.node_pes;
    code = open_mailboxes(w, "rma_init", &all->team[RMAI_TEAM_WORLD], RMAI_TEAM_WORLD);
    if (code == RMA_SUCCESS) code = open_mailboxes(w, "rma_init", &all->team[RMAI_TEAM_SHARED], RMAI_TEAM_SHARED);
    for (int i = 0; i < 2; i++) all->team[i].near.team = &all->team[i];
    return code;
}

void rmai_teams_clear(struct rmai_world *w) {
    for (int number = RMAI_TEAM_WORLD; number <= RMAI_TEAM_SHARED; number++) {
        rmai_team_clear_words(w, &w->teams->team[number]);
        rmai_mailbox_clear(own_mailbox(w, number));
    }
}

void rmai_teams_close(struct rmai_world *w) {
    for (int i = 0; i < RMAI_TEAMS; i++)
        if (w->teams->team[i].live) rmai_team_remove(w, &w->teams->team[i]);
}

/* ---- the others ---- */

static int commit_number(struct rmai_world *w, const char *call, int number) {
    const size_t at = rmai_team_words_at(w, number), end = rmai_team_words_at(w, number + 1);
    int code = rmai_commit(&w->reservation, rmai_job_space(&w->job, w->job.node_my_pe) + at, end - at);
    if (code == RMA_SUCCESS) code = rmai_commit(&w->reservation, own_mailbox(w, number), sizeof(struct rmai_mailbox));
    if (code != RMA_SUCCESS) rmai_error_prefix("%s: ", call);
    return code;
}

int rmai_team_prepare(struct rmai_world *w, const char *call, int number, struct rmai_team *made) {
    const uint64_t bit = (uint64_t)1 << number;
    assert(number > RMAI_TEAM_SHARED && number < RMAI_TEAMS && w->teams->free & bit && "the number was free");
    if (!(w->teams->committed & bit)) {
        int code = commit_number(w, call, number);
        if (code != RMA_SUCCESS) return code;
        w->teams->committed |= bit;
    }
    rmai_team_clear_words(w, &w->teams->team[number]);
    rmai_mailbox_clear(own_mailbox(w, number));
    return open_mailboxes(w, call, made, number);
}

struct rmai_team *rmai_team_add(struct rmai_world *w, int number, const struct rmai_team *made) {
    struct rmai_team *t = &w->teams->team[number];
    assert(!t->live && made->me >= 0 && made->me < made->n && "a PE makes only teams that it is in");
    *t = *made;
    t->near.team = t;
    t->generation = ++w->teams->generations;
    t->live = 1;
    w->teams->free &= ~((uint64_t)1 << number);
    return t;
}

void rmai_team_remove(struct rmai_world *w, struct rmai_team *t) {
    if (t->list != w->job.node_pes) free(t->list);
    t->list = NULL;
    rmai_mailbox_close(&t->near);
    free(t->nodes.room);
    memset(&t->nodes, 0, sizeof t->nodes);
    t->live = 0;
    w->teams->free |= (uint64_t)1 << rmai_team_number(w, t);
}
