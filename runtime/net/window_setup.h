/* SPDX-License-Identifier: BSD-3-Clause */
/* Making MPI's window, and trying out whether it is any good. */
#ifndef RMAI_WINDOW_SETUP_H
#define RMAI_WINDOW_SETUP_H

#include <stddef.h>

struct rmai_net;
struct rmai_transport_mpi;

/* rmai_window_wanted: 1 if the window has to be made anew for `size` bytes of symmetric heap: a good part lies outside
 * of it, or MPI does the atomics. rmai_window_make does it (collective), over `size` bytes at base and the probe's
 * room before them. The caller has had all PEs meet before: until they have, a PE may need a reply of one that would
 * wait in here. code: the outcome of that meeting, which is returned if it is an error; the window is made all the
 * same, since all PEs take part. Where MPI's window is no good it is done without, and said once. Returns RMA_SUCCESS
 * or RMA_ERR_MPI. */
int rmai_window_wanted(const struct rmai_net *net, size_t size);
int rmai_window_make(struct rmai_net *net, struct rmai_transport_mpi *mpi, const char *call, char *base, size_t size,
                     int code);

#endif
