/* SPDX-License-Identifier: BSD-3-Clause */
/* Leases of attached regions. What the program of a PE attaches it may detach, and unmap: so another PE accesses it
 * through MPI's dynamic window only while it has a lease. The owner grants the lease on request, keeps in mind to whom,
 * and, when the region ends, revokes it: it asks each of them until no access of theirs is under way. Accesses by lease
 * are flushed before they return. So no access ever touches what has been detached.
 *
 * A PE whose program computes must be able to answer that: where not every PE has a progress thread, nothing is lent.
 *
 * What is leased is kept in a table of fixed size, by the PE and the granule of the offset (heap/attached.h). What has
 * no place there goes by messages. */
#ifndef RMAI_LEASE_H
#define RMAI_LEASE_H

#include <stddef.h>
#include <stdint.h>

struct rmai_lease;
struct rmai_net;
struct rmai_pending;

enum rmai_leased {
    RMAI_LEASED,     /* it is in the window at *address, until rmai_lease_leave */
    RMAI_NOT_LEASED, /* it is not, or not any more: ask the owner by a message */
    RMAI_LEASE_BUSY  /* the place in the table is in use: by a message, or later again */
};

/* rmai_lease_enter: [offset, offset + len) of the attached memory of pe. Asks pe if this PE has not asked before; waits
 * for the answer then. No lock is held. */
enum rmai_leased rmai_lease_enter(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                                  uint64_t offset, size_t len, struct rmai_lease **lease, uint64_t *address);
void rmai_lease_leave(struct rmai_net *net, struct rmai_lease *lease);

/* rmai_lease_drop: the PE `owner` ends the region [start, start + size) of its offsets. Returns how many accesses of
 * this PE are in it; if none are, the lease is forgotten, and none will be. Any thread. */
uint64_t rmai_lease_drop(struct rmai_net *net, int owner, uint64_t start, uint64_t size);

/* rmai_lease_revoke: this PE ends its region [start, start + size), which it has lent to the PEs of the set: bit q of
 * word q / 64. Returns when no access of theirs is in it, and serves others meanwhile. Returns RMA_SUCCESS, or the
 * error of an MPI that fails. */
int rmai_lease_revoke(struct rmai_net *net, const char *call, struct rmai_pending *s, uint64_t start, uint64_t size,
                      const uint64_t *lent_to);

void rmai_leases_close(struct rmai_net *net);

#endif
