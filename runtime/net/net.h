/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs of other nodes. What is asked of one travels as a request to a service that each PE runs, and that does it with
 * the same instructions as its own program (runtime/net/reply); only puts and gets in the part of the symmetric heap
 * that MPI's window covers go through that. A place there is named by its offset in the owner's space, as in a global
 * pointer.
 *
 * Requests of one context to one PE gather in a batch while an earlier one is under way: a lone one leaves at once, a
 * stream goes in full messages. A context has at most RMAI_CREDITS unanswered messages at a PE, and all of a PE
 * together have RMAI_BATCHES anywhere: nobody can be flooded. What is kept of a PE is kept from the first time that it
 * is asked something.
 *
 * Whoever waits drives the progress of all; while the program computes, the progress thread does
 * (runtime/net/progress_thread). */
#ifndef RMAI_NET_H
#define RMAI_NET_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "rma.h"
#include "runtime/net/flush.h"
#include "runtime/net/transport.h"
#include "runtime/stall.h"
#include "runtime/net/wire.h"

struct rmai_world;
struct rmai_team;

#define RMAI_CREDITS 4    /* unanswered messages of one PE's context at another PE */
#define RMAI_BATCHES 1024 /* unanswered messages of one PE in all */
#define RMAI_RECORDS 126  /* that fit a message */

/* Somebody who waits for one record, or for some. */
struct rmai_waiter {
    int left; /* records not yet done */
    int code; /* of the first that failed */
    char text[RMAI_TEXT_MAX];
};

/* Where a record's value goes. */
struct rmai_expect {
    void *dest;
    uint32_t len;
    struct rmai_waiter *waiter; /* or NULL: nobody waits for this one alone */
};

struct rmai_batch {
    struct rmai_peer *peer;
    struct rmai_batch *next; /* of the free ones, or of those whose long data are under way */
    uint16_t id, n;          /* n: records */
    uint16_t answered;
    size_t bytes, answer; /* of the message, and at most of its answer */
    MPI_Request sent, data;
    void *buffer; /* long data: here */
    size_t len;
    int get;
    struct rmai_expect expect[RMAI_RECORDS];
    _Alignas(8) unsigned char message[RMAI_MESSAGE];
};

/* A PE of another node, as one pending set knows it. */
struct rmai_peer {
    struct rmai_pending *set;
    int pe;
    int under_way;           /* under way */
    int touched;             /* by puts through the window that are not flushed */
    unsigned through_window; /* transfers that went that way */
    uint64_t used;           /* when the last one did, in ticks */
    MPI_Request doorbell;
    int listed;              /* in set->busy */
    size_t extent[2];        /* the last that was heard of, as in its header */
    struct rmai_batch *open; /* gathers records, or NULL */
    struct rmai_peer *next;  /* in set->busy */
};

/* Operands of an atomic by MPI. */
struct rmai_operands {
    uint64_t value, cond;
};
#define RMAI_OPERANDS 256

/* What has been begun and quiet completes. Each context has one (runtime/context): its requests gather in messages of
 * their own, and what one waits for is no other's. Threads with a context each meet only where messages leave and
 * arrive. */
struct rmai_pending {
    pthread_mutex_t lock; /* of all below; taken after that of struct rmai_net, never before it */
    uint32_t *nothing_pending,
        *nothing_pending_too; /* 1 while nothing is pending: two places that the inlined calls look at, or one twice */
    struct rmai_peer **peers; /* by hash of the PE */
    unsigned n_peers, room;
    struct rmai_peer *last;
    struct rmai_peer *busy; /* peers with something open, under way or touched */
    _Atomic int puts;       /* what is not complete: RMAI_NO_PUTS, 1 + pe: only short messages to pe, RMAI_MANY_PUTS */
    int failed, failed_pe;  /* the first error that nobody waited for, until the next quiet, and where */
    struct rmai_flush flush;
    struct rmai_operands
        *operands;       /* of atomics by MPI that nobody waits for: RMAI_OPERANDS places, or NULL before the first */
    unsigned n_operands; /* in use until the next flush of all PEs */
};

#define RMAI_NO_PUTS   0
#define RMAI_MANY_PUTS (-1)

/* A question for a sign of life, to a PE of another node. It goes beyond batches and credits: those may all be in use
 * towards a PE that does not answer. */
#define RMAI_PINGS 256
struct rmai_ping {
    struct rmai_envelope message; /* `batch`: its place; `n`: how often the place has been used, so that no late answer
                                     is taken for another's */
    MPI_Request sent;
    int used, answered;
    int pe;
    char in[8 * RMAI_WAITING_WORDS]; /* with the answer: the call in which that PE waits, or "" */
};

struct rmai_replies; /* runtime/net/reply.c */

struct rmai_net {
    int active;           /* something goes by MPI: the job has several nodes, or RMA_AMO=mpi */
    pthread_mutex_t lock; /* of all below, and of net's messages */
    _Atomic int wanted;   /* threads that wait for it */
    struct rmai_batch *batch[RMAI_BATCHES], *idle, *moving;
    unsigned n_batches;
    struct rmai_replies *answering;
    struct rmai_ping *ping; /* RMAI_PINGS places */
    _Atomic size_t
        covered;    /* bytes of the symmetric heap that the window covers; stored by a release, when it is there */
    int windowless; /* there is no window, nor will there be */
    int amo_mpi;    /* MPI does all atomics in the window, */
    size_t by_mpi;  /* the first bytes of the symmetric heap: as covered, but it stays while the window is made anew */
    int only_atomics;       /* and nothing else goes through it */
    int one_sided;          /* what goes through the window does not need the target: 1, 0, or -1: not yet known */
    int crowded;            /* more PEs than processors on this machine */
    void *_Atomic slept_on; /* a word of this PE on which its program sleeps in the kernel, or NULL: its change by
                               another node wakes */
    _Atomic uint32_t doze;  /* a thread of the program sleeps between two looks */
    _Atomic uint32_t turns; /* of progress: tells the progress thread that somebody else drives */
};

/* rmai_net_open: after rmai_transport_open; rmai_net_close: after all PEs have met, quiet. */
int rmai_net_open(struct rmai_world *w);
void rmai_net_close(struct rmai_world *w);

/* rmai_pending_open makes *s empty, with the two places that tell it; rmai_pending_close: it is quiet. Jobs of one node
 * too. */
void rmai_pending_open(struct rmai_world *w, struct rmai_pending *s, uint32_t *nothing_pending,
                       uint32_t *nothing_pending_too);
void rmai_pending_close(struct rmai_pending *s);

/* rmai_pending_flush completes what of s has gone through the window. Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_pending_flush(struct rmai_world *w, const char *call, struct rmai_pending *s);

/* rmai_net_cover lets the window follow the growth of the symmetric heap (collective). It is made anew only when a good
 * part lies outside; where MPI's window is no good it is done without, and said once. Returns RMA_SUCCESS or
 * RMA_ERR_MPI. */
int rmai_net_cover(struct rmai_world *w, const char *call);

/* What the caller of a put or get does next. */
enum rmai_when {
    RMAI_NOW,   /* waits: source is free, dest filled, when the call returns */
    RMAI_LATER, /* goes on: until quiet source is in use, dest not filled */
    RMAI_COPIED /* goes on, and source is free at once: it is small enough to be copied */
};

/* Each returns RMA_SUCCESS, or the recorded error of `call`, worded as on the node. The range of a symmetric place has
 * been looked at; others are looked at by their owner, or by what it has said of its extents. What is not done at once
 * belongs to the set s: "quiet" here is rmai_net_quiet of s. A put is in its place after quiet. atomic: old may be
 * NULL, and then it is done after quiet; with `later`, *old is filled after quiet. */
int rmai_net_put(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                 const void *source, size_t len, enum rmai_when when);
int rmai_net_get(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset, void *dest,
                 size_t len, enum rmai_when when);
int rmai_net_atomic(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset, int op,
                    size_t len, uint64_t value, uint64_t cond, void *old, int later);
/* rmai_net_by_mpi: 1 if MPI does all atomics on the word at `offset` of any PE, near ones and the caller included: then
 * rmai_net_atomic has to, if need be after waiting for a new window. */
static inline int rmai_net_by_mpi(const struct rmai_net *f, size_t symmetric, uint64_t offset) {
    return f->amo_mpi && offset >= symmetric && offset - symmetric < __atomic_load_n(&f->by_mpi, __ATOMIC_RELAXED);
}

/* A put of at most RMAI_WITH_SIGNAL bytes, and an atomic on a word (of 8 bytes, or 4 with a short put) that the owner
 * does when they are there. Short ones are one message; `urgent` ones leave while others are under way, too, and say
 * nothing of this PE's other puts. Neither fails. */
#define RMAI_WITH_SIGNAL RMAI_PIECE
int rmai_net_put_signal(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                        const void *source, size_t len, uint64_t word, int op, size_t word_len, uint64_t value,
                        enum rmai_when when, int urgent);

int rmai_net_alloc(struct rmai_world *w, const char *call, int pe, size_t size, uint64_t *g);
int rmai_net_free(struct rmai_world *w, const char *call, int pe, uint64_t offset);

/* rmai_net_quiet waits until everything of s is done; rmai_net_quiet_pe: what is asked of pe. Return RMA_SUCCESS, or
 * the first error of what nobody waited for. */
int rmai_net_quiet(struct rmai_world *w, const char *call, struct rmai_pending *s);
int rmai_net_quiet_pe(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe);

/* rmai_net_quiet_default: rmai_net_quiet of the default context, for the beginning of a collective call: costs a load
 * where nothing is under way. */
int rmai_net_quiet_default(struct rmai_world *w, const char *call);

/* rmai_net_release: what comes before an atomic that writes, on pe, near or far: the puts of s are complete, or go the
 * same way as the atomic and come first. */
int rmai_net_release(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe);

/* rmai_net_progress does what there is to do, and waits for nothing: serves, takes answers. Returns the number of
 * messages heard. With `try` it does nothing if somebody else is at it. In jobs of one node 0. */
int rmai_net_progress(struct rmai_world *w, int try);

/* rmai_net_finish waits for an MPI request among the PEs of team, or with NULL of a leader among leaders, serving
 * others meanwhile. Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_net_finish(struct rmai_world *w, const char *call, const char *what, MPI_Request *request,
                    const struct rmai_team *team);

/* rmai_net_extent: how far memory of pe's pool (enum rmai_pool) may be touched, as an offset in its space: as it was
 * last heard of, 0 if never, or with `fresh` as it is now. */
int rmai_net_extent(struct rmai_world *w, const char *call, int pe, int pool, int fresh, size_t *extent);

/* ---- for runtime/stall ---- */

/* rmai_net_lock, rmai_net_unlock: the lock, in jobs in which far is active. */
void rmai_net_lock(struct rmai_world *w);
void rmai_net_unlock(struct rmai_world *w);

/* With the lock: rmai_net_ping asks pe for a sign of life; NULL if all places are in use. The result says when it has
 * come (answered), until rmai_net_forget_ping. Neither waits. */
struct rmai_ping *rmai_net_ping(struct rmai_world *w, int pe);
void rmai_net_forget_ping(struct rmai_ping *ping);

/* ---- between far.c and answer.c; the lock is held ---- */

int rmai_reply_open(struct rmai_world *w);
void rmai_reply_close(struct rmai_world *w);

/* rmai_reply does a request of PE `from`, whose records m is about to read, if rmai_reply_ready is 1: there is
 * memory for its answer (where that was 0 it may be 1 after rmai_reply_go_on). rmai_reply_go_on looks after what is
 * under way. Both return RMA_SUCCESS, or RMA_ERR_MPI: MPI has failed, or the request is none that a PE sends. */
int rmai_reply_ready(struct rmai_world *w);
int rmai_reply(struct rmai_world *w, int from, const struct rmai_envelope *request, struct rmai_wire_reader *m);
int rmai_reply_go_on(struct rmai_world *w);

/* rmai_reply_ping tells PE `from` that this one lives. Returns as rmai_reply. */
int rmai_reply_ping(struct rmai_world *w, int from, const struct rmai_envelope *ping);

#endif
