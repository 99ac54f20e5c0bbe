/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watch/stall.h"
#include "base/attributes.h"
#include "base/caller.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "runtime/job/job.h"
#include "runtime/net/group.h"
#include "runtime/net/net.h"
#include "runtime/net/progress.h"
#include "runtime/watch/deadlock.h"
#include "runtime/watch/sign.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds. DEATH_TIME is longer than it takes to end a job: a PE that ends the job on purpose also looks dead, and its
 * neighbours must not report it before the launcher has ended them. */
#define ANSWER_TIME 1.0  /* an answer that takes longer is reported as missing */
#define ANSWER_STEP 0.01 /* between checks for answers */
#define PROBE_TIME  0.5  /* between two checks whether neighbours have died */
#define PLACE_PART  0.2  /* of the time until the first report: then the wait looks up the line of the call */
#define DEATH_TIME  1.0  /* so long a neighbour has to be dead before it is reported */

#define ASKED_MOST RMAI_PINGS /* PEs asked at a time */
#define SAID_MOST  8

/* One PE that a wait is for. */
struct rmai_question {
    int pe;
    int slot;               /* its number on this node, or -1 */
    int missed;             /* the report about it has been made */
    double at;              /* the value of s->waited when the PE was asked */
    struct rmai_ping *ping; /* the ping to a PE of another node, until it is answered; NULL: it could not be sent */
    int silent;
    struct rmai_sign sign;
};

/* ---- the call that this PE waits in ---- */

/* Writes the name of the public call, and the number of the team that meets in it: PEs that wait in the same call of
 * different teams must not seem to be in the same meeting. */
static void name_wait(const struct rmai_watch *w, const struct rmai_stall *s, char text[RMAI_WAITING_TEXT]) {
    const int number = s->meeting ? w->team_number(s->meeting) : 0;
    const char *call = rmai_error_name(s->call);
    if (number == 0)
        snprintf(text, RMAI_WAITING_TEXT, "%s", call);
    else
        snprintf(text, RMAI_WAITING_TEXT, "%s (team %d)", call, number);
}

void rmai_stall_publish(struct rmai_watch *w, const char *name) {
    struct rmai_sign sign = {.wait = w->waits};
    snprintf(sign.in, sizeof sign.in, "%s", name);
    rmai_sign_show(rmai_sign_of(w->job, w->sign_at, w->job->node_my_pe), &sign);
}

/* ---- whom a wait is for ---- */

/* A wait may depend on another PE although all its own PEs answer: one of these may be in a loop of rma_test_lock, for
 * a lock whose holder has died. So every second round of questions goes to all PEs, and a PE that does not answer is
 * found wherever it is. (Without progress threads a PE that computes does not answer either.) */
static int asks_everybody(const struct rmai_watch *w, const struct rmai_stall *s) {
    return s->rounds % 2 && (w->job->all_progress || w->job->n_nodes == 1);
}
static enum rmai_awaited asked_ones(const struct rmai_watch *w, const struct rmai_stall *s) {
    return asks_everybody(w, s) ? RMAI_AWAITED_ANY : s->awaited;
}

/* Returns PE number i of those to ask, or -1 if there are no more. If it asks all PEs, each PE begins with itself, so
 * that not all ask the same ones, and the next time with the PEs after those that it has asked before: it asks
 * ASKED_MOST at a time. */
static int asked_pe(const struct rmai_watch *w, const struct rmai_stall *s, int i) {
    switch (asked_ones(w, s)) {
        case RMAI_AWAITED_PE: return i == 0 ? s->pe : -1;
        case RMAI_AWAITED_TEAM: return w->team_pe(s->team, i);
        case RMAI_AWAITED_NODE: return i < w->job->node_n_pes ? w->job->node_pes[i] : -1;
        case RMAI_AWAITED_LEADERS: return i < w->job->n_nodes ? rmai_group_pe(w->leaders, i) : -1;
        case RMAI_AWAITED_ANY:
        case RMAI_AWAITED_ALIVE:
        case RMAI_AWAITED_TESTED:
            if (i >= w->job->n_pes) return -1;
            return (int)(((long)w->job->my_pe + i + (long)(s->rounds / 2) * ASKED_MOST) % w->job->n_pes);
    }
    return -1;
}

/* ---- PEs of this node ---- */

/* RMAI_PROCESS_LIVES also if the PE runs in another container: this PE cannot see its process. */
static enum rmai_process_state neighbour_state(const struct rmai_watch *w, int slot) {
    return rmai_same_pids(w->job, slot) ? rmai_process_state(rmai_facts(w->job, slot)->pid) : RMAI_PROCESS_LIVES;
}

/* Ends the job if a neighbour has died, whether this wait is for it or not: without it no job ends in order. A PE may
 * have written the awaited word just before it died: so two checks have to find the neighbour dead, and between them
 * the caller reads the word again. */
static void find_dead(struct rmai_watch *w, struct rmai_stall *s) {
    int before = s->suspect;
    if (s->waited < s->probe || s->awaited == RMAI_AWAITED_ALIVE) return;
    s->suspect = 0;
    s->probe = s->waited + PROBE_TIME;
    for (int q = 0; q < w->job->node_n_pes && !s->suspect; q++)
        if (q != w->job->node_my_pe && neighbour_state(w, q) == RMAI_PROCESS_GONE) s->suspect = 1 + w->job->node_pes[q];
    if (s->suspect != before) s->suspected = s->waited;
    if (s->suspect && s->waited >= s->suspected + DEATH_TIME) {
        rmai_error(RMA_ERR_SYSTEM, "%s: PE %d has died (process %d of this host)", rmai_error_name(s->call),
                   s->suspect - 1, rmai_facts(w->job, rmai_node_slot(w->job, s->suspect - 1))->pid);
        rma_errors_abort(RMA_ERR_SYSTEM, rma_last_error());
    }
}

/* ---- asking ---- */

static void ask_neighbour(const struct rmai_watch *w, const struct rmai_stall *s, struct rmai_question *q) {
    enum rmai_process_state state = neighbour_state(w, q->slot);
    int silent = state == RMAI_PROCESS_STOPPED || (state == RMAI_PROCESS_GONE && s->awaited != RMAI_AWAITED_ALIVE);
    if (silent && !q->silent) q->at = s->waited;
    q->silent = silent;
    rmai_sign_read(rmai_sign_of(w->job, w->sign_at, q->slot), &q->sign);
}

static void ask_all(struct rmai_watch *w, struct rmai_stall *s) {
    s->asked = calloc(ASKED_MOST, sizeof *s->asked);
    for (int i = 0, pe; s->asked && s->n < ASKED_MOST && (pe = asked_pe(w, s, i)) >= 0; i++) {
        struct rmai_question *q = &s->asked[s->n];
        if (pe == w->job->my_pe) continue;
        *q = (struct rmai_question){.pe = pe, .slot = rmai_node_slot(w->job, pe), .at = s->waited};
        /* Without progress threads a PE that computes does not answer, and a loop of tests reports only certain news.
         */
        if (q->slot < 0 && s->awaited == RMAI_AWAITED_TESTED && !w->job->all_progress) continue;
        if (q->slot < 0) {
            q->ping = rmai_ping_ask(&w->pings, pe);
            if (!q->ping) continue; /* all places for pings are in use: try again later */
            q->silent = 1;
        }
        s->n++;
    }
}

/* Returns 1 if an answer of another node may still come. */
static int hear_answers(struct rmai_watch *w, struct rmai_stall *s) {
    int due = 0;
    for (int i = 0; i < s->n; i++) {
        struct rmai_question *q = &s->asked[i];
        if (q->slot >= 0) {
            ask_neighbour(w, s, q);
        } else if (q->ping && q->ping->answered) {
            q->sign = q->ping->sign;
            q->silent = 0;
            rmai_ping_forget(q->ping);
            q->ping = NULL;
        } else {
            due |= q->ping != NULL;
        }
    }
    return due;
}

static void drop_questions(struct rmai_stall *s) {
    free(s->asked);
    s->asked = NULL;
    s->n = 0;
}

static void forget_questions(struct rmai_stall *s) {
    for (int i = 0; i < s->n; i++)
        if (s->asked[i].ping) rmai_ping_forget(s->asked[i].ping);
    drop_questions(s);
}

/* ---- reports ---- */

__attribute__((format(printf, 3, 4))) static void report(const struct rmai_watch *w, const struct rmai_stall *s,
                                                         const char *format, ...) {
    char name[RMAI_WAITING_TEXT], news[400], what[RMAI_WAITING_DETAIL] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(news, sizeof news, format, args);
    va_end(args);
    name_wait(w, s, name);
    if (s->describe) s->describe(s->described, what);
    rmai_note("%s has waited %.0f s in %s%s%s%s%s%s%s", rmai_error_who(), s->waited, name,
              s->place && *s->place ? " " : "", s->place ? s->place : "", what[0] ? ", until " : "", what,
              *w->exiting ? " (its program has ended)" : "", news);
}

static void report_question(const struct rmai_watch *w, const struct rmai_stall *s, const struct rmai_question *q) {
    if (q->silent && q->slot >= 0)
        report(w, s, ": PE %d %s (process %d of this host)", q->pe,
               neighbour_state(w, q->slot) == RMAI_PROCESS_GONE ? "has died" : "is stopped",
               rmai_facts(w->job, q->slot)->pid);
    else if (q->silent && w->job->all_progress)
        report(w, s, ": PE %d does not answer", q->pe);
    else if (q->silent)
        report(w, s, ": PE %d does not answer (without the thread of RMA_PROGRESS it answers only from within a call)",
               q->pe);
    else if (q->slot >= 0 && !rmai_same_pids(w->job, q->slot))
        report(w, s, ": PE %d is in another container, where it cannot be looked at", q->pe);
    else
        report(w, s, ": PE %d answers, and waits in %s%s%s%s%s", q->pe, q->sign.in[0] ? q->sign.in : "no call",
               q->sign.place[0] ? " " : "", q->sign.place, q->sign.until[0] ? ", until " : "", q->sign.until);
}

/* If no particular PE has to end the wait, one line for all is enough as long as all answer. Otherwise each PE waits
 * for one of the others, or for a lost message. */
static void report_all(const struct rmai_watch *w, const struct rmai_stall *s, int none_has_to) {
    if (none_has_to && s->n == 1)
        report(w, s, ": any PE may end that; 1 PE was asked, and answers");
    else if (none_has_to)
        report(w, s, ": any PE may end that; %d PEs were asked, all answer", s->n);
    else if (s->n == 1)
        report(w, s, ": PE %d answers, and waits in the same call", s->asked[0].pe);
    else
        report(w, s, ": all %d PEs that were asked answer, and wait in the same call", s->n);
}

static void end_stalled_job(const struct rmai_watch *w, const struct rmai_stall *s, const struct rmai_question *q) {
    const char *call = rmai_error_name(s->call);
    if (q->slot >= 0)
        rmai_error(RMA_ERR_SYSTEM, "%s: PE %d (process %d of this host) has been stopped for %.0f s (RMA_TIMEOUT)",
                   call, q->pe, rmai_facts(w->job, q->slot)->pid, s->waited - q->at);
    else
        rmai_error(RMA_ERR_SYSTEM,
                   "%s: PE %d has not answered for %.0f s (RMA_TIMEOUT): its host or the way there is gone", call,
                   q->pe, s->waited - q->at);
    rma_errors_abort(RMA_ERR_SYSTEM, rma_last_error());
}

/* 1 if no particular PE has to end the wait: PEs that answer may wait for anything. */
static int none_has_to(const struct rmai_watch *w, const struct rmai_stall *s) {
    return asked_ones(w, s) == RMAI_AWAITED_ANY || s->awaited == RMAI_AWAITED_ALIVE ||
           s->awaited == RMAI_AWAITED_TESTED;
}

/* Reports the answers and the silent PEs, and ends the job if a PE has been silent for too long. Returns the number of
 * silent PEs. */
static int judge_answers(struct rmai_watch *w, struct rmai_stall *s) {
    const int speaks = w->job->settings.stall > 0;
    int silent = 0, said = 0;
    char name[RMAI_WAITING_TEXT];
    name_wait(w, s, name);
    for (int i = 0; i < s->n; i++) {
        struct rmai_question *q = &s->asked[i];
        /* A PE that waits in the same meeting as this one need not be reported: it waits for a third one. */
        int news =
            !q->missed &&
            (q->silent || (!none_has_to(w, s) && s->waited >= s->say && (s->in_line || strcmp(q->sign.in, name) != 0)));
        silent += q->silent;
        if (news && speaks && said++ < SAID_MOST) report_question(w, s, q);
        q->missed = 1;
        if (q->silent && (w->job->all_progress || q->slot >= 0) && w->job->settings.timeout &&
            s->waited > q->at + (double)w->job->settings.timeout)
            end_stalled_job(w, s, q);
    }
    if (silent || said || !speaks || s->waited < s->say || s->n == 0 || asks_everybody(w, s) ||
        s->awaited == RMAI_AWAITED_TESTED)
        return silent;
    report_all(w, s, none_has_to(w, s));
    return silent;
}

/* ---- checks ---- */

/* Seconds after which this PE asks the others. */
static double stall_patience(const struct rmai_watch *w) {
    return (double)(w->job->settings.stall ? w->job->settings.stall : w->job->settings.timeout);
}

static void check_stall(struct rmai_watch *w, struct rmai_stall *s) {
    const double now = rmai_wtime(), patience = stall_patience(w);
    int silent, due;
    if (s->last == 0) {
        s->next = s->say = patience;
        s->probe = PROBE_TIME;
    } else {
        s->waited += rmai_stall_counted(now - s->last);
    }
    s->last = now;
    find_dead(w, s);
    rmai_census_take(w, s, patience);
    if (s->waited < s->next || patience == 0) return;
    if (!s->asked) ask_all(w, s);
    due = hear_answers(w, s);
    if (due && s->waited < s->asked[0].at + ANSWER_TIME) {
        s->next = s->waited + ANSWER_STEP;
        return;
    }
    for (int i = 0; s->waited >= s->say && i < s->n; i++) s->asked[i].missed = 0; /* report it again, */
    silent = judge_answers(w, s);
    if (s->waited >= s->say && (silent || !asks_everybody(w, s))) s->say = 2 * s->waited; /* ever more seldom */
    if (silent == 0) {
        forget_questions(s);
        s->rounds++;
    }
    s->next = s->waited + (silent ? ANSWER_TIME : patience);
}

/* Reading the debugging information takes some hundredths of a second: so only for waits that will soon be reported. */
static void find_call_place(struct rmai_stall *s) {
    s->place = calloc(1, RMAI_WAITING_PLACE);
    if (s->place) rmai_caller_place(s->place, RMAI_WAITING_PLACE);
}

void rmai_stall_check(struct rmai_watch *w, struct rmai_stall *s) {
    struct rmai_sign sign = {.wait = s->last == 0 ? ++w->waits : w->waits, .rests = ++s->rests};
    name_wait(w, s, sign.in);
    if (!s->place && stall_patience(w) > 0 && s->waited > 0 && s->waited >= PLACE_PART * stall_patience(w))
        find_call_place(s);
    if (s->place) snprintf(sign.place, sizeof sign.place, "%s", s->place);
    if (s->describe) s->describe(s->described, sign.until);
    sign.stuck = (uint64_t)rmai_wait_is_stuck(w, s, stall_patience(w));
    rmai_sign_show(rmai_sign_of(w->job, w->sign_at, w->job->node_my_pe), &sign);
    check_stall(w, s);
}

void rmai_stall_end(struct rmai_watch *w, struct rmai_stall *s) {
    forget_questions(s);
    free(s->place);
    s->place = NULL;
    rmai_census_end(w);
    rmai_stall_publish(w, "");
}

/* ---- loops of tests ---- */

_Thread_local unsigned rmai_failed_tests;

/* Begins a loop of tests. The time since which this thread has seen a dead PE stays as it is. */
static void begin_loop(const struct rmai_watch *w, struct rmai_stall *s) {
    forget_questions(s);
    s->probe -= s->waited;
    s->suspected -= s->waited;
    s->waited = 0;
    s->next = s->say = stall_patience(w);
}

void rmai_stall_test(struct rmai_watch *w, const char *call, const void *word, uint64_t contents) {
    static _Thread_local struct {
        struct rmai_stall stall;
        const void *word;
        uint64_t contents;
        unsigned opened; /* of the net to which stall.asked belongs */
    } tests __attribute__((tls_model("initial-exec")));
    struct rmai_stall *s = &tests.stall;
    const double since = s->last > 0 ? rmai_wtime() - s->last : 0;
    if (w->pings.net) rmai_net_lock(w->pings.net);
    if (tests.opened != w->pings.opened) drop_questions(s); /* their pings are gone */
    if (since > rmai_stall_counted(since) || (word == tests.word && contents != tests.contents)) begin_loop(w, s);
    tests.word = word;
    tests.contents = contents;
    s->call = call;
    s->awaited = RMAI_AWAITED_TESTED;
    check_stall(w, s);
    tests.opened = w->pings.opened;
    if (w->pings.net) rmai_net_unlock(w->pings.net);
}

/* The holder is a PE of this node, which needs no message. So rmai_stall_check uses nothing here that the net's lock
 * guards. */
int rmai_stall_holder(void *context, uint32_t pe) {
    struct rmai_lock_wait *wait = context;
    if (rmai_pe_gone(wait->w->job, (int)pe)) return 1;
    if (wait->stall.pe != (int)pe) forget_questions(&wait->stall);
    wait->stall.pe = (int)pe;
    wait->stall.rounds = 0; /* so that it asks no other PE */
    rmai_stall_check(wait->w, &wait->stall);
    return 0;
}
