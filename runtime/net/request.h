/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of PEs of other nodes. It travels as a request that each PE serves, and that does it with the same
 * instructions as its own program (runtime/net/reply); only puts, gets and atomics in the part of the symmetric heap
 * that MPI's window covers go through that, where it is better so. A place is named by its offset in the owner's space,
 * as in a global pointer.
 *
 * Each returns RMA_SUCCESS, or the recorded error of `call`, worded as on the node. The range of a symmetric place has
 * been looked at; others are looked at by their owner, or by what it has said of its extents. What is not done at once
 * belongs to the set s: "quiet" here is rmai_net_quiet of s. */
#ifndef RMAI_REQUEST_H
#define RMAI_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/net/pending.h"
#include "runtime/net/state.h"
#include "runtime/net/when.h"
#include "runtime/net/wire.h"

/* A put is in its place after quiet. atomic: old may be NULL, and then it is done after quiet; with `later`, *old is
 * filled after quiet. */
int rmai_net_put(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                 const void *source, size_t len, enum rmai_when when);
int rmai_net_get(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, void *dest,
                 size_t len, enum rmai_when when);
int rmai_net_atomic(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, int op,
                    size_t len, uint64_t value, uint64_t cond, void *old, int later);

/* A put of at most RMAI_WITH_SIGNAL bytes, and an atomic on a word (of 8 bytes, or 4 with a short put) that the owner
 * does when they are there. Short ones are one message. Neither fails. */
#define RMAI_WITH_SIGNAL RMAI_PIECE
int rmai_net_put_signal(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                        const void *source, size_t len, uint64_t word, int op, size_t word_len, uint64_t value,
                        enum rmai_when when);

/* Allocate and free in the part of pe's local heap that is for others. */
int rmai_net_alloc(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g);
int rmai_net_free(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset);

/* rmai_net_look has pe check that [offset, offset + len) lies in one segment or attached region of pe, and may be
 * written, if `writes` is not 0. Waits for the answer. Returns RMA_SUCCESS or an error of `call`. */
int rmai_net_look(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset, size_t len,
                  int writes);

/* rmai_net_extent: how far memory of pe's pool may be touched, as an offset in its space: as it was last heard of, 0 if
 * never, or with `fresh` as it is now. */
int rmai_net_extent(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, enum rmai_pool pool,
                    int fresh, size_t *extent);

#endif
