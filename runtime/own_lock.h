/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock among the threads of this PE for what is its own: its pool of the local heap and its attachments. Free of
 * charge below RMA_THREAD_MULTIPLE. */
#ifndef RMAI_OWN_LOCK_H
#define RMAI_OWN_LOCK_H

#include <pthread.h>

#include "runtime/world.h"

/* rmai_own_lock, rmai_own_unlock: one thread of this PE at a time. None may lock twice. */
static inline void rmai_own_lock(struct rmai_world *w) {
    if (w->job.level == RMA_THREAD_MULTIPLE) pthread_mutex_lock(&w->local_lock);
}

static inline void rmai_own_unlock(struct rmai_world *w) {
    if (w->job.level == RMA_THREAD_MULTIPLE) pthread_mutex_unlock(&w->local_lock);
}

#endif
