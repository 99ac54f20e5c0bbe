/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets through MPI's windows: the fixed one over the first part of each PE's symmetric heap, and the dynamic
 * one, to which each PE attaches its memory. runtime/cover reports the growth of this PE's heaps. */
#ifndef RMAI_WINDOW_H
#define RMAI_WINDOW_H

#include <stddef.h>

#include "runtime/net/net.h"
#include "runtime/net/op.h"

struct rmai_peer;

/* rmai_dynamic_open is given this PE's directory, and the address of each part's first byte. rmai_dynamic_follow
 * attaches the bytes of [0, size) of the part that are not attached yet, and enters them in the directory; only the PE
 * itself may do that. all: attach everything, even if the last step is not full; nothing of the part is attached later.
 * If MPI refuses, the PE prints a note and attaches nothing from then on. rmai_dynamic_grown: all PEs have followed a
 * growth of the symmetric heap, so directories that were read before may be old. rmai_dynamic_detach detaches memory
 * that was attached for a trial. */
void rmai_dynamic_open(struct rmai_net *net, struct rmai_directory *own, char *const address[RMAI_PARTS]);
void rmai_dynamic_follow(struct rmai_net *net, enum rmai_part_kind part, size_t size, int all);
void rmai_dynamic_grown(struct rmai_net *net);
void rmai_dynamic_detach(struct rmai_net *net, void *base);

/* For this folder. */

/* rmai_window_takes: 1 if this put or get goes through a window, provided that one covers its place. rmai_window_put
 * and rmai_window_get do it in pieces. Between two pieces this PE serves others; otherwise their requests would wait
 * for the whole transfer. What no window covers goes by messages. The caller holds no lock. */
int rmai_window_takes(struct rmai_net *net, const struct rmai_op *op);
int rmai_window_put(struct rmai_net *net, const struct rmai_op *op);
int rmai_window_get(struct rmai_net *net, const struct rmai_op *op);

/* rmai_window_flush completes all transfers to p through the windows; the caller holds the set's lock.
 * rmai_window_flush_all completes all transfers to all PEs, one set after the other; if `covered` was set to 0 before,
 * no thread uses the fixed window after it. Both return RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_peer *p);
int rmai_window_flush_all(struct rmai_net *net, const char *call);

/* rmai_dynamic_learn reads pe's directory again, and waits for it. The caller does not hold the set's lock. Returns
 * RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI. */
int rmai_dynamic_learn(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

#endif
