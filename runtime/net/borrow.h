/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking for a lease of another PE's attached region, and taking this PE's own leases back (runtime/net/lease). */
#ifndef RMAI_BORROW_H
#define RMAI_BORROW_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/net/lease.h"

struct rmai_pending;

/* rmai_borrow: as rmai_lease_find, and where nothing is known yet it asks pe, and waits for the answer: never
 * RMAI_LEASE_ASK. No lock is held. */
enum rmai_leased rmai_borrow(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                             size_t len, struct rmai_lease **lease, uint64_t *address);

/* rmai_revoke: this PE ends its region [start, start + size), which it has lent to the PEs of the set: bit q % 64 of
 * word q / 64. Returns when no access of theirs is in it, and serves others meanwhile. Returns RMA_SUCCESS, or the
 * error of an MPI that fails. */
int rmai_revoke(struct rmai_net *net, const char *call, struct rmai_pending *s, uint64_t start, uint64_t size,
                const uint64_t *lent_to);

#endif
