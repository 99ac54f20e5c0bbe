/* SPDX-License-Identifier: BSD-3-Clause */
/* The net: all that this PE needs to work with PEs of other nodes. This header opens and closes it; only the files of
 * this folder know its fields (state.h). op.h has the operations, progress.h drives them, window.h has MPI's windows,
 * and group.h the exchanges between groups of PEs.
 *
 * runtime/net knows no heap and no API. It calls handlers to find this PE's memory for a request of another node, and
 * to learn what only the layers above know about a wait. In a job of one node there is no net, and the pointer to it is
 * NULL. */
#ifndef RMAI_NET_H
#define RMAI_NET_H

#include <stddef.h>
#include <stdint.h>

#include "base/wait.h"
#include "runtime/job/job.h"

struct rmai_envelope;
struct rmai_net;
struct rmai_pending;
struct rmai_streams;
struct rmai_traffic;
struct rmai_transport;

struct rmai_net_handlers {
    void *context; /* the first argument of all handlers */
    /* Finds [offset, offset + len), with this alignment, for a request of `call`: in this PE's space, or in that of the
     * neighbour whose mark the offset has (runtime/job/by_node). writes: 0 or 1: pages of attached memory are touched,
     * so that the access cannot fault; -1: they are not. Returns RMA_SUCCESS with *there and *hold; a hold that
     * is not NULL keeps the memory in place until it is released. Or records RMA_ERR_ADDRESS, with *hold NULL. */
    int (*locate)(void *context, const char *call, uint64_t offset, size_t len, size_t alignment, int writes,
                  void **there, void **hold);
    void (*release_hold)(void *context, void *hold);
    /* Tells which part of this PE's space needs no call of locate: [*offset, *offset + *len), which others may read and
     * write, stays at *there until the net is closed. The same part of each neighbour's space is at the job's stride
     * from there. */
    void (*direct)(void *context, uint64_t *offset, size_t *len, unsigned char **there);
    /* Allocate and free a block in the part of this PE's local heap that other PEs may allocate from. Return
     * RMA_SUCCESS, or a recorded error.
     */
    int (*allocate)(void *context, const char *call, size_t size, uint64_t *block);
    int (*give_back)(void *context, const char *call, uint64_t offset);
    /* How far this PE's local heap, and the part for other PEs, may be accessed (rmai_facts). */
    void (*extents)(void *context, size_t extent[RMAI_POOLS]);
    /* What this PE tells of the call in which it waits. */
    void (*sign)(void *context, struct rmai_sign *sign);
    /* The message e of len bytes, of kind RMAI_WIRE_ALIVE, has come from PE `from`. Returns RMA_SUCCESS, or an error
     * that tells what is wrong with the message. */
    int (*take_sign_of_life)(void *context, int from, const struct rmai_envelope *e, size_t len);
    /* wait_lasts: a wait has lasted for a while; called when the thread is about to sleep between two polls.
     * wait_is_over: the wait has ended. The net's lock is held. */
    void (*wait_lasts)(void *context, struct rmai_stall *stall);
    void (*wait_is_over)(void *context, struct rmai_stall *stall);
    /* Ends the job because of the recorded error, whatever the error handler is. Does not return. */
    void (*fatal)(void *context);
    /* Threads of the program that wait for other nodes sleep on it between two polls. */
    struct rmai_event *doze;
};

/* rmai_net_open: the transport is open. crowded: there are more PEs than processors on this machine. Returns
 * RMA_SUCCESS with *net, RMA_ERR_NO_MEM or RMA_ERR_MPI; after an error *net is NULL. rmai_net_close ends the windows
 * and frees all, and returns RMA_SUCCESS or RMA_ERR_MPI: collective, after all PEs have met, quiet. net may be NULL. */
int rmai_net_open(const struct rmai_job *job, struct rmai_transport *transport, struct rmai_traffic *traffic,
                  const struct rmai_net_handlers *handlers, int crowded, struct rmai_net **net);
int rmai_net_close(struct rmai_net *net);

/* rmai_net_agreed is called when all PEs know whether each of them can serve others at any time, and by which rule PEs
 * are placed on nodes (the job's all_progress and placement). Sessions use this to decide whether records go by
 * proxies. */
void rmai_net_agreed(struct rmai_net *net);

/* rmai_net_way says in a few words how puts and gets travel; there is a net. */
const char *rmai_net_way(const struct rmai_net *net);

/* A flush of one of MPI's windows that is under way: version is 0 if none is. */
struct rmai_flush_seen {
    unsigned version;
    const char *call;
    int pe;
};

/* For runtime/watch. rmai_net_transport returns the transport, which carries its questions. rmai_net_has_window: 1 if
 * something may go through one of MPI's windows. rmai_net_flush_lasts: 1 if the flush *seen is still under way;
 * otherwise 0, and *seen becomes another flush that is under way, or none. If several flushes are under way, repeated
 * calls find the one that lasts, since the others end. Any thread may call these. */
struct rmai_transport *rmai_net_transport(struct rmai_net *net);
int rmai_net_has_window(const struct rmai_net *net);
int rmai_net_flush_lasts(struct rmai_net *net, struct rmai_flush_seen *seen);

/* The net's lock, for threads of the program: one thread at a time drives progress, the one that holds it. */
void rmai_net_lock(struct rmai_net *net);
void rmai_net_unlock(struct rmai_net *net);

/* rmai_net_fatal ends the job, by the handler `fatal`: the recorded error leaves the net unusable, and requests under
 * way use the memory of callers, which must not return. rmai_net_damaged records RMA_ERR_MPI: the message from PE
 * `from` is one that no PE sends. */
_Noreturn void rmai_net_fatal(struct rmai_net *net);
int rmai_net_damaged(int from, const char *wrong);

/* Pending sets: operations that have begun and that quiet completes (flow.h). Each context has one.
 *
 * rmai_pending_open makes an empty set. The set keeps the two words (which may be one) at RMA_ALL_COMPLETE_ while
 * nothing is pending, at RMA_PUTS_COMPLETE_ or RMA_STREAMING_ while no put is, else at 0; and counts its operations in
 * `traffic`. Without a net *s is NULL: nothing is ever pending. Returns RMA_SUCCESS or RMA_ERR_NO_MEM.
 * rmai_pending_close frees a set that is quiet; s may be NULL. */
int rmai_pending_open(struct rmai_net *net, uint32_t *complete, uint32_t *complete_too, struct rmai_traffic *traffic,
                      struct rmai_pending **s);
void rmai_pending_close(struct rmai_pending *s);

/* rmai_net_alone returns the lock of `alone` in struct rma_reach_, or NULL: other threads or PEs may access this PE's
 * memory by atomics. net may be NULL. */
uint32_t *rmai_net_alone(struct rmai_net *net);

/* A bell wakes a thread that serves other PEs above this layer: after an atomic or a signal of another node on `word`,
 * of this PE's memory, the thread that did it wakes those that sleep on `futex` (futex(2)). word NULL: there is no
 * bell. rmai_net_set_bell changes the net's one bell. */
struct rmai_bell {
    const void *word;
    _Atomic uint32_t *futex;
};
void rmai_net_set_bell(struct rmai_net *net, struct rmai_bell bell);

/* rmai_pending_streams returns the set's streams (stream.h), or NULL if it has none. */
struct rmai_streams *rmai_pending_streams(struct rmai_pending *s);

/* rmai_net_rests: 1 if nothing is under way from this PE, and nothing waits to be sent. The caller holds the lock. */
int rmai_net_rests(struct rmai_net *net);

#endif
