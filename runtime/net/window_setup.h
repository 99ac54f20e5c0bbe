/* SPDX-License-Identifier: BSD-3-Clause */
/* Making MPI's windows, and choosing what goes through them. */
#ifndef RMAI_WINDOW_SETUP_H
#define RMAI_WINDOW_SETUP_H

#include <stddef.h>

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

#endif
