/* SPDX-License-Identifier: BSD-3-Clause */
/* The way through MPI's windows: the fixed one over the first part of each PE's symmetric heap, and the dynamic one, to
 * which each PE attaches what it has. The heaps' owner tells how its heaps grow (runtime/cover). */
#ifndef RMAI_WINDOW_H
#define RMAI_WINDOW_H

#include <stddef.h>

#include "runtime/net/net.h"
#include "runtime/net/op.h"

struct rmai_peer;

/* rmai_dynamic_open: this PE's directory, and the address of each part's first byte. rmai_dynamic_follow attaches what
 * [0, size) of the part has more than before, and tells the directory; only the PE itself may do that. all: nothing of
 * this is left for later, a step that is not whole is attached and the last. If MPI refuses, a note says so, and this
 * PE attaches nothing from then on. rmai_dynamic_grown: all PEs have followed a growth of the symmetric heap: what was
 * learned of it before may be old. rmai_dynamic_detach takes memory out of the window that was attached for a trial. */
void rmai_dynamic_open(struct rmai_net *net, struct rmai_directory *own, char *const address[RMAI_PARTS]);
void rmai_dynamic_follow(struct rmai_net *net, enum rmai_part_kind part, size_t size, int all);
void rmai_dynamic_grown(struct rmai_net *net);
void rmai_dynamic_detach(struct rmai_net *net, void *base);

/* For this folder. */

/* rmai_window_takes: 1 if such a put or get goes through a window, if that covers its place. rmai_window_put and
 * rmai_window_get do it, in pieces: between two pieces this PE serves others, since a PE that asks it for something
 * would otherwise wait for the whole transfer. What the windows do not cover they have done by messages. No lock is
 * held. */
int rmai_window_takes(struct rmai_net *net, const struct rmai_op *op);
int rmai_window_put(struct rmai_net *net, const struct rmai_op *op);
int rmai_window_get(struct rmai_net *net, const struct rmai_op *op);

/* rmai_window_flush completes what has gone to p through the windows, with the set's lock. rmai_window_flush_all: what
 * has gone through them anywhere, in all sets, one after the other; after it no thread uses the fixed one in any of
 * them, if `covered` was set to 0 before. Return RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_peer *p);
int rmai_window_flush_all(struct rmai_net *net, const char *call);

/* rmai_dynamic_learn reads pe's directory anew; without the set's lock. Waits. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or
 * RMA_ERR_MPI. */
int rmai_dynamic_learn(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

#endif
