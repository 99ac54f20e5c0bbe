/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets through MPI's two windows. The fixed one covers the first part of each PE's symmetric heap; to the
 * dynamic one each PE attaches its memory. runtime/window_memory reports the growth of this PE's heaps. */
#ifndef RMAI_WINDOW_H
#define RMAI_WINDOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "runtime/net/net.h"
#include "runtime/net/op.h"
#include "runtime/net/way.h"
#include "runtime/transport/transport.h"

/* MPI's dynamic window: which of each PE's memory is attached to it, and at which address. A PE attaches its memory by
 * itself, without a meeting, and does not detach a heap's memory before the end: so what another PE has learned stays
 * true. Memory that the program attaches, and may detach, is not in the window.
 *
 * A part of the space (enum rmai_part_kind) is attached from its first byte on, in the steps in which heaps grow
 * (rmai_step_end). No access crosses the end of a step: MPI requires that it lies in one attached region. */
struct rmai_dynamic {
    int open;                   /* there is a dynamic window; */
    int parts[RMAI_PARTS];      /* 1: the part's memory is attached to it */
    struct rmai_directory *own; /* this PE's, or NULL */
    int by_get;                 /* directories are read through the fixed window; else by asking the PE */
    pthread_mutex_t lock;       /* held while attaching */
    int closed[RMAI_PARTS];     /* nothing more of the part is attached; under `lock` */
    _Atomic int refused;        /* MPI has refused to attach more: nothing is attached any more */
    _Atomic unsigned growths;   /* growths of the symmetric heap that all PEs have followed */
};

struct rmai_flow;

/* ---- the dynamic window (dynamic.c) ---- */

/* rmai_dynamic_open is given this PE's directory, and the address of each part's first byte. rmai_dynamic_follow
 * attaches the bytes of [0, size) of the part that are not attached yet, and enters them in the directory; only the PE
 * itself may do that. all: attach everything, even if the last step is not full; nothing of the part is attached later.
 * If MPI refuses, the PE prints a note and attaches nothing from then on. rmai_dynamic_grown: all PEs have followed a
 * growth of the symmetric heap, so directories that were read before may be old. */
void rmai_dynamic_open(struct rmai_net *net, struct rmai_directory *own, char *const address[RMAI_PARTS]);
void rmai_dynamic_follow(struct rmai_net *net, enum rmai_part_kind part, size_t size, int all);
void rmai_dynamic_grown(struct rmai_net *net);

/* For this folder. */

/* rmai_route_takes: 1 if this put or get goes by the way, provided that the way covers its place. */
static inline int rmai_route_takes(const struct rmai_route *w, enum rmai_access access, size_t len,
                                   enum rmai_when when) {
    const struct rmai_lengths *l = &w->takes[access][when];
    return len >= l->from && len < l->to;
}

/* The caller of the functions below holds the net's lock.
 *
 * rmai_window_takes: 1 if this put or get goes through a window, provided that one covers its place. rmai_window_move
 * does it in pieces. Between two pieces this PE serves others; otherwise their requests would wait for the whole
 * transfer. What no window covers goes by messages. */
int rmai_window_takes(struct rmai_net *net, const struct rmai_op *op);
int rmai_window_move(struct rmai_net *net, const struct rmai_op *op);

/* rmai_net_flush completes the transfers of this process to pe through one window, as far as `kind` says, while the
 * watchdog watches; it releases the lock meanwhile. Returns RMA_SUCCESS or RMA_ERR_MPI. rmai_net_flushes: 1 while some
 * thread flushes this window. */
int rmai_net_flush(struct rmai_net *net, const char *call, enum rmai_window_kind window, int pe,
                   enum rmai_flush_kind kind);
int rmai_net_flushes(const struct rmai_net *net, enum rmai_window_kind window);

/* rmai_window_flush completes what has gone to the flow's PE through the windows. for_others: not only the caller
 * relies on it, so if it fails the next quiet of the flow's set reports that. rmai_window_touched finds a flow that
 * needs it for something at most `age` old (flow.h), in the list that begins with f (only: no other than this one,
 * unless it is NULL). rmai_window_flush_fixed
 * completes all transfers to all PEs through the fixed window; if `covered` was set to 0 before, no thread uses that
 * window after it. The two that flush release the lock meanwhile, and return RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_flow *f, int for_others);
struct rmai_flow *rmai_window_touched(struct rmai_flow *f, const struct rmai_flow *only, uint64_t age);
int rmai_window_flush_fixed(struct rmai_net *net, const char *call);

/* rmai_dynamic_learn reads pe's directory again, and waits for it. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI.
 */
int rmai_dynamic_learn(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

/* rmai_dynamic_find finds [offset, offset + *len) of pe's space in pe's part of the dynamic window, and cuts *len at
 * the end of a step. Returns 1 with *address; 0 if it is not in the window; -1 if the
 * caller has to read pe's directory first (rmai_dynamic_learn). */
int rmai_dynamic_find(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t *len,
                      uint64_t *address);

#endif
