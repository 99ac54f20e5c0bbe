/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI does not say how long a flush will take, and lets no other thread in meanwhile. So each flush is in a list, whose
 * first one is described in memory for the watchdog. */
#include "config.h"

#include "runtime/net/window.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/wait.h"
#include "runtime/net/state.h"

/* Describes the first flush of the list, the oldest, to the watchdog. So one that never ends is described at last,
 * however many other threads begin and end. The release fence: a thread that reads the new call or PE finds the version
 * changed, even if it read the note of an earlier flush before. The release store: a thread that finds the odd version
 * reads them. */
static void note_flush(struct rmai_net *net) {
    struct rmai_flush_note *note = &net->note;
    const struct rmai_flushing *f = net->flushing;
    const unsigned even = (atomic_load_explicit(&note->version, memory_order_relaxed) + 1) & ~1u;
    atomic_store_explicit(&note->version, even, memory_order_relaxed);
    if (!f) return;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&note->call, rmai_error_name(f->call), memory_order_relaxed);
    atomic_store_explicit(&note->pe, f->pe, memory_order_relaxed);
    atomic_store_explicit(&note->version, even + 1, memory_order_release);
}

int rmai_net_flush_lasts(struct rmai_net *net, struct rmai_flush_seen *seen) {
    const struct rmai_flush_note *note = &net->note;
    const unsigned before = seen->version;
    seen->version = atomic_load_explicit(&note->version, memory_order_acquire);
    seen->call = atomic_load_explicit(&note->call, memory_order_relaxed);
    seen->pe = atomic_load_explicit(&note->pe, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* pairs with the release fence in note_flush */
    if (seen->version % 2 == 0 || atomic_load_explicit(&note->version, memory_order_relaxed) != seen->version)
        *seen = (struct rmai_flush_seen){0};
    return seen->version && seen->version == before;
}

/* Releases the lock meanwhile, unless the program has also taken it for something else. */
int rmai_net_flush(struct rmai_net *net, const char *call, enum rmai_window_kind window, int pe,
                   enum rmai_flush_kind kind) {
    struct rmai_flushing mine = {NULL, call, pe, window}, **i = &net->flushing;
    const int leaves = !net->biased || rmai_biased_inside(&net->bias) == 1;
    int code;
    while (RMAI_UNLIKELY(*i != NULL)) i = &(*i)->next;
    *i = &mine;
    if (RMAI_LIKELY(i == &net->flushing)) note_flush(net);
    if (leaves) rmai_net_leave(net);
    code = rmai_transport_flush(net->transport, call, window, pe, kind);
    if (leaves) rmai_net_enter(net);
    for (i = &net->flushing; RMAI_UNLIKELY(*i != &mine);) i = &(*i)->next;
    *i = mine.next;
    if (RMAI_LIKELY(i == &net->flushing)) note_flush(net);
    rmai_rouse_dozers(net->handlers.doze); /* another thread may wait for the end of this flush */
    return code;
}

int rmai_net_flushes(const struct rmai_net *net, enum rmai_window_kind window) {
    const struct rmai_flushing *f = net->flushing;
    while (f && f->window != window) f = f->next;
    return f != NULL;
}
