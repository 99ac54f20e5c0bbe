/* SPDX-License-Identifier: BSD-3-Clause */
/* Short messages from any PE, in the order of their arrival: a ring of receives that are always posted. Messages fill
 * the receives in the order in which these were posted, so it is enough to test the next receive, however many there
 * are. */
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
    int read;      /* the caller is done with the previous message, whose receive is not posted again yet */
    int arrived;   /* it has got the message, and the caller is not done with it: */
    struct rmai_arrival arrival;
};

/* rmai_messages_open posts the receives. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI. rmai_messages_close also
 * closes what open has made in part. */
int rmai_messages_open(struct rmai_messages *m, struct rmai_transport *t);
void rmai_messages_close(struct rmai_messages *m, struct rmai_transport *t);

/* rmai_messages_next returns the oldest message that the caller is not done with, from PE *from, of *len bytes; NULL if
 * there is none, or the transport has failed (*code). The message stays where it is until rmai_messages_done. Its
 * receive is posted again only when the caller asks for the next message, so that the message itself is not delayed. */
const void *rmai_messages_next(struct rmai_messages *m, struct rmai_transport *t, int *from, size_t *len, int *code);
void rmai_messages_done(struct rmai_messages *m);

/* rmai_messages_await tests at most so many times whether another message has arrived. Returns RMA_SUCCESS, or
 * RMA_ERR_MPI: the transport has failed. */
int rmai_messages_await(struct rmai_messages *m, struct rmai_transport *t, int tests);

#endif
