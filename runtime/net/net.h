/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs of other nodes: opening and closing what the files of runtime/net share. request.h has what is asked of such PEs,
 * quiet.h the waiting for it, progress.h what drives it, window.h MPI's window. */
#ifndef RMAI_NET_H
#define RMAI_NET_H

#include "runtime/net/state.h"

/* rmai_net_open: the transport is open, *net is not. crowded: there are more PEs than processors on this machine.
 * Returns RMA_SUCCESS, RMA_ERR_NO_MEM or RMA_ERR_MPI. rmai_net_close ends the windows and frees what
 * open made, all of it or a part, and returns RMA_SUCCESS or RMA_ERR_MPI: collective, after all PEs have met, quiet. */
int rmai_net_open(struct rmai_net *net, const struct rmai_job *job, struct rmai_transport *transport,
                  struct rmai_traffic *traffic, const struct rmai_net_handlers *handlers, int crowded);
int rmai_net_close(struct rmai_net *net);

#endif
