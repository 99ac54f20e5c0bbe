/* SPDX-License-Identifier: BSD-3-Clause */
/* Trying out MPI's windows at init: do they move what they should, do they need the target, are they faster than
 * messages? MPI reaches nodes of one host and nodes of another machine in different ways. So the probe tries a pair of
 * each kind (job->pairs), one after the other, and decides for all nodes alike, by the worst of the answers, what goes
 * through a window. */
#ifndef RMAI_PROBE_H
#define RMAI_PROBE_H

#include "runtime/job/pairs.h"
#include "runtime/net/net.h"
#include "runtime/net/ways.h"

/* rmai_probe_wants_times: 1 if the times of such a pair matter; alike on all PEs. Then all PEs call the others.
 * rmai_probe_lends: the pair's second PE attaches the memory for the trial, the start of its symmetric heap, and
 * returns 1 if the caller has to call rmai_dynamic_detach after the trial. rmai_probe_times: the pair's first PE
 * measures accesses to the second one, which serves others meanwhile, and fills in the times; it leaves at 0 what it
 * cannot measure. Other PEs do nothing in it. rmai_probe_share tells the times to all PEs (collective). */
int rmai_probe_wants_times(const struct rmai_net *net, enum rmai_pair_kind kind);
int rmai_probe_lends(struct rmai_net *net, enum rmai_pair_kind kind, char *symmetric);
void rmai_probe_times(struct rmai_net *net, enum rmai_pair_kind kind, struct rmai_pending *s);
void rmai_probe_share(struct rmai_net *net, enum rmai_pair_kind kind);

/* rmai_probe_print writes, line by line, what the probe has found, and which way puts and gets go. */
void rmai_probe_print(const struct rmai_net *net, void (*line)(void *out, const char *text), void *out);

/* For this folder. */

/* rmai_probe_write_and_read_back puts a pattern at an odd place in the page before the heap of a PE on another node,
 * and of the other PE of a pair, and reads it back: some versions of MPI and UCX put data at a wrong place if the
 * window has an unlucky base. The trial of the dynamic window needs a fixed one. Returns RMA_SUCCESS or RMA_ERR_MPI.
 *
 * rmai_probe_one_sided finds out which accesses through which window need the target: ways.trial and ways.needs_target,
 * on all PEs alike (collective; waits some milliseconds for each kind of pair). Returns RMA_SUCCESS or RMA_ERR_MPI, an
 * error on all PEs or on none. rmai_probe_merge is its last step: an access needs the target if it does so between
 * nodes of any kind, or if no kind was tried.
 *
 * rmai_probe_faster returns the lengths for which the dynamic window was clearly faster than messages on each pair. */
int rmai_probe_write_and_read_back(struct rmai_net *net, enum rmai_window_kind window);
int rmai_probe_one_sided(struct rmai_net *net);
void rmai_probe_merge(struct rmai_ways *w);
struct rmai_lengths rmai_probe_faster(const struct rmai_ways *w, enum rmai_access access);

#endif
