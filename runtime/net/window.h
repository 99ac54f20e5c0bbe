/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's windows, as the layers above see them: a fixed one over the first part of each PE's symmetric heap, and a
 * dynamic one, to which each PE attaches what it has. They are made and tried out at init; then the heaps' owner tells
 * how its heaps grow (runtime/cover). */
#ifndef RMAI_WINDOW_H
#define RMAI_WINDOW_H

#include <stddef.h>

#include "runtime/job/pairs.h"
#include "runtime/net/net.h"

/* rmai_windows_wanted: 1 if the settings want any. rmai_windows_open makes the windows that the settings want
 * (collective): the fixed one over `size` bytes of symmetric heap at base and the probe's room before them, and the
 * dynamic one, to which this PE's directory is attached; and finds out what they do without the target. The caller has
 * had all PEs meet before: until they have, a PE may need a reply of one that would wait in here. own: the outcome of
 * that meeting, which is returned if it is an error; the windows are made all the same, since all PEs take part. If a
 * window fails its trial, the job runs without it and prints one note. Returns RMA_SUCCESS or RMA_ERR_MPI, which may
 * come on one PE alone: the caller must agree with the other PEs on that. */
int rmai_windows_wanted(const struct rmai_net *net);
int rmai_windows_open(struct rmai_net *net, const char *call, char *base, size_t size, int own);

/* rmai_windows_choose decides what goes through which window, and which memory is attached to the dynamic one; all PEs
 * alike (collective), after the probe. A dynamic window of no use is ended. Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_windows_choose(struct rmai_net *net);

/* rmai_window_wanted: 1 if the fixed window has to be made anew for `size` bytes of symmetric heap, since a good part
 * lies outside of it. rmai_window_grow does it (collective), as rmai_windows_open. */
int rmai_window_wanted(const struct rmai_net *net, size_t size);
int rmai_window_grow(struct rmai_net *net, const char *call, char *base, size_t size, int own);

/* rmai_dynamic_open: this PE's directory, and the address of each part's first byte. rmai_dynamic_follow attaches what
 * [0, size) of the part has more than before, and tells the directory; only the PE itself may do that. all: nothing of
 * this is left for later, a step that is not whole is attached and the last. If MPI refuses, a note says so, and this
 * PE attaches nothing from then on. rmai_dynamic_grown: all PEs have followed a growth of the symmetric heap: what was
 * learned of it before may be old. */
void rmai_dynamic_open(struct rmai_net *net, struct rmai_directory *own, char *const address[RMAI_PARTS]);
void rmai_dynamic_follow(struct rmai_net *net, enum rmai_part_kind part, size_t size, int all);
void rmai_dynamic_grown(struct rmai_net *net);

/* rmai_probe_times fills in the times of the trial on a pair, on its first PE, or leaves them 0 where it cannot, by
 * accesses to its second, which serves others meanwhile; on other PEs it does nothing. Before it, on all PEs,
 * rmai_probe_lends: the second PE attaches what is accessed, at the start of its symmetric heap, and returns 1 if the
 * caller has to call rmai_probe_takes_back then. rmai_probe_share tells all PEs (collective). Only where it matters, on
 * all PEs alike: rmai_probe_wants_times. */
int rmai_probe_wants_times(const struct rmai_net *net, enum rmai_pair_kind kind);
int rmai_probe_lends(struct rmai_net *net, enum rmai_pair_kind kind, char *symmetric);
void rmai_probe_times(struct rmai_net *net, enum rmai_pair_kind kind, struct rmai_pending *s);
void rmai_probe_takes_back(struct rmai_net *net, char *symmetric);
void rmai_probe_share(struct rmai_net *net, enum rmai_pair_kind kind);

/* rmai_probe_print writes what was found, and which way puts and gets take, line by line. */
void rmai_probe_print(const struct rmai_net *net, void (*line)(void *out, const char *text), void *out);

#endif
