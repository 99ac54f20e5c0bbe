/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of runtime/net share: the state of this PE's side of all that goes between nodes. One job's worth; a
 * process may hold several (test/unit/check_net). Only runtime/net's own files look into it, and rmai_net_open fills it
 * in.
 *
 * runtime/net knows no heap and no API. What a request of another node wants of this PE's memory is asked of the
 * handlers, and so is what only the layers above know of a wait. */
#ifndef RMAI_NET_STATE_H
#define RMAI_NET_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/biased.h"
#include "base/wait.h"
#include "runtime/job/job.h"
#include "runtime/job/traffic.h"
#include "runtime/net/by_node.h"
#include "runtime/net/dynamic.h"
#include "runtime/net/messages.h"
#include "runtime/net/pe_table.h"
#include "runtime/net/transport.h"
#include "runtime/net/ways.h"

#define RMAI_CREDITS 4    /* unanswered messages of one PE's context at another PE */
#define RMAI_BATCHES 1024 /* unanswered messages of one PE in all */
#define RMAI_PINGS   256  /* unanswered questions for a sign of life, of one PE in all */

struct rmai_batch;
struct rmai_link;
struct rmai_pending;
struct rmai_ping;
struct rmai_replies;

struct rmai_net_handlers {
    void *context; /* of all of them */
    /* Where [offset, offset + len) of this PE's space is, or of its neighbour's whose mark the offset has
     * (runtime/net/by_node), for a request of `call`, with this alignment. Returns RMA_SUCCESS with *there, and *lease,
     * which keeps the memory in place until it is given back, or is NULL; or records why not: RMA_ERR_ADDRESS, with
     * *lease NULL. */
    int (*locate)(void *context, const char *call, uint64_t offset, size_t len, size_t alignment, int writes,
                  void **there, void **lease);
    void (*end_lease)(void *context, void *lease);
    /* Of this PE's space [*offset, *offset + *len), which others may read and write, is at *there until the net is
     * closed, and the same of its neighbours at the job's stride from there: locate is not asked about it. */
    void (*steady)(void *context, uint64_t *offset, size_t *len, unsigned char **there);
    /* Allocate and free in the part of this PE's local heap that is for others. Return RMA_SUCCESS, or record why not.
     */
    int (*allocate)(void *context, const char *call, size_t size, uint64_t *block);
    int (*give_back)(void *context, const char *call, uint64_t offset);
    /* How far this PE's local heap, and its part for others, may be touched (rmai_facts). */
    void (*extents)(void *context, size_t extent[RMAI_POOLS]);
    /* The public call in which this PE waits, or "". */
    void (*waiting_in)(void *context, char call[RMAI_WAITING_TEXT]);
    /* A wait has lasted, at one of its rests; and it is over. The net's lock is held. */
    void (*wait_lasts)(void *context, struct rmai_stall *stall);
    void (*wait_is_over)(void *context, struct rmai_stall *stall);
    /* Ends the job, whatever the error handler, for the error that is recorded. Does not return. */
    void (*fatal)(void *context);
};

/* What the probe of MPI's windows puts and gets: it stays, since MPI may still read and write it after a flush that has
 * failed. */
struct rmai_probe_buffers {
    uint64_t symmetric, word;
    unsigned char pattern[13], back[13];
};

struct rmai_net {
    int active; /* something goes by the transport: the job has several nodes */
    const struct rmai_job *job;
    struct rmai_transport *transport;
    struct rmai_traffic *traffic;
    struct rmai_net_handlers handlers;
    /* One lock, in one of two ways, of what follows, and of the transport's messages; taken before that of a pending
     * set. Where the program has one thread at a time, `biased` is 1, the program owns `bias`, and the progress thread
     * is its guest. This lock is then that of all pending sets, too. */
    int biased;
    struct rmai_biased bias;
    pthread_mutex_t lock;
    _Atomic uint32_t wanted; /* threads that wait for the lock */
    int helped;              /* the progress thread runs */
    struct rmai_messages messages;
    struct rmai_batch *idle, *moving; /* moving: with long data, or a message, that the transport has not done yet */
    unsigned n_batches;               /* so many of `batch` exist */
    struct rmai_pe_table links;
    struct rmai_link *link;  /* the last that was asked for */
    struct rmai_link *owing; /* links to PEs of which some request is done and they have not been told */
    struct rmai_replies *replies;
    struct rmai_ping *ping;  /* RMAI_PINGS places */
    int crowded;             /* more PEs than processors on this machine */
    void *_Atomic *slept_on; /* slept_on of this PE's struct rmai_facts; */
    void *_Atomic no_sleep;  /* where there are no facts it is this one */
    struct rmai_by_node by_node;
    struct rmai_event doze; /* threads of the program sleep on it between two looks */
    _Atomic uint32_t turns; /* of progress: tells the progress thread that somebody else drives */

    _Atomic unsigned finished; /* calls of rmai_net_finish, about: some of them serve others */

    pthread_mutex_t sets_lock; /* of the list of pending sets; taken after `lock` */
    struct rmai_pending *sets;
    unsigned n_opened; /* sets that were ever opened */

    int sessions;       /* sets with an open session, */
    double batches_due; /* and when their open batches are sent next, by rmai_wtime; both under `lock` */

    /* MPI's windows. The fixed one covers the first bytes of each PE's symmetric heap. */
    _Atomic size_t covered; /* so many; stored by a release, when the window is there; 0 while it is made anew */
    int fixed;              /* there is a fixed window, or there will be; */
    int fixed_follows;      /* and it is made anew when the heap has grown, since the dynamic one is slower */
    int said_windowless;    /* that MPI's window is no good has been said */
    int windowless;         /* nothing goes through a window in this job */
    struct rmai_dynamic dynamic;
    struct rmai_ways ways;
    struct rmai_probe_buffers probe;

    struct rmai_batch *batch[RMAI_BATCHES]; /* the last field, see rmai_net_open */
};

/* rmai_net_fatal: what runtime/net cannot go on without has failed, as is recorded. Requests of this PE refer to memory
 * of callers that must not return: so the handler `fatal` ends the job. */
_Noreturn void rmai_net_fatal(struct rmai_net *net);

/* Each records an error of `call` about `pe`, and returns its code. rmai_net_failed_there: of a record whose error came
 * without a text, since no mistake of the caller's lets it fail: its owner had no memory, or MPI failed there. */
int rmai_net_no_memory(const char *call, int pe);
int rmai_net_failed_there(const char *call, int pe, int code);

/* rmai_net_damaged records that a message from PE `from` is none that a PE sends: RMA_ERR_MPI. */
int rmai_net_damaged(int from, const char *wrong);

#endif
