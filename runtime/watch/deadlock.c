/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watch/deadlock.h"
#include "base/error.h"
#include "base/process.h"
#include "runtime/job/job.h"
#include "runtime/net/net.h"
#include "runtime/watch/sign.h"

#include <stdio.h>
#include <stdlib.h>

/* Censuses within the patience of a wait: one that asks the other nodes, one that hears their first answers, two that
 * confirm these, and one to spare. */
#define CENSUSES      5
#define CONFIRMATIONS 2
#define SAID_MOST     8

struct rmai_census {
    struct rmai_ping *ping[RMAI_CENSUS_PES]; /* to PEs of other nodes */
    struct rmai_sign sign[RMAI_CENSUS_PES];  /* of the last census */
    double due;                              /* the next one, as struct rmai_stall's `waited` */
    uint64_t of;                             /* the wait of this PE to which all this belongs */
    int confirmed;                           /* how many censuses in a row have found each PE as the one before did */
};

/* ---- this PE ---- */

void rmai_note_threads_of_mpi(struct rmai_watch *w) {
    w->threads = rmai_process_threads(w->thread, RMAI_THREADS_OF_MPI);
    w->handlers = rmai_process_handlers();
}

/* 1 if all threads of the process are the first one, the library's and MPI's. Those of MPI may end. */
static int has_known_threads(const struct rmai_watch *w) {
    int thread[RMAI_THREADS_OF_MPI], known = 0;
    const int n = rmai_process_threads(thread, RMAI_THREADS_OF_MPI);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < w->threads; k++) known += thread[i] == w->thread[k];
    return n > 0 && known == n;
}

static int is_alone(const struct rmai_watch *w) {
    return has_known_threads(w) && rmai_process_handlers() == w->handlers && !rmai_process_has_children();
}

/* 1 once the wait has lasted so long that it is looked at. */
static int is_looked_at(const struct rmai_stall *s, double patience) {
    return s->by_call && patience > 0 && s->waited * CENSUSES >= patience;
}

int rmai_wait_is_stuck(struct rmai_watch *w, struct rmai_stall *s, double patience) {
    if (!is_looked_at(s, patience)) return 0;
    if (!s->alone) s->alone = is_alone(w) ? 1 : -1;
    return s->alone == 1 && (!w->pings.net || rmai_net_rests(w->pings.net));
}

/* ---- all PEs ---- */

static int is_stuck(const struct rmai_sign *now, const struct rmai_sign *before) {
    return now->stuck && now->in[0] && now->wait == before->wait && now->rests > before->rests + 1;
}

/* Takes the sign of PE pe. That of a PE on another node is the answer to the question of the last census. */
static int look_at(struct rmai_watch *w, struct rmai_census *c, int pe) {
    const int slot = rmai_node_slot(w->job, pe);
    struct rmai_sign now = {.in = ""};
    if (slot >= 0) {
        rmai_sign_read(rmai_sign_of(w->job, w->sign_at, slot), &now);
    } else {
        if (c->ping[pe] && c->ping[pe]->answered) now = c->ping[pe]->sign;
        if (c->ping[pe]) rmai_ping_forget(c->ping[pe]);
        c->ping[pe] = rmai_ping_ask(&w->pings, pe);
    }
    const int stuck = is_stuck(&now, &c->sign[pe]);
    c->sign[pe] = now;
    return stuck;
}

static void end_deadlock(const struct rmai_watch *w, const struct rmai_stall *s, const struct rmai_census *c) {
    const int n = w->job->n_pes;
    for (int pe = 0; pe < n && pe < SAID_MOST; pe++)
        rmai_note("PE %d waits in %s%s%s%s%s", pe, c->sign[pe].in, c->sign[pe].place[0] ? " " : "", c->sign[pe].place,
                  c->sign[pe].until[0] ? ", until " : "", c->sign[pe].until);
    if (n > SAID_MOST) rmai_note("%d other PEs wait, too", n - SAID_MOST);
    rmai_error(RMA_ERR_STATE, "%s: deadlock: each of the %d PEs waits for a call of another one",
               rmai_error_name(s->call), n);
    rma_errors_abort(RMA_ERR_STATE, rma_last_error());
}

void rmai_census_take(struct rmai_watch *w, struct rmai_stall *s, double patience) {
    struct rmai_census *c = w->census;
    int stuck = 0;
    if (w->job->my_pe != 0 || w->job->n_pes < 2 || w->job->n_pes > RMAI_CENSUS_PES || !w->job->settings.stall ||
        !w->job->settings.timeout || !is_looked_at(s, patience))
        return;
    if (!c) c = w->census = calloc(1, sizeof *c);
    if (!c || (c->of == w->waits && s->waited < c->due)) return;
    if (c->of != w->waits) c->confirmed = 0;
    c->of = w->waits;
    c->due = s->waited + patience / CENSUSES;
    for (int pe = 0; pe < w->job->n_pes; pe++) stuck += look_at(w, c, pe);
    c->confirmed = stuck == w->job->n_pes ? c->confirmed + 1 : 0;
    if (c->confirmed == CONFIRMATIONS) end_deadlock(w, s, c);
}

void rmai_census_end(struct rmai_watch *w) {
    struct rmai_census *c = w->census;
    if (!c) return;
    for (int pe = 0; pe < RMAI_CENSUS_PES; pe++)
        if (c->ping[pe]) rmai_ping_forget(c->ping[pe]);
    free(c);
    w->census = NULL;
}
