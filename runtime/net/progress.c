/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that waits for another node drives progress meanwhile. So two PEs that wait for each other serve each other.
 */
#include "config.h"

#include "runtime/net/progress.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/wait.h"
#include "runtime/net/batch.h"
#include "runtime/net/peer.h"
#include "runtime/net/serve.h"
#include "runtime/net/state.h"

#include <string.h>

#define POLLS             3000 /* before the first nap: longer than most replies take */
#define POLLS_CROWDED     20
#define WAIT_TESTS        3     /* for a message, before each turn of a wait but the first */
#define NAP_FIRST         10000 /* nanoseconds; the kernel adds some 20 us */
#define NAP_LAST          200000
#define LOCK_POLLS        1000
#define POLL_APART        1000u /* ticks */
#define MESSAGES_MOST     64    /* received before the caller continues its own work */
#define LOOKS_A_STALL     1024  /* polls between two checks whether the wait has become long */
#define TOKEN_POLLS       2     /* tests of a token between two polls for all messages, */
#define TOKEN_POLLS_FIRST 8     /* and before the first of these */
#define FINISHES_A_TURN   16    /* one of so many waits for tokens drives progress in any case */

/* ---- the lock ---- */

/* The thread that holds the lock may poll for a long time. Other threads announce themselves in `wanted`; the holder
 * then releases the lock between two polls. If PEs do not share processors, a thread polls for the lock before it
 * sleeps: waking up takes longer than a message. */
void rmai_net_lock(struct rmai_net *net) {
    if (net->biased) {
        rmai_biased_enter(&net->bias);
        return;
    }
    if (RMAI_LIKELY(pthread_mutex_trylock(&net->lock) == 0)) return;
    atomic_fetch_add_explicit(&net->wanted, 1, memory_order_relaxed);
    for (int i = net->crowded ? 0 : LOCK_POLLS; i > 0; i--) {
        rmai_pause();
        if (pthread_mutex_trylock(&net->lock) != 0) continue;
        atomic_fetch_sub_explicit(&net->wanted, 1, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&net->lock);
    atomic_fetch_sub_explicit(&net->wanted, 1, memory_order_relaxed);
}

void rmai_net_unlock(struct rmai_net *net) {
    if (net->biased)
        rmai_biased_leave(&net->bias);
    else
        pthread_mutex_unlock(&net->lock);
}

/* 0 if another thread holds it. */
static int try_lock(struct rmai_net *net) {
    return net->biased ? rmai_biased_try_enter(&net->bias) : pthread_mutex_trylock(&net->lock) == 0;
}

int rmai_net_visit(struct rmai_net *net) {
    if (!net->biased) return pthread_mutex_trylock(&net->lock) == 0;
    if (!rmai_biased_visit(&net->bias)) return 0;
    net->visited = 1;
    return 1;
}

void rmai_net_end_visit(struct rmai_net *net) {
    net->visited = 0;
    if (net->biased)
        rmai_biased_end_visit(&net->bias);
    else
        pthread_mutex_unlock(&net->lock);
}

/* Releases the lock until one of the threads in `wanted` has taken it, if there is one, and takes it again. */
static void yield_lock(struct rmai_net *net) {
    uint32_t wanted = atomic_load_explicit(&net->wanted, memory_order_relaxed); /* 0 where the lock is biased */
    if (RMAI_LIKELY(wanted == 0)) return;
    rmai_net_unlock(net);
    for (int i = 0; i < LOCK_POLLS && atomic_load_explicit(&net->wanted, memory_order_relaxed) >= wanted; i++)
        rmai_pause();
    rmai_net_lock(net);
}

/* ---- progress ---- */

/* Receives the next message and does what it asks for. Returns 1; 0 if there is none, or this PE cannot serve it yet.
 */
static int hear_message(struct rmai_net *net) {
    int from, code;
    size_t len;
    struct rmai_wire_reader m;
    const struct rmai_envelope *e;
    const void *message = rmai_messages_next(&net->messages, net->transport, &from, &len, &code);
    if (!message) {
        if (RMAI_UNLIKELY(code != RMA_SUCCESS)) rmai_net_fatal(net);
        return 0;
    }
    e = rmai_wire_open(&m, message, len);
    /* Without memory for a reply the request stays where it is, and is read in a later turn. */
    if (RMAI_LIKELY(e != NULL) && (e->kind == RMAI_WIRE_REQUEST || e->kind == RMAI_WIRE_PING) &&
        RMAI_UNLIKELY(!rmai_serve_ready(net)))
        return 0;
    if (RMAI_LIKELY(e != NULL) && e->done) code = rmai_batches_done(net, from, e->done);
    if (RMAI_LIKELY(code == RMA_SUCCESS)) switch (RMAI_LIKELY(e != NULL) ? e->kind : RMAI_WIRE_KINDS) {
            case RMAI_WIRE_REQUEST: code = rmai_serve(net, from, e, &m); break;
            case RMAI_WIRE_GO: code = rmai_batch_send_data(net, from, e); break;
            case RMAI_WIRE_REPLY: code = rmai_batch_take_reply(net, from, e, &m); break;
            case RMAI_WIRE_DONE:
            case RMAI_WIRE_DOORBELL: break;
            case RMAI_WIRE_PING: code = rmai_serve_ping(net, from, e); break;
            case RMAI_WIRE_ALIVE: code = net->handlers.take_sign_of_life(net->handlers.context, from, e, len); break;
            default: code = rmai_net_damaged(from, e ? "it is of no kind that there is" : m.wrong);
        }
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) rmai_net_fatal(net);
    rmai_messages_done(&net->messages);
    return 1;
}

/* Does this PE's oldest request to itself. Returns 0 if it cannot be served yet. */
static __attribute__((noinline)) int serve_self(struct rmai_net *net) {
    struct rmai_wire_reader m;
    const void *message;
    size_t len;
    if (RMAI_UNLIKELY(!rmai_serve_ready(net))) return 0;
    message = rmai_batches_take_to_self(net, &len);
    if (RMAI_UNLIKELY(rmai_serve(net, net->job->my_pe, rmai_wire_open(&m, message, len), &m) != RMA_SUCCESS))
        rmai_net_fatal(net);
    return 1;
}

/* Does what only sessions, requests to self and idle batches need. Returns how many requests to self it has done. It
 * reads the clock in few rounds, since that takes as long as some operations. */
static __attribute__((noinline)) int do_side_work(struct rmai_net *net, int heard) {
    const int sometimes = atomic_load_explicit(&net->turns, memory_order_relaxed) % 16 == 0;
    const int own = net->to_self ? serve_self(net) : 0;
    if (net->sessions > 0 && (!heard || sometimes)) rmai_batches_send_due(net);
    if (net->n_batches > RMAI_BATCHES_KEPT && sometimes) rmai_batches_give_back(net);
    if (sometimes) rmai_batches_set_side_work(net);
    return own;
}

/* Advances replies, long data and batches that are under way, and sends acknowledgements. While messages still arrive,
 * the links decide whether to delay them. Returns how many requests of this PE to itself it has done. */
static int look_after_transport(struct rmai_net *net, int all_heard, int heard) {
    int code = net->serving ? rmai_serve_advance(net) : RMA_SUCCESS;
    if (code == RMA_SUCCESS && net->owing) code = rmai_links_acknowledge(net, all_heard, !heard);
    if (code != RMA_SUCCESS) rmai_net_fatal(net);
    if (net->moving) rmai_batches_advance(net);
    return RMAI_UNLIKELY(net->side_work) ? do_side_work(net, heard) : 0;
}

/* Receives at most so many messages. all_heard: none that has arrived is left, so no acknowledgement is delayed. */
static int drive_a_while(struct rmai_net *net, int most, int all_heard) {
    int heard = 0;
    while (heard < most && hear_message(net)) heard++;
    heard += look_after_transport(net, all_heard, heard);
    /* Only the holder of the lock counts. */
    atomic_store_explicit(&net->turns, atomic_load_explicit(&net->turns, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (heard) rmai_add(&net->traffic->more[RMAI_HEARD], (uint64_t)heard);
    if (heard) rmai_rouse_dozers(net->handlers.doze); /* another thread may wait for one of these messages */
    return heard;
}

int rmai_net_drive(struct rmai_net *net) { return drive_a_while(net, MESSAGES_MOST, 1); }

int rmai_net_progress(struct rmai_net *net, int try) {
    int heard;
    if (!net) return 0;
    if (!try)
        rmai_net_lock(net);
    else if (!try_lock(net))
        return 0;
    if (RMAI_UNLIKELY(atomic_load_explicit(&net->gathered, memory_order_relaxed))) rmai_batches_send_gathered(net);
    heard = drive_a_while(net, 1, 0);
    rmai_net_unlock(net);
    return heard;
}

void rmai_net_send_gathered(struct rmai_net *net) {
    if (!atomic_load_explicit(&net->gathered, memory_order_relaxed)) return;
    rmai_net_lock(net);
    rmai_batches_send_gathered(net);
    rmai_net_unlock(net);
}

void rmai_net_poll(struct rmai_net *net) {
    if (!try_lock(net)) return;
    drive_a_while(net, 1, 0);
    rmai_net_unlock(net);
}

void rmai_net_poll_sometimes(struct rmai_net *net) {
    uint64_t now;
    if (!net) return;
    now = rmai_clock_ticks();
    if (now - atomic_load_explicit(&net->polled, memory_order_relaxed) < POLL_APART) return;
    atomic_store_explicit(&net->polled, now, memory_order_relaxed);
    rmai_net_poll(net);
}

/* ---- waiting ---- */

struct rmai_net_wait rmai_net_wait_begins(const char *call, int pe) {
    return (struct rmai_net_wait){.nap = NAP_FIRST, .stall = {.call = call, .pe = pe}};
}

void rmai_net_wait_ends(struct rmai_net *net, struct rmai_net_wait *wait) {
    if (RMAI_UNLIKELY(wait->stall.last > 0)) net->handlers.wait_is_over(net->handlers.context, &wait->stall);
}

/* Polls once, and sleeps if some polls have found nothing. Releases the lock if other threads want it. */
void rmai_net_wait_turn(struct rmai_net *net, struct rmai_net_wait *wait) {
    int heard;
    /* Several tests in a row find a message sooner than one in each turn. There is nothing else to do: the turn before
     * has found no message, and has looked after what earlier ones left. */
    if (wait->idle && rmai_messages_await(&net->messages, net->transport, WAIT_TESTS) != RMA_SUCCESS)
        rmai_net_fatal(net);
    heard = drive_a_while(net, 1, 0);
    /* If messages never cease to arrive, the thread does not rest: so it also checks the wait here. */
    if (++wait->looks % LOOKS_A_STALL == 0) net->handlers.wait_lasts(net->handlers.context, &wait->stall);
    if (heard > 0) {
        wait->nap = NAP_FIRST;
        wait->idle = 0;
        return;
    }
    if ((wait->idle += wait->idle ? WAIT_TESTS + 1 : 1) < (net->crowded ? POLLS_CROWDED : POLLS)) {
        yield_lock(net);
        return;
    }
    rmai_net_unlock(net);
    rmai_doze(net->handlers.doze, wait->nap);
    wait->nap = (long)rmai_min((size_t)wait->nap * 3 / 2, NAP_LAST);
    rmai_net_lock(net);
    net->handlers.wait_lasts(net->handlers.context, &wait->stall);
}

int rmai_net_wait_for(struct rmai_net *net, const char *call, int pe, struct rmai_waiter *waiter) {
    struct rmai_net_wait wait = rmai_net_wait_begins(call, waiter->pe);
    while (waiter->left > 0) rmai_net_wait_turn(net, &wait);
    rmai_net_wait_ends(net, &wait);
    if (waiter->code == RMA_SUCCESS) return RMA_SUCCESS;
    return *waiter->text ? rmai_error(waiter->code, "%s", waiter->text) : rmai_net_failed_there(call, pe, waiter->code);
}

/* Waits for one token, and serves other PEs meanwhile. */
static RMAI_COLD int wait_for_token(struct rmai_net *net, const char *call, struct rmai_token *token,
                                    struct rmai_arrival *arrival, const struct rmai_team *team) {
    struct rmai_net_wait wait = rmai_net_wait_begins(call, -1);
    int done = 0;
    wait.stall.awaited = team ? RMAI_AWAITED_TEAM : RMAI_AWAITED_LEADERS;
    wait.stall.team = wait.stall.meeting = team;
    rmai_net_lock(net);
    while (done == 0) {
        rmai_net_wait_turn(net, &wait);
        done = net->transport->operations->test(net->transport, token, arrival);
        for (int i = 1; i < TOKEN_POLLS && done == 0; i++, wait.idle++)
            done = net->transport->operations->test(net->transport, token, arrival);
    }
    rmai_net_wait_ends(net, &wait);
    rmai_net_unlock(net);
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
