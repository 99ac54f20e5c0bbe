/* SPDX-License-Identifier: BSD-3-Clause */
/* What one process tells another one by messages, and by the calls of a window that two processes make together (post
 * and start, complete and wait). A channel is a sequence of them in which none overtakes another: MPI's messages of one
 * communicator, source, destination and tag. */
#ifndef RACE_MPI_CHANNELS_H
#define RACE_MPI_CHANNELS_H

#include <stdint.h>

#define RACE_CHANNELS     16384
#define RACE_CHANNEL_RING 16
struct race_channel {
    uint64_t key; /* 0: free */
    uint32_t lock;
    uint32_t told, heard; /* how many messages have been sent, and received */
    struct {
        uint32_t actor, count; /* the thread that told, and its count then (race_log) */
    } ring[RACE_CHANNEL_RING];
};

enum race_channel_kind { RACE_MESSAGES, RACE_POSTS, RACE_COMPLETES };

/* The channel of this kind from PE `from` to PE `to`; id: the communicator's or window's. */
struct race_channel_key {
    enum race_channel_kind kind;
    uint64_t id;
    int from, to, tag;
};

/* race_channel_tell: before the library's call, the thread tells what it knows. race_channel_hear: after it, the thread
 * learns what the next message told. ahead: how many other receives are under way to which the message may belong as
 * well: the thread then learns from a later message, which is more than was told, so that it may miss a race, but
 * invents none. race_channel_wait: first waits until the message has been told; MPI makes progress meanwhile. */
void race_channel_tell(struct race_channel_key key);
void race_channel_hear(struct race_channel_key key, uint32_t ahead);
void race_channel_wait(struct race_channel_key key);

#endif
