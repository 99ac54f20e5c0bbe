/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock among the threads of this PE for its own pool of the local heap and its attachments. Below
 * RMA_THREAD_MULTIPLE it costs nothing. */
#ifndef RMAI_OWN_LOCK_H
#define RMAI_OWN_LOCK_H

#include <pthread.h>

#include "runtime/world.h"

/* rmai_own_lock, rmai_own_unlock: one thread of this PE at a time holds the lock. No thread may lock it twice. */
static inline void rmai_own_lock(struct rmai_world *w) {
    if (w->job.level == RMA_THREAD_MULTIPLE) pthread_mutex_lock(&w->local_lock);
}

static inline void rmai_own_unlock(struct rmai_world *w) {
    if (w->job.level == RMA_THREAD_MULTIPLE) pthread_mutex_unlock(&w->local_lock);
}

#endif
