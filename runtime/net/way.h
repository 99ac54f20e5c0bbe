/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes MPI's windows, tries them out, and decides which puts and gets go by which way (route.h). */
#ifndef RMAI_WAY_H
#define RMAI_WAY_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/job/pairs.h"
#include "runtime/net/net.h"
#include "runtime/net/route.h"

/* rmai_ways_open fills in the rows: everything goes by messages. rmai_ways_choose decides, after the probe and on all
 * PEs alike (collective), what goes through which window, and which memory is attached to the dynamic one. It frees a
 * dynamic window that is of no use. Returns RMA_SUCCESS or RMA_ERR_MPI. rmai_ways_print writes, line by line, each
 * way's row, and what the probe has found; net may be NULL. */
void rmai_ways_open(struct rmai_ways *w);
int rmai_ways_choose(struct rmai_net *net);
void rmai_ways_print(const struct rmai_net *net, void (*line)(void *out, const char *text), void *out);

/* ---- making the windows ---- */

/* rmai_windows_wanted: 1 if the settings want windows. rmai_windows_open makes the windows that the settings want
 * (collective): the fixed one over `size` bytes of symmetric heap at base and the probe's room before them, and the
 * dynamic one, to which it attaches this PE's directory. Then it finds out which accesses need the target. All PEs must
 * have met before: otherwise a PE may need a reply from one that already waits in here. own: the result of that
 * meeting, which is returned if it is an error; this PE still takes part in making the windows. If a window fails its
 * trial, the job runs without it and prints one note. Returns RMA_SUCCESS or RMA_ERR_MPI. One PE alone may get the
 * error: the caller must agree with the other PEs on that. */
int rmai_windows_wanted(const struct rmai_net *net);
int rmai_windows_open(struct rmai_net *net, const char *call, char *base, size_t size, int own);

/* rmai_window_wanted: 1 if the fixed window has to be replaced for `size` bytes of symmetric heap, since a good part of
 * them lies outside of it. rmai_window_grow replaces it (collective), in the same way as rmai_windows_open. */
int rmai_window_wanted(const struct rmai_net *net, size_t size);
int rmai_window_grow(struct rmai_net *net, const char *call, char *base, size_t size, int own);

/* ---- the probe ----
 *
 * It tries out MPI's windows at init: do they move what they should, and do they need the target? It tries a pair of
 * nodes of each kind (job->pairs), one after the other, and decides for all nodes alike, by the worst of the answers.
 */

/* For this folder. */

/* rmai_probe_write_and_read_back puts a pattern at an odd place in the page before the heap of a PE on another node,
 * and of the other PE of a pair, and reads it back: some versions of MPI and UCX put data at a wrong place if the
 * window has an unlucky base. The trial of the dynamic window needs a fixed one. Returns RMA_SUCCESS or RMA_ERR_MPI.
 *
 * rmai_probe_one_sided finds out which accesses through which window need the target, on all PEs alike (collective;
 * waits some milliseconds for each kind of pair). Returns RMA_SUCCESS or RMA_ERR_MPI, an error on all PEs or on none.
 * rmai_probe_merge is its last step: an access needs the target if it does so between nodes of any kind, or if no kind
 * was tried. */
int rmai_probe_write_and_read_back(struct rmai_net *net, enum rmai_window_kind window);
int rmai_probe_one_sided(struct rmai_net *net);
void rmai_probe_merge(struct rmai_ways *w);

#endif
