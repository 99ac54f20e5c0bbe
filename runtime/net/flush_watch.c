/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/flush_watch.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/wait.h"
#include "runtime/net/blocking.h"
#include "runtime/net/peer.h"
#include "runtime/net/state.h"

#include <stdio.h>

#define LOOK_MOST 1.0 /* seconds between two looks: a wake-up disturbs the computation */
#define LOOKS     4   /* in the time after which something is said, at least */

static void name_flush(const struct rmai_flush_seen *seen, char text[64]) {
    if (seen->pe < 0)
        snprintf(text, 64, "flushing all PEs by MPI_Win_flush_all");
    else
        snprintf(text, 64, "access to PE %d through MPI's window", seen->pe);
}

static void *watch_flushes(void *context) {
    struct rmai_flush_watch *f = context;
    const struct rmai_settings *settings = &f->net->job->settings;
    const double patience = (double)(settings->stall ? settings->stall : settings->timeout);
    const double step = patience / LOOKS < LOOK_MOST ? patience / LOOKS : LOOK_MOST;
    struct rmai_flush_seen seen = {0};
    struct rmai_blocking section;
    char what[64];
    int published = 0;
    double last = rmai_wtime(), now, waited;
    while (!atomic_load_explicit(&f->ending, memory_order_acquire)) {
        rmai_sleep_on(&f->ending, 0, (long)(step * 1e9), NULL);
        now = rmai_wtime();
        waited = now - last < 2 * step ? now - last : 2 * step; /* in what is longer this PE did not run */
        last = now;
        if (rmai_pending_flush_lasts(f->net, &seen)) {
            if (!published++) f->publish(f->context, seen.call);
            rmai_blocking_look(&section, waited);
            continue;
        }
        if (published) f->publish(f->context, "");
        published = 0;
        name_flush(&seen, what);
        section = (struct rmai_blocking){.call = seen.call,
                                         .what = what,
                                         .kind = f->net->job->all_progress ? RMAI_BLOCKING_MET : RMAI_BLOCKING_FIRST,
                                         .stall = settings->stall,
                                         .timeout = settings->timeout};
    }
    return NULL;
}

void rmai_flush_watch_start(struct rmai_flush_watch *f, struct rmai_net *net,
                            void (*publish)(void *context, const char *call), void *context) {
    if (!net || (!net->fixed && !net->dynamic.open) ||
        (net->job->settings.stall == 0 && net->job->settings.timeout == 0))
        return;
    f->net = net;
    f->publish = publish;
    f->context = context;
    atomic_store_explicit(&f->ending, 0, memory_order_relaxed);
    f->running = rmai_thread(&f->thread, watch_flushes, f) == 0;
}

void rmai_flush_watch_end(struct rmai_flush_watch *f) {
    if (!f->running) return;
    atomic_store_explicit(&f->ending, 1, memory_order_release);
    rmai_rouse(&f->ending);
    pthread_join(f->thread, NULL);
    f->running = 0;
}
