/* SPDX-License-Identifier: BSD-3-Clause */
/* The local heap between its two modules: local.c for its owner, remote.c for the others. */
#ifndef RMAI_LOCAL_H
#define RMAI_LOCAL_H

#include <stddef.h>

#include "runtime/world.h"

/* rmai_local_grow grows a pool of PE number q of the node, by at least what this allocation needs, and tells the peers.
 * Returns RMA_SUCCESS or RMA_ERR_NO_MEM. The caller holds the pool. */
int rmai_local_grow(struct rmai_world *w, struct rmai_segment *s, int q, enum rmai_pool pool, size_t alignment,
                    size_t size);

/* rmai_local_free frees a block of this PE's own pool. Returns RMA_SUCCESS, RMA_ERR_BASE, RMA_ERR_ADDRESS (overrun). */
int rmai_local_free(struct rmai_world *w, const char *call, void *base);

/* rmai_give_back gives the block at `offset` in the space of PE number q of the node back to its owner. `addr` is the
 * address that texts name, or NULL for the global pointer. Returns RMA_SUCCESS, RMA_ERR_BASE, RMA_ERR_ADDRESS. */
int rmai_give_back(struct rmai_world *w, const char *call, int q, size_t offset, const void *addr);

/* rmai_guest_alloc allocates in the guests' part of PE number q. Returns RMA_SUCCESS, RMA_ERR_NO_MEM, RMA_ERR_SYSTEM.
 */
int rmai_guest_alloc(struct rmai_world *w, const char *call, int q, size_t size, rma_gptr_t *g);

/* rmai_guest_view is this PE's view of the guests' part of PE number q; rmai_own_view of the owner's part. */
void rmai_guest_view(const struct rmai_world *w, int q, struct rmai_segment *s);
void rmai_own_view(const struct rmai_world *w, int q, struct rmai_segment *s);

/* rmai_guest_lock takes the guests' part of PE number q, for the public call `call`; RMA_ERR_SYSTEM, recorded, if a PE
 * died while it had it. */
int rmai_guest_lock(struct rmai_world *w, const char *call, int q);
void rmai_guest_unlock(struct rmai_world *w, int q);

#endif
