/* SPDX-License-Identifier: BSD-3-Clause */
/* Making MPI's windows, and choosing what goes through them. */
#ifndef RMAI_WINDOW_SETUP_H
#define RMAI_WINDOW_SETUP_H

#include <stddef.h>

#include "runtime/net/net.h"

/* rmai_windows_wanted: 1 if the settings want windows. rmai_windows_open makes the windows that the settings want
 * (collective): the fixed one over `size` bytes of symmetric heap at base and the probe's room before them, and the
 * dynamic one, to which it attaches this PE's directory. Then it finds out which accesses need the target. All PEs must
 * have met before: otherwise a PE may need a reply from one that already waits in here. own: the result of that
 * meeting, which is returned if it is an error; this PE still takes part in making the windows. If a window fails its
 * trial, the job runs without it and prints one note. Returns RMA_SUCCESS or RMA_ERR_MPI. One PE alone may get the
 * error: the caller must agree with the other PEs on that. */
int rmai_windows_wanted(const struct rmai_net *net);
int rmai_windows_open(struct rmai_net *net, const char *call, char *base, size_t size, int own);

/* rmai_windows_choose decides, after the probe and on all PEs alike (collective), what goes through which window, and
 * which memory is attached to the dynamic one. It frees a dynamic window that is of no use. Returns RMA_SUCCESS or
 * RMA_ERR_MPI. */
int rmai_windows_choose(struct rmai_net *net);

/* rmai_window_wanted: 1 if the fixed window has to be replaced for `size` bytes of symmetric heap, since a good part of
 * them lies outside of it. rmai_window_grow replaces it (collective), in the same way as rmai_windows_open. */
int rmai_window_wanted(const struct rmai_net *net, size_t size);
int rmai_window_grow(struct rmai_net *net, const char *call, char *base, size_t size, int own);

#endif
