/* SPDX-License-Identifier: BSD-3-Clause */
/* Quiet: waiting until what was begun is done. */
#ifndef RMAI_QUIET_H
#define RMAI_QUIET_H

#include "runtime/net/pending.h"

/* rmai_net_quiet waits until everything of s is done; rmai_net_quiet_pe: what is asked of pe. Return RMA_SUCCESS, or
 * the first error of what nobody waited for. */
int rmai_net_quiet(struct rmai_net *net, const char *call, struct rmai_pending *s);
int rmai_net_quiet_pe(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

/* rmai_net_try_quiet drives progress, and writes to *quiet whether everything of s is done. It waits for no message;
 * what has gone through the window is flushed, since MPI tells of its end in no other way. Returns RMA_SUCCESS or
 * RMA_ERR_MPI. */
int rmai_net_try_quiet(struct rmai_net *net, const char *call, struct rmai_pending *s, int *quiet);

/* rmai_net_test_quiet: the same, but what gathers for a PE is sent, as by rmai_net_quiet. If everything of s is done,
 * the first error of what nobody waited for is returned. */
int rmai_net_test_quiet(struct rmai_net *net, const char *call, struct rmai_pending *s, int *quiet);

/* rmai_net_settle waits until what has gone to pe's intermediate is done (by_node.h). For what has to go to pe itself,
 * and after that. */
void rmai_net_settle(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

/* rmai_net_release: what comes before an atomic that writes, on pe, near or far: the puts of s are complete, or go the
 * same way as the atomic and come first. */
int rmai_net_release(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

/* rmai_net_send_open: what gathers for pe leaves now; if pe has too many unanswered messages, with its next answer. */
void rmai_net_send_open(struct rmai_net *net, struct rmai_pending *s, int pe);

#endif
