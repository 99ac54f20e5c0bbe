/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/flush.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/wait.h"
#include "runtime/world.h"

#include <stdio.h>

#define LOOK_MOST 1.0 /* seconds between two looks: a wake-up disturbs the computation */
#define LOOKS     4   /* in the time after which something is said, at least */

int rmai_flush_read(const struct rmai_flush *f, struct rmai_flush_seen *seen) {
    seen->version = atomic_load_explicit(&f->version, memory_order_acquire);
    seen->call = atomic_load_explicit(&f->call, memory_order_relaxed);
    seen->pe = atomic_load_explicit(&f->pe, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* pairs with the release fence in rmai_flush_begins */
    return seen->version % 2 == 1 && atomic_load_explicit(&f->version, memory_order_relaxed) == seen->version;
}

static void name_flush(const struct rmai_flush_seen *seen, char text[64]) {
    if (seen->pe < 0)
        snprintf(text, 64, "flushing all PEs by MPI_Win_flush_all");
    else
        snprintf(text, 64, "flushing PE %d by MPI_Win_flush", seen->pe);
}

static void *watch(void *context) {
    struct rmai_world *w = context;
    const double patience = (double)(w->job.settings.stall ? w->job.settings.stall : w->job.settings.timeout);
    const double step = patience / LOOKS < LOOK_MOST ? patience / LOOKS : LOOK_MOST;
    struct rmai_flush_seen seen = {0};
    struct rmai_blocking section;
    char what[64];
    int published = 0;
    double last = rmai_wtime(), now, waited;
    while (!atomic_load_explicit(&w->flush_watch.ending, memory_order_acquire)) {
        rmai_sleep_on(&w->flush_watch.ending, 0, (long)(step * 1e9), NULL);
        now = rmai_wtime();
        waited = now - last < 2 * step ? now - last : 2 * step; /* in what is longer this PE did not run */
        last = now;
        if (rmai_contexts_flush_lasts(w, &seen)) {
            if (!published++) rmai_stall_publish(w, seen.call);
            rmai_blocking_look(&section, waited);
            continue;
        }
        if (published) rmai_stall_publish(w, "");
        published = 0;
        name_flush(&seen, what);
        section = (struct rmai_blocking){.call = seen.call,
                                         .what = what,
                                         .met = w->job.all_progress,
                                         .stall = w->job.settings.stall,
                                         .timeout = w->job.settings.timeout};
    }
    return NULL;
}

void rmai_flush_watch_start(struct rmai_world *w) {
    if (!w->net.active || w->net.windowless || (w->job.settings.stall == 0 && w->job.settings.timeout == 0)) return;
    atomic_store_explicit(&w->flush_watch.ending, 0, memory_order_relaxed);
    w->flush_watch.running = rmai_thread(&w->flush_watch.thread, watch, w) == 0;
}

void rmai_flush_watch_end(struct rmai_world *w) {
    if (!w->flush_watch.running) return;
    atomic_store_explicit(&w->flush_watch.ending, 1, memory_order_release);
    rmai_rouse(&w->flush_watch.ending);
    pthread_join(w->flush_watch.thread, NULL);
    w->flush_watch.running = 0;
}
