/* SPDX-License-Identifier: BSD-3-Clause */
/* The two pools of a PE's local heap: its own, and the guests' part, in which other PEs of the node allocate. Both are
 * in shared memory, where every PE of the node works on them. In its own pool only the PE itself allocates; in the
 * guests' part all others allocate, under a lock. A PE that gives a block back needs no lock. The pools belong to PE
 * number q of the node, which takes no part. Uses heap/ and base/lock. */
#ifndef RMAI_POOL_H
#define RMAI_POOL_H

#include <stddef.h>

#include "rma.h"
#include "runtime/job/job.h"

struct rmai_segment;
struct rmai_world;

/* rmai_pool_grow grows a pool of PE number q by at least what this allocation needs, and tells all PEs by the extent in
 * q's header. Returns RMA_SUCCESS or RMA_ERR_NO_MEM. The caller is the pool's owner, or holds the guests' lock.
 */
int rmai_pool_grow(struct rmai_world *w, struct rmai_segment *s, int q, enum rmai_pool pool, size_t alignment,
                   size_t size);

/* rmai_guest_view makes *s this PE's view of the guests' part of PE number q; rmai_own_view, that of the owner's part.
 */
void rmai_guest_view(const struct rmai_world *w, int q, struct rmai_segment *s);
void rmai_own_view(const struct rmai_world *w, int q, struct rmai_segment *s);

/* rmai_guest_lock takes the lock of the guests' part of PE number q, for the public call `call`. Returns RMA_SUCCESS,
 * or records RMA_ERR_SYSTEM: a PE died while it held the lock. */
int rmai_guest_lock(struct rmai_world *w, const char *call, int q);
void rmai_guest_unlock(struct rmai_world *w, int q);

/* rmai_guest_alloc allocates in the guests' part of PE number q. Returns RMA_SUCCESS, RMA_ERR_NO_MEM, RMA_ERR_SYSTEM.
 */
int rmai_guest_alloc(struct rmai_world *w, const char *call, int q, size_t size, rma_gptr_t *g);

/* rmai_give_back gives the block at `offset` in the space of PE number q back to its owner. `addr` is the address that
 * error texts name; if it is NULL they name the global pointer. Returns RMA_SUCCESS, RMA_ERR_BASE, RMA_ERR_ADDRESS. */
int rmai_give_back(struct rmai_world *w, const char *call, int q, size_t offset, const void *addr);

#endif
