/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/stall.h"
#include "base/error.h"
#include "runtime/world.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_TIME 1.0 /* seconds that an answer may take until it is missed */
#define ASKED_MOST 256  /* of very many PEs of other nodes the first ones tell enough */
#define SAID_MOST 8

struct rmai_question {
    int pe, missed;
    double at;
    struct rmai_waiter waiter;
    char in[64]; /* the call that the PE is in */
};

static void ask(struct rmai_world *w, struct rmai_stall *s, const char *call, int pe, const struct rmai_team *team, double now) {
    int n = pe >= 0 ? 1 : team ? team->n : w->n_nodes, most = (int)rmai_min((size_t)n, ASKED_MOST);
    s->asked = calloc((size_t)most, sizeof *s->asked);
    for (int i = 0; s->asked && i < n && s->n < most; i++) {
        struct rmai_question *q = &s->asked[s->n];
        *q = (struct rmai_question){.pe = pe >= 0 ? pe : team ? rmai_team_pe(team, i) : rmai_net_leader(&w->net, i), .at = now};
        if (rmai_node_slot(w, q->pe) >= 0) continue; /* who is lost there, the launcher sees */
        rmai_far_ping(w, call, q->pe, &q->waiter, q->in, sizeof q->in - 1);
        s->n++;
    }
}

static void say(const struct rmai_world *w, const struct rmai_stall *s, const char *call, const struct rmai_question *q, double now) {
    const char *thread = w->watched ? "" : " (without the thread of RMA_PROGRESS it answers only from within a call)";
    if (q->waiter.left)
        rmai_note("PE %d of %d on %s has waited %.0f s in %s: PE %d does not answer%s", w->my_pe, w->n_pes, w->host, now - s->since, call,
                  q->pe, thread);
    else if (q->in[0])
        rmai_note("PE %d of %d on %s has waited %.0f s in %s: PE %d answers, and waits in %s", w->my_pe, w->n_pes, w->host,
                  now - s->since, call, q->pe, q->in);
    else
        rmai_note("PE %d of %d on %s has waited %.0f s in %s: PE %d answers, and waits in no call to another node", w->my_pe, w->n_pes,
                  w->host, now - s->since, call, q->pe);
}

static void give_up(const struct rmai_world *w, const char *call, const struct rmai_question *q, double now) {
    rmai_error(RMA_ERR_SYSTEM, "%s: PE %d has not answered for %.0f s (RMA_TIMEOUT): its host or the way there is gone", call, q->pe,
               now - q->at);
    rma_errors_abort(RMA_ERR_SYSTEM, rma_last_error());
    (void)w;
}

/* What has come of the questions. Returns 1 if all have been answered. */
static int judge(struct rmai_world *w, struct rmai_stall *s, const char *call, double now) {
    int silent = 0, said = 0;
    for (int i = 0; i < s->n; i++) {
        struct rmai_question *q = &s->asked[i];
        /* At a meeting those who are in it too wait as we do. */
        int news = q->waiter.left ? !q->missed : !q->missed && strcmp(q->in, call) != 0;
        silent += q->waiter.left > 0;
        if (news && w->settings.stall && said++ < SAID_MOST) say(w, s, call, q, now);
        q->missed = 1;
        if (q->waiter.left && w->watched && w->settings.timeout && now > q->at + (double)w->settings.timeout) give_up(w, call, q, now);
    }
    return silent == 0;
}

static void forget(struct rmai_world *w, struct rmai_stall *s) {
    for (int i = 0; i < s->n; i++)
        if (s->asked[i].waiter.left) rmai_far_forget(w, &s->asked[i].waiter);
    free(s->asked);
    s->asked = NULL;
    s->n = 0;
}

void rmai_stall_look(struct rmai_world *w, struct rmai_stall *s, const char *call, int pe, const struct rmai_team *team) {
    double now = rma_wtime(), patience = (double)(w->settings.stall ? w->settings.stall : w->settings.timeout);
    if (s->since == 0) {
        s->since = now;
        s->next = now + patience;
    }
    if (now < s->next || patience == 0) return;
    if (!s->asked) {
        ask(w, s, call, pe, team, now);
        s->next = now + ANSWER_TIME;
    } else if (judge(w, s, call, now)) {
        forget(w, s);
        s->next = now + patience;
    } else {
        s->next = now + ANSWER_TIME;
    }
}

void rmai_stall_end(struct rmai_world *w, struct rmai_stall *s) { forget(w, s); }
