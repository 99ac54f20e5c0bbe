/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: the program says that the records of a context may wait for company. While a session is open, a record that
 * no call waits for stays in the open batch until the batch is full, until a call waits for the peer (a quiet, a get,
 * an atomic that fetches), until the session ends, or until RMAI_BATCH_WAIT has passed. Short puts that block are
 * copied into the batch, too. After OpenSHMEM 1.6, section 9.9 (SHMEM_CTX_SESSION_BATCH). */
#ifndef RMAI_SESSION_H
#define RMAI_SESSION_H

struct rmai_net;
struct rmai_pending;

/* rmai_session_start opens a session in s, or leaves the open one as it is. rmai_session_stop ends it, if one is open,
 * and sends what has gathered; it waits for nothing. No lock is held. Any thread of the program. */
void rmai_session_start(struct rmai_net *net, struct rmai_pending *s);
void rmai_session_stop(struct rmai_net *net, struct rmai_pending *s);

#endif
