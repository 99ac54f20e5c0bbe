/* SPDX-License-Identifier: BSD-3-Clause */
/* Trying out MPI's windows at init: do they move what they should, do they need the target, are they faster than
 * messages? MPI reaches nodes of one host in other ways than those of another machine: so a pair of each kind is tried
 * (job->pairs), one after the other, and what goes through a window is decided for all nodes alike, by the worst of the
 * answers. */
#ifndef RMAI_PROBE_H
#define RMAI_PROBE_H

#include "runtime/job/pairs.h"
#include "runtime/net/net.h"
#include "runtime/net/ways.h"

/* rmai_probe_times fills in the times of the trial on a pair, on its first PE, or leaves them 0 where it cannot, by
 * accesses to its second, which serves others meanwhile; on other PEs it does nothing. Before it, on all PEs,
 * rmai_probe_lends: the second PE attaches what is accessed, at the start of its symmetric heap, and returns 1 if the
 * caller has to call rmai_dynamic_detach then. rmai_probe_share tells all PEs (collective). Only where it matters, on
 * all PEs alike: rmai_probe_wants_times. */
int rmai_probe_wants_times(const struct rmai_net *net, enum rmai_pair_kind kind);
int rmai_probe_lends(struct rmai_net *net, enum rmai_pair_kind kind, char *symmetric);
void rmai_probe_times(struct rmai_net *net, enum rmai_pair_kind kind, struct rmai_pending *s);
void rmai_probe_share(struct rmai_net *net, enum rmai_pair_kind kind);

/* rmai_probe_print writes what was found, and which way puts and gets take, line by line. */
void rmai_probe_print(const struct rmai_net *net, void (*line)(void *out, const char *text), void *out);

/* For this folder. */

/* rmai_probe_write_and_read_back puts a pattern at an odd place in the page before the heap of a PE on another node,
 * and of the other PE of a pair, and reads it back: some versions of MPI and UCX shift what is put into a window with
 * an unlucky base. For the dynamic window there has to be a fixed one. Returns RMA_SUCCESS or RMA_ERR_MPI.
 *
 * rmai_probe_one_sided finds out which accesses through which window need the target: ways.trial and ways.needs_target,
 * on all PEs alike (collective; waits some milliseconds for each kind of pair). Returns RMA_SUCCESS or RMA_ERR_MPI, an
 * error on all PEs or on none. rmai_probe_merge: its last step, an access needs the target if it does between nodes of
 * some kind, or if none was tried.
 *
 * rmai_probe_faster: the lengths for which the dynamic window was clearly faster than messages on each pair. */
int rmai_probe_write_and_read_back(struct rmai_net *net, enum rmai_window_kind window);
int rmai_probe_one_sided(struct rmai_net *net);
void rmai_probe_merge(struct rmai_ways *w);
struct rmai_lengths rmai_probe_faster(const struct rmai_ways *w, enum rmai_access access);

#endif
