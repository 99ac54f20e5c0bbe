/* SPDX-License-Identifier: BSD-3-Clause */
/* Trying out MPI's windows at init: do they move what they should, are their atomics right, do they need the
 * target, are they faster than messages? */
#ifndef RMAI_PROBE_H
#define RMAI_PROBE_H

#include "runtime/net/pending.h"
#include "runtime/net/ways.h"

struct rmai_net;
struct rmai_transport_mpi;

/* rmai_probe_write_and_read_back puts a pattern at an odd place in the page before the heap of a PE on another node,
 * and reads it back: some versions of MPI and UCX shift what is put into a window with an unlucky base. For the dynamic
 * window there has to be a fixed one. Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_probe_write_and_read_back(struct rmai_net *net, enum rmai_window_kind window);

/* rmai_probe_bitwise: ways.bitwise_wrong becomes 1 on all PEs if an and, or or xor through the dynamic window gives
 * another value than it should (collective). page: this PE's before its heap. Each node's first PE tries it on PE 0,
 * and so does a PE of PE 0's node. Returns RMA_SUCCESS or RMA_ERR_MPI, on each PE its own. */
int rmai_probe_bitwise(struct rmai_net *net, struct rmai_transport_mpi *mpi, const char *page);

/* rmai_probe_one_sided finds out which accesses through which window need the target: ways.needs_target, on all PEs
 * alike (collective; waits some milliseconds). Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_probe_one_sided(struct rmai_net *net, struct rmai_transport_mpi *mpi);

/* rmai_probe_times fills ways.probed on the first leader, or leaves it 0 where it cannot, by accesses to the second,
 * which serves others meanwhile; on other PEs it does nothing. Before it, on all PEs, rmai_probe_lends: the second
 * leader attaches what is accessed, at the start of its symmetric heap, and returns 1 if the caller has to detach it
 * then. rmai_probe_share tells all PEs (collective). Only where it matters, on all PEs alike: rmai_probe_wants_times.
 */
int rmai_probe_wants_times(const struct rmai_net *net);
int rmai_probe_lends(struct rmai_net *net, char *symmetric);
void rmai_probe_times(struct rmai_net *net, struct rmai_pending *s);
int rmai_probe_share(struct rmai_net *net, struct rmai_transport_mpi *mpi);

/* rmai_probe_faster: the lengths for which the dynamic window was clearly faster than messages. */
struct rmai_lengths rmai_probe_faster(const struct rmai_ways *w, enum rmai_access access);

/* rmai_probe_print writes what was found, line by line. */
void rmai_probe_print(const struct rmai_net *net, void (*line)(void *out, const char *text), void *out);

#endif
