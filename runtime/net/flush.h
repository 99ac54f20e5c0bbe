/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushes of MPI's windows, which the watchdog watches. Only files of this folder include this header. */
#ifndef RMAI_FLUSH_H
#define RMAI_FLUSH_H

#include "runtime/net/transport.h"

struct rmai_net;

/* rmai_net_flush completes the transfers of this process to pe through one window, as far as `kind` says. The caller
 * holds the net's lock; this releases it meanwhile. Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_net_flush(struct rmai_net *net, const char *call, enum rmai_window_kind window, int pe,
                   enum rmai_flush_kind kind);

/* rmai_net_flushes: 1 while some thread flushes this window. The caller holds the net's lock. */
int rmai_net_flushes(const struct rmai_net *net, enum rmai_window_kind window);

#endif
