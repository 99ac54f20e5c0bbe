/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/link.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "runtime/net/messages.h"
#include "runtime/net/pe_table.h"
#include "runtime/net/state.h"

struct rmai_link *rmai_link_to(struct rmai_net *net, int pe) {
    if (RMAI_LIKELY(net->link && net->link->pe == pe)) return net->link;
    return net->link = rmai_pe_table_find(&net->links, pe, sizeof(struct rmai_link));
}

/* ---- debts that wait for a message to go with ----
 *
 * Where two PEs take turns, as in a ping-pong or at an exchange of borders, the message that answers is on its way some
 * hundred nanoseconds after the debt arose. To tell it apart would cost as much as that message. But where the program
 * goes off to compute instead, the other PE would wait in its quiet until this one's progress thread wakes. So a debt
 * is kept only if the last ones would all have met a message within SOON; and each time that a kept one has waited for
 * longer than LATE, twice as many of these are asked for. */

#define SOON       8000u   /* ticks: a few microseconds */
#define LATE       200000u /* ticks: more than what an interrupt takes */
#define HITS_FIRST 8u
#define HITS_MOST  65536u

/* A message to that PE leaves after so many ticks, or the debt is told apart. */
static void end_of_wait(struct rmai_link *link, uint64_t ticks) {
    link->waits = 0;
    link->hits = ticks < SOON ? link->hits + 1 : 0;
    if (link->kept && ticks >= LATE && link->hits_needed < HITS_MOST) link->hits_needed *= 2;
    if (link->hits >= HITS_MOST) {
        link->hits_needed = link->hits_needed > HITS_FIRST ? link->hits_needed / 2 : HITS_FIRST;
        link->hits = link->hits_needed;
    }
    link->kept = 0;
}

uint16_t rmai_link_pay(struct rmai_link *link) {
    const uint16_t owed = (uint16_t)link->owed;
    if (link->waits) end_of_wait(link, rmai_clock_ticks() - link->since);
    link->owed = 0;
    return owed;
}

/* A debt begins to wait, or would begin to. Returns 1 if it is kept. */
static int keep_debt(struct rmai_link *link) {
    if (link->waits) return link->kept;
    if (!link->hits_needed) link->hits_needed = HITS_FIRST;
    link->waits = 1;
    link->since = rmai_clock_ticks();
    return link->kept = link->hits >= link->hits_needed;
}

/* While an earlier message of this kind is still under way, the debt stays. Returns RMA_SUCCESS or RMA_ERR_MPI. */
static int tell_done(struct rmai_net *net, struct rmai_link *link) {
    const int free = rmai_token_done(net->transport, &link->sent);
    int code;
    if (free <= 0) return free < 0 ? RMA_ERR_MPI : RMA_SUCCESS;
    link->done = (struct rmai_envelope){.kind = RMAI_WIRE_DONE, .done = (uint16_t)link->owed};
    link->owed = 0;
    if (link->kept) link->waits = link->kept = 0; /* more has come than one message */
    code = rmai_send(net->transport, link->pe, RMAI_SHORT_TAG, &link->done, sizeof link->done, &link->sent);
    link->since = rmai_clock_ticks(); /* without the time that sending took, which a kept debt would have spared */
    return code;
}

int rmai_link_owe(struct rmai_net *net, struct rmai_link *link) {
    if (!link->listed) {
        link->listed = 1;
        link->next = net->owing;
        net->owing = link;
    }
    return ++link->owed >= RMAI_OWED_MOST ? tell_done(net, link) : RMA_SUCCESS;
}

int rmai_links_settle(struct rmai_net *net, int all, int none_heard) {
    int code = RMA_SUCCESS;
    for (struct rmai_link *link, **i = &net->owing; code == RMA_SUCCESS && (link = *i) != NULL;) {
        /* What is kept and was likely to meet a message has some microseconds for it. */
        const int tell = all || (none_heard && !(link->kept && rmai_clock_ticks() - link->since < SOON));
        if (tell && link->kept) end_of_wait(link, rmai_max(rmai_clock_ticks() - link->since, SOON));
        if (link->owed && (tell || !net->helped || !keep_debt(link))) code = tell_done(net, link);
        if (link->owed) {
            i = &link->next;
            continue;
        }
        link->listed = 0;
        *i = link->next;
    }
    return code;
}

void rmai_links_close(struct rmai_net *net) {
    for (unsigned i = 0; i < net->links.room; i++) {
        struct rmai_link *link = (struct rmai_link *)(void *)net->links.entry[i];
        if (link) rmai_token_drop(net->transport, &link->sent, 0);
    }
    rmai_pe_table_close(&net->links);
    net->link = net->owing = NULL;
}
