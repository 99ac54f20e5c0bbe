/* SPDX-License-Identifier: BSD-3-Clause */
/* Leases of attached regions. What the program of a PE attaches it may detach, and unmap: so another PE accesses it
 * through MPI's dynamic window only while it has a lease. The owner grants the lease on request, keeps in mind to whom,
 * and, when the region ends, revokes it: it asks each of them until no access of theirs is under way. Accesses by lease
 * are flushed before they return. So no access ever touches what has been detached.
 *
 * A PE whose program computes must be able to answer that: where not every PE has a progress thread, nothing is lent.
 *
 * This is the table of what this PE has leased, of fixed size, by the PE and the granule of the offset
 * (heap/attached.h). What has no place there goes by messages. runtime/net/borrow asks and revokes. */
#ifndef RMAI_LEASE_H
#define RMAI_LEASE_H

#include <stddef.h>
#include <stdint.h>

struct rmai_lease;
struct rmai_lent;
struct rmai_net;

enum rmai_leased {
    RMAI_LEASED,     /* it is in the window at *address, until rmai_lease_leave */
    RMAI_NOT_LEASED, /* it is not, or not any more: ask the owner by a message */
    RMAI_LEASE_BUSY, /* its place in the table is in use: by a message, or later again */
    RMAI_LEASE_ASK   /* nothing is known of it: the caller asks the owner, and then calls rmai_lease_told */
};

/* rmai_lease_find: [offset, offset + len) of the attached memory of pe. With RMAI_LEASE_ASK the place is the caller's
 * until rmai_lease_told, with the owner's answer, or one of size 0; a revocation that comes before that finds the
 * place, and the answer is not believed. Both for any thread. */
enum rmai_leased rmai_lease_find(struct rmai_net *net, int pe, uint64_t offset, size_t len, struct rmai_lease **lease,
                                 uint64_t *address);
enum rmai_leased rmai_lease_told(struct rmai_net *net, struct rmai_lease *lease, const struct rmai_lent *lent,
                                 uint64_t offset, size_t len, uint64_t *address);
void rmai_lease_leave(struct rmai_net *net, struct rmai_lease *lease);

/* rmai_lease_drop: the PE `owner` ends the region [start, start + size) of its offsets. Returns how many accesses of
 * this PE are in it; if none are, the lease is forgotten, and none will be. Any thread. */
uint64_t rmai_lease_drop(struct rmai_net *net, int owner, uint64_t start, uint64_t size);

void rmai_leases_close(struct rmai_net *net);

#endif
