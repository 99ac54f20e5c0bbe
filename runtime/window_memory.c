/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/window_memory.h"
#include "base/attributes.h"
#include "heap/statics.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/meet.h"
#include "runtime/net/way.h"
#include "runtime/net/window.h"
#include "runtime/watch/watchdog.h"
#include "runtime/world.h"

_Thread_local int rmai_making_window;

/* Global variables do not grow, so all of them are attached at once. */
static void follow_part(struct rmai_world *w, enum rmai_part_kind part, size_t size) {
    rmai_dynamic_follow(w->net, part, size, part == RMAI_PART_STATICS);
}

/* The symmetric heap up to its first hole: memory there is not committed until a block is allocated in it. */
static void follow_symmetric(struct rmai_world *w) {
    size_t end = w->symmetric.size;
    for (int i = 0; i < w->symmetric_holes.n; i++) end = rmai_min(end, w->symmetric_holes.of[i].from);
    follow_part(w, RMAI_PART_SYMMETRIC, end);
}

void rmai_window_memory_local(struct rmai_world *w) {
    if (w->net) follow_part(w, RMAI_PART_LOCAL, w->local.size);
}

void rmai_window_memory_guests(struct rmai_world *w) {
    const struct rmai_facts *mine = rmai_facts(&w->job, w->job.node_my_pe);
    if (!w->net) return;
    follow_part(w, RMAI_PART_GUEST,
                atomic_load_explicit(&mine->extent[RMAI_GUEST], memory_order_acquire) - w->job.layout.guest);
}

int rmai_window_memory_symmetric(struct rmai_world *w, const char *call) {
    int code;
    if (!w->net) return RMA_SUCCESS;
    follow_symmetric(w);
    if (!rmai_window_wanted(w->net, w->symmetric.size)) return RMA_SUCCESS;
    rmai_watchdog_begin(w->watchdog, call, "making MPI's window by MPI_Win_create", RMAI_PEERS_MET);
    rmai_making_window = 1;
    code = rmai_window_grow(w->net, call, w->symmetric.base, w->symmetric.size, RMA_SUCCESS);
    rmai_making_window = 0;
    rmai_watchdog_end(w->watchdog);
    return code;
}

void rmai_window_memory_grown(struct rmai_world *w) {
    if (w->net) rmai_dynamic_grown(w->net);
}

int rmai_window_memory_open(struct rmai_world *w) {
    char *const parts[RMAI_PARTS] = {[RMAI_PART_STATICS] = w->statics->base,
                                     [RMAI_PART_SYMMETRIC] = w->symmetric.base,
                                     [RMAI_PART_LOCAL] = w->local.base,
                                     [RMAI_PART_GUEST] =
                                         rmai_job_space(&w->job, w->job.node_my_pe) + w->job.layout.guest};
    const struct rmai_facts *mine = rmai_facts(&w->job, w->job.node_my_pe);
    struct rmai_directory *directory;
    int code;
    if (!w->net) return RMA_SUCCESS;
    directory = rmai_directory(&w->job, w->job.node_my_pe);
    rmai_dynamic_open(w->net, directory, parts);
    for (int i = 0; i < RMAI_POOLS; i++)
        directory->extent[i] = atomic_load_explicit(&mine->extent[i], memory_order_relaxed);
    if (!rmai_windows_wanted(w->net)) return RMA_SUCCESS;
    code = rmai_meet(w, "rma_init");
    rmai_making_window = 1;
    code = rmai_windows_open(w->net, "rma_init", w->symmetric.base, w->symmetric.size, code);
    rmai_making_window = 0;
    return code;
}

void rmai_window_memory_globals(struct rmai_world *w) {
    if (!w->net) return;
    if (w->job.statics_mode == RMAI_STATICS_WINDOW) rmai_net_agreed(w->net); /* no PE serves another one's variables */
    follow_part(w, RMAI_PART_STATICS, w->statics->size);
}

int rmai_window_memory_choose(struct rmai_world *w) {
    int code;
    if (!w->net || !rmai_windows_wanted(w->net)) return RMA_SUCCESS;
    code = rmai_ways_choose(w->net);
    if (w->job.statics_mode != RMAI_STATICS_OFF) follow_part(w, RMAI_PART_STATICS, w->statics->size);
    follow_symmetric(w);
    rmai_window_memory_local(w);
    rmai_window_memory_guests(w);
    return code;
}
