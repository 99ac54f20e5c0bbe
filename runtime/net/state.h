/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of this PE's traffic with other nodes, for one job. A process may have several (test/unit/check_net). Only
 * this folder's own files, and their tests, include this header; rmai_net_open fills it in.
 *
 * One lock protects all of it. The functions of op.h, packed.h, net.h and progress.h take it; all others of this folder
 * are called with it, and release it only in a wait (wait.h) and while MPI flushes a window. So a function that waits
 * or flushes looks again at what it has read before. Groups (group.h) use the transport alone, and need no lock.
 *
 * Below RMA_THREAD_MULTIPLE the lock is biased (base/biased.h): the program is its owner, the progress thread its
 * guest. Otherwise, or if the kernel has no membarrier, it is a mutex. */
#ifndef RMAI_NET_STATE_H
#define RMAI_NET_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/biased.h"
#include "base/pe_table.h"
#include "base/wait.h"
#include "runtime/job/by_node.h"
#include "runtime/job/job.h"
#include "runtime/job/traffic.h"
#include "runtime/net/net.h"
#include "runtime/net/way.h"
#include "runtime/net/window.h"
#include "runtime/net/wire.h"
#include "runtime/transport/transport.h"

struct rmai_envelope;
struct rmai_link;
struct rmai_message;
struct rmai_replies;
struct rmai_transfer;

/* The buffers of the probe of MPI's windows. They stay, since MPI may still read and write them after a flush that has
 * failed. */
struct rmai_probe_buffers {
    uint64_t symmetric, word;
    unsigned char pattern[13], back[13];
};

/* A flush that a thread waits for, on its stack. The note describes one of them; the watchdog reads it without the
 * lock: its version is odd while there is one. */
struct rmai_flushing {
    struct rmai_flushing *next;
    const char *call; /* the public call */
    int pe;
    enum rmai_window_kind window;
};
struct rmai_flush_note {
    _Atomic unsigned version;
    const char *_Atomic call;
    _Atomic int pe;
};

/* The messages that have arrived: the receives, of which `next` gets the next message. */
#define RMAI_POSTED 16
struct rmai_inbox {
    struct rmai_token posted[RMAI_POSTED];
    unsigned char (*buffer)[RMAI_MESSAGE];
    unsigned next;
    int read;    /* this PE is done with the previous message, whose receive is not posted again yet */
    int arrived; /* it has got the message, and this PE is not done with it: */
    struct rmai_arrival arrival;
};

struct rmai_net {
    const struct rmai_job *job;
    struct rmai_transport *transport;
    struct rmai_traffic *traffic;
    struct rmai_net_handlers handlers;
    int biased; /* 1: `bias` is the lock; 0: `lock` is */
    struct rmai_biased bias;
    int visited; /* the guest of `bias` is in */
    int alone;   /* rmai_net_alone is not NULL */
    pthread_mutex_t lock;
    _Atomic uint32_t wanted; /* threads that wait for the lock */
    int helped;              /* the progress thread runs */
    struct rmai_inbox inbox;
    struct rmai_message *idle, *in_transport; /* in_transport: answered, and the transport still reads them */
    unsigned n_messages, n_idle;              /* all, and the idle ones */
    struct rmai_transfer *transfers;          /* under way, */
    struct rmai_transfer **transfer;          /* and by their numbers: transfer_room places, each a transfer or NULL; */
    unsigned transfer_room, n_transfers;
    struct rmai_pe_table links;
    struct rmai_link *link;  /* the last one that was looked up */
    struct rmai_link *owing; /* links with messages that are done and not acknowledged */
    struct rmai_link *self;  /* this PE's link to itself, whose messages it serves in place; or NULL */
    struct rmai_replies *replies;
    int serving;             /* 0: rmai_serve_advance has nothing to do */
    int crowded;             /* more PEs than processors on this machine */
    void *_Atomic *slept_on; /* slept_on of this PE's struct rmai_facts; */
    void *_Atomic no_sleep;  /* it points here if there are no facts */
    struct rmai_bell bell;
    struct rmai_by_node by_node;
    _Atomic uint32_t turns; /* of progress: show the progress thread that another thread drives it */

    _Atomic uint64_t polled; /* when rmai_net_poll_sometimes has last done so, in ticks */

    _Atomic unsigned finished; /* calls of rmai_net_finish, roughly; some of them serve others */

    struct rmai_pending *sets;

    _Atomic int gathered; /* 1: an open message of a set without a session may wait for an acknowledgement */
    int sessions;         /* sets with an open session, */
    double session_due;   /* and when their open messages are sent next, by rmai_wtime, as in the next line */
    double give_back_due; /* when the memory of idle messages may be given back */

    struct rmai_flushing *flushing; /* the flushes that threads wait for, the oldest first */
    struct rmai_flush_note note;    /* says to the watchdog which is the first of them */

    /* MPI's windows. The fixed one covers the first bytes of each PE's symmetric heap. */
    size_t covered;      /* how many; 0 while it is replaced */
    int fixed;           /* there is, or will be, a fixed window; */
    int fixed_follows;   /* it is replaced when the heap has grown, since the dynamic one is slower */
    int said_windowless; /* the note that MPI's window is not usable has been printed */
    int windowless;      /* nothing goes through a window in this job */
    struct rmai_dynamic dynamic;
    struct rmai_ways ways;
    struct rmai_probe_buffers probe;
};

/* The lock: rmai_net_enter and rmai_net_leave are rmai_net_lock and rmai_net_unlock (net.h), inlined. rmai_net_try_lock
 * returns 0 if another thread holds it. rmai_net_yield_lock releases it until one of the threads in `wanted` has taken
 * it, if there is one, and takes it again. rmai_net_visit is for the progress thread: it takes the lock, or returns 0
 * if another thread has it; rmai_net_end_visit releases it. */
void rmai_net_lock_mutex_(struct rmai_net *net);
static inline void rmai_net_enter(struct rmai_net *net) {
    if (RMAI_LIKELY(net->biased))
        rmai_biased_enter(&net->bias);
    else
        rmai_net_lock_mutex_(net);
}
static inline void rmai_net_leave(struct rmai_net *net) {
    if (RMAI_LIKELY(net->biased))
        rmai_biased_leave(&net->bias);
    else
        pthread_mutex_unlock(&net->lock);
}
static inline int rmai_net_try_lock(struct rmai_net *net) {
    return net->biased ? rmai_biased_try_enter(&net->bias) : pthread_mutex_trylock(&net->lock) == 0;
}
void rmai_net_yield_lock_(struct rmai_net *net);
static inline void rmai_net_yield_lock(struct rmai_net *net) {
    if (RMAI_UNLIKELY(atomic_load_explicit(&net->wanted, memory_order_relaxed))) rmai_net_yield_lock_(net);
}
int rmai_net_visit(struct rmai_net *net);
void rmai_net_end_visit(struct rmai_net *net);

/* rmai_net_is_locked: for assertions. 1 if some thread holds the lock, as far as that can be told. */
static inline int rmai_net_is_locked(const struct rmai_net *net) {
    return !net->biased || rmai_biased_inside(&net->bias) ||
           atomic_load_explicit(&net->bias.guest, memory_order_relaxed);
}

/* Each records an error of `call` about `pe`, and returns its code. rmai_net_failed_there is for a record whose error
 * came without a text. No mistake of the caller makes such a record fail: the owner had no memory, or MPI failed there.
 */
int rmai_net_no_memory(const char *call, int pe);
int rmai_net_failed_there(const char *call, int pe, int code);

#endif
