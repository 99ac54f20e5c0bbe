/* SPDX-License-Identifier: BSD-3-Clause */
/* Short messages from any PE, in the order of their arrival: a ring of receives that are always posted. Messages fill
 * the receives in the order in which these were posted, so one test of the next receive is enough, whatever their
 * number. */
#ifndef RMAI_MESSAGES_H
#define RMAI_MESSAGES_H

#include "runtime/net/transport.h"
#include "runtime/net/wire.h"

#define RMAI_POSTED    16 /* receives */
#define RMAI_SHORT_TAG 0

struct rmai_messages {
    struct rmai_token posted[RMAI_POSTED];
    unsigned char (*buffer)[RMAI_MESSAGE];
    unsigned next; /* the receive that gets the next message */
    int read;      /* the message before is done with; its receive is not posted anew */
    int arrived;   /* it has got it, and nobody is done with it: */
    struct rmai_arrival arrival;
};

/* rmai_messages_open posts the receives. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI. rmai_messages_close: also
 * of a part. */
int rmai_messages_open(struct rmai_messages *m, struct rmai_transport *t);
void rmai_messages_close(struct rmai_messages *m, struct rmai_transport *t);

/* rmai_messages_next: the oldest message that nobody is done with, from PE *from, of *len bytes; NULL if there is none,
 * or the transport has failed (*code). The message stays where it is until rmai_messages_done. Its receive is posted
 * anew when the next message is asked for: so what the message has brought is not kept waiting. */
const void *rmai_messages_next(struct rmai_messages *m, struct rmai_transport *t, int *from, size_t *len, int *code);
void rmai_messages_done(struct rmai_messages *m);

#endif
