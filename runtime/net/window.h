/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's window over the first part of each PE's symmetric heap: what goes through it. A place there is
 * named by its offset in the owner's space, as in a global pointer. */
#ifndef RMAI_WINDOW_H
#define RMAI_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/net/pending.h"
#include "runtime/net/when.h"

/* rmai_window_move puts or gets (get) len bytes between `buffer` and [offset, offset + len) of pe, in pieces. Between
 * two pieces this PE serves others: else a PE that asks it for something, if only for a sign of life, would wait for
 * the whole transfer. Returns 1, with *code; or 0 where what comes after the first *done bytes has to go as messages.
 */
int rmai_window_move(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                     char *buffer, size_t len, enum rmai_when when, int get, size_t *done, int *code);

/* rmai_window_atomic: an atomic by MPI, where rmai_net_by_mpi; as rmai_net_atomic. */
int rmai_window_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, int op,
                       size_t len, uint64_t value, uint64_t cond, void *old, int later);

/* rmai_window_flush completes what has gone to p through the window, with the set's lock. rmai_window_flush_all: what
 * has gone through it anywhere, in all sets, one after the other; after it no thread uses the window in any of them.
 * Return RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_peer *p);
int rmai_window_flush_all(struct rmai_net *net, const char *call);

#endif
