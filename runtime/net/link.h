/* SPDX-License-Identifier: BSD-3-Clause */
/* Links: what this PE and one PE of another node have to tell each other of their requests, whatever contexts these
 * belong to. Messages of two PEs keep their order, and requests are done in that order. So a PE tells another one only
 * how many more of its requests are done (struct rmai_envelope, `done`): with its next message to that PE, whichever
 * that is, or when it has heard everything that has come, or after RMAI_OWED_MOST requests. The net's lock is held. */
#ifndef RMAI_LINK_H
#define RMAI_LINK_H

#include <stdint.h>

#include "runtime/net/transport.h"
#include "runtime/net/wire.h"

struct rmai_batch;
struct rmai_net;

#define RMAI_OWED_MOST 2 /* half of a context's credits (RMAI_CREDITS): a stream goes on meanwhile */

struct rmai_link {
    int pe;        /* first: links are entries of a rmai_pe_table */
    unsigned owed; /* requests of that PE which are done, and of which it has not been told */
    int waits;     /* the last debt waited for a message to go with, or would have: since `since`, in ticks */
    int kept;      /* it did */
    uint64_t since;
    unsigned hits, hits_needed; /* so many times one came soon, one after the other */
    int listed;                 /* in net->owing */
    struct rmai_link *next;
    struct rmai_batch *oldest, *newest; /* requests to that PE that are under way, but those of long data */
    struct rmai_envelope done;          /* a message that says nothing else */
    struct rmai_token sent;
};

/* rmai_link_to: NULL without memory. */
struct rmai_link *rmai_link_to(struct rmai_net *net, int pe);

/* rmai_link_owe: a request of that PE is done. rmai_link_pay returns what a message that leaves now has to tell.
 * rmai_links_settle tells everybody; without `all` it leaves the PEs out for which a message has always left soon after
 * such a debt, as where two PEs take turns. Those are told some microseconds later, if this PE hears nothing more
 * (none_heard). Return RMA_SUCCESS, or RMA_ERR_MPI: the transport has failed. */
int rmai_link_owe(struct rmai_net *net, struct rmai_link *link);
uint16_t rmai_link_pay(struct rmai_link *link);
int rmai_links_settle(struct rmai_net *net, int all, int none_heard);

void rmai_links_close(struct rmai_net *net);

#endif
