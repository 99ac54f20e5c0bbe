/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/state.h"
#include "base/error.h"

#include <stdlib.h>

#define LOCK_POLLS 1000

/* ---- the lock ---- */

/* The thread that holds the lock may poll for a long time. Other threads announce themselves in `wanted`; the holder
 * then releases the lock between two polls. If PEs do not share processors, a thread polls for the lock before it
 * sleeps: waking up takes longer than a message. */
void rmai_net_lock_mutex_(struct rmai_net *net) {
    if (RMAI_LIKELY(pthread_mutex_trylock(&net->lock) == 0)) return;
    atomic_fetch_add_explicit(&net->wanted, 1, memory_order_relaxed);
    for (int i = net->crowded ? 0 : LOCK_POLLS; i > 0; i--) {
        rmai_pause();
        if (pthread_mutex_trylock(&net->lock) != 0) continue;
        atomic_fetch_sub_explicit(&net->wanted, 1, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&net->lock);
    atomic_fetch_sub_explicit(&net->wanted, 1, memory_order_relaxed);
}

void rmai_net_lock(struct rmai_net *net) { rmai_net_enter(net); }
void rmai_net_unlock(struct rmai_net *net) { rmai_net_leave(net); }

/* `wanted` is 0 where the lock is biased. */
void rmai_net_yield_lock_(struct rmai_net *net) {
    const uint32_t wanted = atomic_load_explicit(&net->wanted, memory_order_relaxed);
    rmai_net_unlock(net);
    for (int i = 0; i < LOCK_POLLS && atomic_load_explicit(&net->wanted, memory_order_relaxed) >= wanted; i++)
        rmai_pause();
    rmai_net_lock(net);
}

int rmai_net_visit(struct rmai_net *net) {
    if (!net->biased) return pthread_mutex_trylock(&net->lock) == 0;
    if (!rmai_biased_visit(&net->bias)) return 0;
    net->visited = 1;
    return 1;
}

void rmai_net_end_visit(struct rmai_net *net) {
    net->visited = 0;
    if (net->biased)
        rmai_biased_end_visit(&net->bias);
    else
        pthread_mutex_unlock(&net->lock);
}

/* ---- errors ---- */

void rmai_net_fatal(struct rmai_net *net) {
    net->handlers.fatal(net->handlers.context);
    abort(); /* not reached: the handler does not return */
}

int rmai_net_no_memory(const char *call, int pe) {
    return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for a request to PE %d", call, pe);
}

int rmai_net_damaged(int from, const char *wrong) {
    return rmai_error(RMA_ERR_MPI, "a message from PE %d is damaged: %s", from, wrong);
}

int rmai_net_failed_there(const char *call, int pe, int code) {
    return rmai_error(code, "%s: the operation failed on PE %d: %s", call, pe, rma_strerror(code));
}
