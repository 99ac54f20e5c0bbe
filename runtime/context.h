/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: a thread, or a part of a program, can wait for the operations of its own context only. A context is a
 * pending set (runtime/net) and a team, which numbers the PEs in its calls. For PEs of this node it is only that
 * numbering. It has no window and no communicator of MPI.
 *
 * A handle is not an address but a number: 1 + the context's place in a table, and the count of handles given so far.
 * So the handle of a destroyed context differs from that of the context that has its place now. The inlined calls read
 * the table, which has a line for each context (struct rma_context_); the line points to the rest. */
#ifndef RMAI_CONTEXT_H
#define RMAI_CONTEXT_H

#include <pthread.h>
#include <stdint.h>

#include "base/attributes.h"
#include "rma.h"
#include "runtime/job/traffic.h"
#include "runtime/net/net.h"
#include "runtime/reach.h"

struct rmai_team;
struct rmai_world;

struct rmai_context {
    struct rma_context_ *line;
    struct rmai_pending *pending; /* operations that its calls have begun; NULL in a job of one node */
    struct rmai_team *team;
    int options;                 /* RMA_CTX_SERIALIZED and so on */
    struct rmai_traffic traffic; /* to PEs of other nodes; unused in the default context, which counts in the world's */
};

struct rmai_contexts {
    uint64_t used[RMAI_CONTEXTS / 64];
    pthread_mutex_t lock;         /* for entering, ending and listing contexts */
    struct rmai_context standing; /* RMA_CTX_DEFAULT, the default context: for all calls that name none */
    struct rmai_traffic ended;    /* the sum over contexts that have ended */
};

/* rmai_contexts_open makes the default context, after rmai_teams_open and rmai_net_open; it returns RMA_SUCCESS or
 * RMA_ERR_NO_MEM. rmai_contexts_close ends it: it is then the last context, and quiet. */
int rmai_contexts_open(struct rmai_world *w);
void rmai_contexts_close(struct rmai_world *w);

/* rmai_contexts_end waits until the contexts of team t are quiet, and ends them; with NULL, all except the default
 * context. Returns RMA_SUCCESS, or the error of the first quiet that failed. */
int rmai_contexts_end(struct rmai_world *w, const char *call, const struct rmai_team *t);

/* rmai_contexts_traffic calls visit with the counters of each context except the default one, and with those of the
 * contexts that have ended. */
void rmai_contexts_traffic(struct rmai_world *w, void (*visit)(struct rmai_traffic *traffic, void *argument),
                           void *argument);

/* rmai_quiet_default is rmai_net_quiet of the default context, at the beginning of a collective call. It costs one load
 * if nothing is under way. */
int rmai_quiet_default(struct rmai_world *w, const char *call);

/* rmai_context_traffic returns the counters of the context's operations between nodes. */
struct rmai_traffic *rmai_context_traffic(struct rmai_world *w, struct rmai_context *c);

/* rmai_context_at returns the context of a handle, or NULL. rmai_context does the same, and records RMA_ERR_STATE or
 * RMA_ERR_ARG for `call` before it returns NULL. */
#define RMAI_CONTEXT_INDEX_BITS 16 /* of a handle */
static inline struct rmai_context *rmai_context_at(const rma_ctx *handle) {
    uintptr_t word = (uintptr_t)handle, index = (word & ((1u << RMAI_CONTEXT_INDEX_BITS) - 1)) - 1;
    if (RMAI_UNLIKELY(index >= RMAI_CONTEXTS ||
                      __atomic_load_n(&rmai_context_lines[index].handle, __ATOMIC_ACQUIRE) != word))
        return NULL;
    return rmai_context_lines[index].context;
}
struct rmai_context *rmai_no_context_(const char *call, const rma_ctx *handle);
static inline struct rmai_context *rmai_context(const char *call, const rma_ctx *handle) {
    struct rmai_context *c = RMAI_LIKELY(rma_reach_.running) ? rmai_context_at(handle) : NULL;
    return RMAI_LIKELY(c != NULL) ? c : rmai_no_context_(call, handle);
}

/* rmai_context_pe returns the world's number of PE `pe` of the context's team, or -1 after recording RMA_ERR_PE for
 * `call`. */
int rmai_context_pe(const struct rmai_context *c, const char *call, int pe);

#endif
