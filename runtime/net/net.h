/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs of other nodes: opening and closing what serves them. What it keeps is the business of this folder's files alone
 * (state.h). op.h has the operations, progress.h what drives them, window.h MPI's windows, group.h what PEs do
 * together.
 *
 * runtime/net knows no heap and no API: what a request of another node wants of this PE's memory is asked of handlers,
 * and so is what only the layers above know of a wait. In a job of one node there is no net, and the pointer to it is
 * NULL. */
#ifndef RMAI_NET_H
#define RMAI_NET_H

#include <stddef.h>
#include <stdint.h>

#include "base/wait.h"
#include "runtime/job/job.h"

struct rmai_envelope;
struct rmai_flush_seen;
struct rmai_net;
struct rmai_pending;
struct rmai_traffic;
struct rmai_transport;

struct rmai_net_handlers {
    void *context; /* of all of them */
    /* Where [offset, offset + len) of this PE's space is, or of its neighbour's whose mark the offset has
     * (runtime/net/by_node), for a request of `call`, with this alignment. Returns RMA_SUCCESS with *there, and *hold,
     * which keeps the memory in place until it is released, or is NULL; or records why not: RMA_ERR_ADDRESS, with *hold
     * NULL. */
    int (*locate)(void *context, const char *call, uint64_t offset, size_t len, size_t alignment, int writes,
                  void **there, void **hold);
    void (*release_hold)(void *context, void *hold);
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
    /* The message e of len bytes, of kind RMAI_WIRE_ALIVE, has come from PE `from`. Returns RMA_SUCCESS, or records why
     * no PE sends such a message. */
    int (*take_sign_of_life)(void *context, int from, const struct rmai_envelope *e, size_t len);
    /* A wait has lasted, at one of its rests; and it is over. The net's lock is held. */
    void (*wait_lasts)(void *context, struct rmai_stall *stall);
    void (*wait_is_over)(void *context, struct rmai_stall *stall);
    /* Ends the job, whatever the error handler, for the error that is recorded. Does not return. */
    void (*fatal)(void *context);
    /* Threads of the program that wait for what other nodes send sleep on it between two polls. */
    struct rmai_event *doze;
};

/* rmai_net_open: the transport is open. crowded: there are more PEs than processors on this machine. Returns
 * RMA_SUCCESS with *net, RMA_ERR_NO_MEM or RMA_ERR_MPI; after an error *net is NULL. rmai_net_close ends the windows
 * and frees all, and returns RMA_SUCCESS or RMA_ERR_MPI: collective, after all PEs have met, quiet. net may be NULL. */
int rmai_net_open(const struct rmai_job *job, struct rmai_transport *transport, struct rmai_traffic *traffic,
                  const struct rmai_net_handlers *handlers, int crowded, struct rmai_net **net);
int rmai_net_close(struct rmai_net *net);

/* rmai_net_agreed: all PEs know which of them serve others at any time, and by which rule PEs are placed on nodes (the
 * job's all_progress and placement): sessions choose their way by that. */
void rmai_net_agreed(struct rmai_net *net);

/* rmai_net_way says in a few words how puts and gets travel; there is a net. */
const char *rmai_net_way(const struct rmai_net *net);

/* For runtime/watch. rmai_net_transport: what carries its questions. rmai_net_has_window: 1 if something may go through
 * one of MPI's windows. rmai_net_flush_lasts: 1 if the flush *seen (flush.h) is still under way. Else 0, and *seen
 * becomes a flush that is under way, or none. If there are several, repeated calls find the one that lasts, since the
 * others change. Any thread. */
struct rmai_transport *rmai_net_transport(struct rmai_net *net);
int rmai_net_has_window(const struct rmai_net *net);
int rmai_net_flush_lasts(struct rmai_net *net, struct rmai_flush_seen *seen);

/* rmai_net_fatal: what the net cannot go on without has failed, as is recorded. Requests of this PE refer to memory of
 * callers that must not return: so the handler `fatal` ends the job. rmai_net_damaged records that no PE sends such a
 * message as has come from PE `from`: RMA_ERR_MPI. */
_Noreturn void rmai_net_fatal(struct rmai_net *net);
int rmai_net_damaged(int from, const char *wrong);

/* Pending sets: what has been begun and quiet completes (peer.h). Each context has one.
 *
 * rmai_pending_open makes an empty set; while nothing is pending, the two words are 1 (they may be the same).
 * Operations of the set count in `traffic`. Without a net *s is NULL: nothing is ever pending. Returns RMA_SUCCESS, or
 * RMA_ERR_NO_MEM. rmai_pending_close: it is quiet; s may be NULL. */
int rmai_pending_open(struct rmai_net *net, uint32_t *nothing_pending, uint32_t *nothing_pending_too,
                      struct rmai_traffic *traffic, struct rmai_pending **s);
void rmai_pending_close(struct rmai_pending *s);

#endif
