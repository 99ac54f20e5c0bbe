/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/progress.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/wait.h"
#include "runtime/net/flow.h"
#include "runtime/net/request.h"

#include <stdlib.h>
#include <string.h>

#define POLL_APART    1000u /* ticks */
#define MESSAGES_MOST 64    /* received before the caller continues its own work */

/* ---- what arrives ----
 *
 * Short messages from any PE come in the order of their arrival. A ring of receives is always posted; messages fill
 * these in the order of posting, so it is enough to test the next one, however many there are. */

static int post_receive(struct rmai_net *net, unsigned i) {
    return rmai_receive(net->transport, RMAI_ANY_PE, RMAI_SHORT_TAG, net->inbox.buffer[i], RMAI_MESSAGE,
                        &net->inbox.posted[i]);
}

int rmai_inbox_open(struct rmai_net *net) {
    int code = RMA_SUCCESS;
    net->inbox.buffer = malloc(RMAI_POSTED * sizeof *net->inbox.buffer);
    if (!net->inbox.buffer)
        return rmai_error(RMA_ERR_NO_MEM, "rma_init: no memory for the %d receives of messages", RMAI_POSTED);
    for (unsigned i = 0; code == RMA_SUCCESS && i < RMAI_POSTED; i++) code = post_receive(net, i);
    if (code != RMA_SUCCESS) rmai_error_prefix("rma_init: ");
    return code;
}

void rmai_inbox_close(struct rmai_net *net) {
    for (unsigned i = 0; i < RMAI_POSTED; i++) rmai_token_drop(net->transport, &net->inbox.posted[i], 1);
    free(net->inbox.buffer);
    net->inbox.buffer = NULL;
}

/* Tests the receive that gets the next message. */
static inline void test_receive(struct rmai_net *net) {
    struct rmai_inbox *in = &net->inbox;
    in->arrived = net->transport->operations->test(net->transport, &in->posted[in->next], &in->arrival);
    if (RMAI_UNLIKELY(in->arrived < 0)) rmai_net_fatal(net);
}

/* Returns the oldest message that this PE is not done with, or NULL. The receive of the one before is posted again only
 * now, so that the message itself was not delayed. */
static inline const void *next_message(struct rmai_net *net) {
    struct rmai_inbox *in = &net->inbox;
    if (in->read) {
        in->read = 0;
        if (post_receive(net, (in->next + RMAI_POSTED - 1) % RMAI_POSTED) != RMA_SUCCESS) rmai_net_fatal(net);
    }
    if (!in->arrived) test_receive(net);
    return in->arrived ? in->buffer[in->next] : NULL;
}

/* This PE is done with the message. */
static inline void end_message(struct rmai_net *net) {
    net->inbox.arrived = 0;
    net->inbox.read = 1;
    net->inbox.next = (net->inbox.next + 1) % RMAI_POSTED;
}

void rmai_net_await_message(struct rmai_net *net, int tests) {
    for (; tests > 0 && !net->inbox.read && !net->inbox.arrived; tests--) test_receive(net);
}

/* ---- progress ---- */

/* Receives the next message and does what it asks for. Returns 1; 0 if there is none, or this PE cannot serve it yet.
 */
static inline int hear_message(struct rmai_net *net) {
    const void *message = next_message(net);
    const int from = net->inbox.arrival.pe;
    const size_t len = net->inbox.arrival.len;
    const struct rmai_envelope *e;
    struct rmai_wire_reader m;
    int code = RMA_SUCCESS;
    if (!message) return 0;
    if (RMAI_UNLIKELY(!(e = rmai_wire_open(&m, message, len)))) {
        rmai_net_damaged(from, m.wrong);
        rmai_net_fatal(net);
    }
    /* Without memory for a reply the request stays where it is, and is read in a later turn. */
    if ((e->kind == RMAI_WIRE_REQUEST || e->kind == RMAI_WIRE_PING) && RMAI_UNLIKELY(!rmai_serve_ready(net))) return 0;
    if (e->done) code = rmai_link_done(net, from, e->done);
    if (RMAI_LIKELY(code == RMA_SUCCESS)) switch (e->kind) {
            case RMAI_WIRE_REQUEST:
                if (RMAI_UNLIKELY(e->number)) rmai_link_slept(net, from);
                code = rmai_serve(net, from, &m);
                break;
            case RMAI_WIRE_REPLY: code = rmai_reply_take(net, from, &m); break;
            case RMAI_WIRE_GO: code = rmai_transfer_go(net, from, e->number); break;
            case RMAI_WIRE_LANDED: code = rmai_transfer_landed(net, from, e->number); break;
            case RMAI_WIRE_DONE:
            case RMAI_WIRE_DOORBELL: break;
            case RMAI_WIRE_PING: code = rmai_serve_ping(net, from, e); break;
            case RMAI_WIRE_ALIVE: code = net->handlers.take_sign_of_life(net->handlers.context, from, e, len); break;
            default: code = rmai_net_damaged(from, "it is of no kind that there is");
        }
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) rmai_net_fatal(net);
    end_message(net);
    return 1;
}

/* Does this PE's oldest message to itself, where it stands. Returns 0 if it cannot be served yet. */
static __attribute__((noinline)) int serve_self(struct rmai_net *net) {
    const struct rmai_message *oldest = net->self->oldest;
    struct rmai_wire_reader m;
    if (RMAI_UNLIKELY(!rmai_serve_ready(net))) return 0;
    rmai_wire_open(&m, oldest->body, oldest->bytes);
    if (RMAI_UNLIKELY(rmai_serve(net, net->job->my_pe, &m) != RMA_SUCCESS)) rmai_net_fatal(net);
    return 1;
}

/* Does what waits for a time. Reads the clock in few rounds, since that takes as long as some operations. */
static __attribute__((noinline)) void look_at_clock(struct rmai_net *net, int heard) {
    const int sometimes = atomic_load_explicit(&net->turns, memory_order_relaxed) % 16 == 0;
    if (net->sessions > 0 && (!heard || sometimes)) rmai_flows_send_due(net);
    if (net->n_messages > RMAI_MESSAGES_KEPT && sometimes) rmai_messages_give_back(net);
}

/* Advances replies, long data and messages that are under way, and sends acknowledgements. While messages still arrive,
 * the links decide whether to delay them. Returns how many transfers, and messages of this PE to itself, have ended. */
static int look_after_transport(struct rmai_net *net, int all_heard, int heard) {
    int code = net->serving ? rmai_serve_advance(net) : RMA_SUCCESS, ended = 0;
    if (code == RMA_SUCCESS && net->owing) code = rmai_links_acknowledge(net, all_heard, !heard);
    if (code != RMA_SUCCESS) rmai_net_fatal(net);
    if (RMAI_UNLIKELY(net->transfers != NULL)) ended = rmai_transfers_advance(net);
    if (RMAI_UNLIKELY(net->in_transport != NULL)) rmai_messages_advance(net);
    if (net->sessions > 0 || net->n_messages > RMAI_MESSAGES_KEPT) look_at_clock(net, heard);
    return ended + (net->self && net->self->oldest ? serve_self(net) : 0);
}

/* Receives at most so many messages. all_heard: the caller wants all that have arrived, so no acknowledgement is
 * delayed. */
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
int rmai_net_drive_once(struct rmai_net *net) { return drive_a_while(net, 1, 0); }

int rmai_net_progress(struct rmai_net *net, int try) {
    int heard;
    if (!net) return 0;
    if (!try)
        rmai_net_enter(net);
    else if (!rmai_net_try_lock(net))
        return 0;
    rmai_flows_send_gathered(net);
    heard = drive_a_while(net, 1, 0);
    rmai_net_leave(net);
    return heard;
}

void rmai_net_send_gathered(struct rmai_net *net) {
    if (!atomic_load_explicit(&net->gathered, memory_order_relaxed)) return;
    rmai_net_enter(net);
    rmai_flows_send_gathered(net);
    rmai_net_leave(net);
}

void rmai_net_poll(struct rmai_net *net) {
    if (!rmai_net_try_lock(net)) return;
    drive_a_while(net, 1, 0);
    rmai_net_leave(net);
}

void rmai_net_poll_sometimes(struct rmai_net *net) {
    uint64_t now;
    if (!net) return;
    now = rmai_clock_ticks();
    if (now - atomic_load_explicit(&net->polled, memory_order_relaxed) < POLL_APART) return;
    atomic_store_explicit(&net->polled, now, memory_order_relaxed);
    rmai_net_poll(net);
}
