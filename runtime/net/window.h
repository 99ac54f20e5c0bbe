/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes through MPI's windows: the fixed one over the first part of each PE's symmetric heap, and the dynamic one
 * (runtime/net/dynamic). A place is named by its offset in the owner's space, as in a global pointer. */
#ifndef RMAI_WINDOW_H
#define RMAI_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/net/pending.h"
#include "runtime/net/when.h"

/* A put or get, or what is left of it: len bytes between `buffer` and [offset, offset + len) of pe. */
struct rmai_transfer {
    const char *call;
    struct rmai_pending *set;
    uint64_t offset;
    char *buffer;
    size_t len;
    int pe;
    enum rmai_access access; /* RMAI_ACCESS_PUT or RMAI_ACCESS_GET */
    enum rmai_when when;
};

/* rmai_window_move moves it, in pieces. Between two pieces this PE serves others: else a PE that asks it for something,
 * if only for a sign of life, would wait for the whole transfer. Returns 1, with *code; or 0 where what is left in *t
 * has to go as messages. */
int rmai_window_move(struct rmai_net *net, struct rmai_transfer *t, int *code);

/* rmai_window_takes_all: 1 if puts, or gets, of len bytes and of every greater length to that offset go through a
 * window that covers it, whatever the caller does next. */
static inline int rmai_window_takes_all(const struct rmai_net *net, uint64_t offset, size_t len,
                                        enum rmai_access access) {
    const uint64_t at = offset - net->job->layout.symmetric;
    const enum rmai_window_kind window =
        at < atomic_load_explicit(&net->covered, memory_order_relaxed) ? RMAI_FIXED : RMAI_DYNAMIC;
    return net->ways.all_by_window[window][access] && rmai_ways_window(&net->ways, window, access, len, RMAI_NOW);
}

/* rmai_window_flush completes what has gone to p through the windows, with the set's lock. rmai_window_flush_all: what
 * has gone through them anywhere, in all sets, one after the other; after it no thread uses the fixed one in any of
 * them, if `covered` was set to 0 before.
 * Return RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_peer *p);
int rmai_window_flush_all(struct rmai_net *net, const char *call);

#endif
