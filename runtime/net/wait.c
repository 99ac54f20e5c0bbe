/* SPDX-License-Identifier: BSD-3-Clause */
/* Whoever waits, for a reply, for room, for the end of a flow or for a message of a group, drives the same loop. So two
 * PEs that wait for each other serve each other. */
#include "config.h"

#include "runtime/net/wait.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/wait.h"
#include "runtime/net/progress.h"

#define POLLS             3000 /* before the first nap: longer than most replies take */
#define POLLS_CROWDED     20
#define WAIT_TESTS        3      /* for a message, before each turn of a wait but the first */
#define NAP_LAST          200000 /* nanoseconds */
#define LOOKS_A_STALL     1024   /* polls between two checks whether the wait has become long */
#define TOKEN_POLLS       2      /* tests of a token between two polls for all messages, */
#define TOKEN_POLLS_FIRST 8      /* and before the first of these */
#define FINISHES_A_TURN   16     /* one of so many waits for tokens drives progress in any case */

static RMAI_COLD void look_at_wait(struct rmai_net *net, struct rmai_net_wait *wait) {
    if (!wait->told) wait->stall = (struct rmai_stall){.call = wait->call};
    wait->told = 1;
    wait->stall.pe = wait->pe;
    net->handlers.wait_lasts(net->handlers.context, &wait->stall);
}

/* Polls once, and sleeps if some polls have found nothing. Releases the lock while it sleeps, and between two polls if
 * other threads want it. */
void rmai_net_wait_turn(struct rmai_net *net, struct rmai_net_wait *wait) {
    int heard;
    /* Several tests in a row find a message sooner than one in each turn. There is nothing else to do: the turn before
     * has found no message, and has looked after what earlier ones left. */
    if (wait->idle) rmai_net_await_message(net, WAIT_TESTS);
    heard = rmai_net_drive_once(net);
    /* If messages never cease to arrive, the thread does not rest: so it also checks the wait here. */
    if (RMAI_UNLIKELY(++wait->looks % LOOKS_A_STALL == 0)) look_at_wait(net, wait);
    if (heard > 0) {
        wait->nap = RMAI_NAP_FIRST;
        wait->idle = 0;
        rmai_net_yield_lock(net);
        return;
    }
    if ((wait->idle += wait->idle ? WAIT_TESTS + 1 : 1) < (net->crowded ? POLLS_CROWDED : POLLS)) {
        rmai_net_yield_lock(net);
        return;
    }
    wait->slept = 1;
    rmai_net_leave(net);
    rmai_doze(net->handlers.doze, wait->nap);
    wait->nap = (long)rmai_min((size_t)wait->nap * 3 / 2, NAP_LAST);
    rmai_net_enter(net);
    look_at_wait(net, wait);
}

/* Returns a flow that the caller waits for, beginning at f, or NULL. */
static inline struct rmai_flow *next_waited(struct rmai_flow *f, const struct rmai_flow *only, uint64_t age) {
    while (f && ((only && f != only) || !rmai_flow_waits_until(f, age))) f = f->next;
    return f;
}

/* With mutexes another thread may change the list of flows during a turn. */
static inline __attribute__((always_inline)) void wait_for_flows(struct rmai_net *net, const char *call,
                                                                 struct rmai_pending *s, const struct rmai_flow *only,
                                                                 uint64_t age) {
    struct rmai_flow *f;
    struct rmai_net_wait wait;
    for (f = s->busy; f; f = f->next)
        if (!only || f == only) rmai_flow_send_open(net, f);
    if ((f = next_waited(s->busy, only, age)) != NULL) {
        rmai_net_wait_begins(&wait, call, f->pe);
        do {
            wait.pe = f->pe;
            rmai_flow_send_open(net, f);
            rmai_net_wait_turn(net, &wait);
            if (RMAI_UNLIKELY(wait.slept) && f->link) f->link->slept = 1;
            wait.slept = 0;
        } while ((f = next_waited(net->biased ? f : s->busy, only, age)) != NULL);
        rmai_net_wait_ends(net, &wait);
    }
    rmai_flows_unlist(s);
}

void rmai_flows_wait(struct rmai_net *net, const char *call, struct rmai_pending *s, uint64_t age) {
    wait_for_flows(net, call, s, NULL, age);
}

void rmai_flow_wait(struct rmai_net *net, const char *call, struct rmai_flow *f, uint64_t age) {
    wait_for_flows(net, call, f->set, f, age);
}

int rmai_net_wait_for(struct rmai_net *net, const char *call, int pe, struct rmai_waiter *waiter) {
    struct rmai_net_wait wait;
    rmai_net_wait_begins(&wait, call, waiter->pe);
    while (waiter->left > 0) rmai_net_wait_turn(net, &wait);
    rmai_net_wait_ends(net, &wait);
    if (waiter->code == RMA_SUCCESS) return RMA_SUCCESS;
    return *waiter->text ? rmai_error(waiter->code, "%s", waiter->text) : rmai_net_failed_there(call, pe, waiter->code);
}

/* Waits for one token, and serves other PEs meanwhile. */
static RMAI_COLD int wait_for_token(struct rmai_net *net, const char *call, struct rmai_token *token,
                                    struct rmai_arrival *arrival, const struct rmai_team *team) {
    struct rmai_net_wait wait;
    int done = 0;
    rmai_net_wait_begins(&wait, call, -1);
    wait.told = 1;
    wait.stall = (struct rmai_stall){.call = call,
                                     .awaited = team ? RMAI_AWAITED_TEAM : RMAI_AWAITED_LEADERS,
                                     .team = team,
                                     .meeting = team,
                                     .by_call = arrival && arrival->len <= RMAI_SHORT_ARRIVAL};
    rmai_net_enter(net);
    while (done == 0) {
        rmai_net_wait_turn(net, &wait);
        done = net->transport->operations->test(net->transport, token, arrival);
        for (int i = 1; i < TOKEN_POLLS && done == 0; i++, wait.idle++)
            done = net->transport->operations->test(net->transport, token, arrival);
    }
    rmai_net_wait_ends(net, &wait);
    rmai_net_leave(net);
    return done;
}

/* A program that makes one short collective call after another may find each message within the first polls, and would
 * serve nobody else. So some of these calls drive progress; the count need not be exact. */
static inline void serve_sometimes(struct rmai_net *net) {
    const unsigned finished = atomic_load_explicit(&net->finished, memory_order_relaxed) + 1;
    atomic_store_explicit(&net->finished, finished, memory_order_relaxed);
    if (RMAI_UNLIKELY(finished % FINISHES_A_TURN == 0)) rmai_net_progress(net, 1);
}

/* Messages of the same collective call mostly arrive within some polls. These need neither the lock nor the state of a
 * long wait. */
int rmai_net_finish(struct rmai_net *net, const char *call, struct rmai_token *token, struct rmai_arrival *arrival,
                    const struct rmai_team *team) {
    int done = token->word == 0;
    serve_sometimes(net);
    for (int polls = 0; done == 0 && polls < TOKEN_POLLS_FIRST; polls++)
        done = net->transport->operations->test(net->transport, token, arrival);
    if (RMAI_UNLIKELY(done == 0)) done = wait_for_token(net, call, token, arrival, team);
    if (RMAI_LIKELY(done > 0)) return RMA_SUCCESS;
    rmai_error_prefix("%s: ", call);
    return RMA_ERR_MPI;
}
