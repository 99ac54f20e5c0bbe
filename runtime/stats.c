/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be told of the heaps: on request, and at the end. */
#include "config.h"

#include "runtime/stats.h"
#include "base/error.h"
#include "runtime/local.h"

#include <stdio.h>

#define LEAKS_SHOWN 10

static int of_guests(struct rmai_world *w, struct rma_heap_stats *stats) {
    struct rmai_header *h = rmai_header(&w->job, w->job.node_my_pe);
    struct rmai_segment s;
    int code = rmai_guest_lock(w, "rma_heap_stats", w->job.node_my_pe);
    if (code != RMA_SUCCESS) return rmai_error_prefix("rma_heap_stats: ");
    rmai_guest_view(w, w->job.node_my_pe, &s);
    rmai_segment_stats(&s, stats);
    stats->n_returned = rmai_returned_count(&h->returned[RMAI_GUEST], &s.pool);
    rmai_guest_unlock(w, w->job.node_my_pe);
    return RMA_SUCCESS;
}

static void of_own(struct rmai_world *w, struct rma_heap_stats *stats) {
    rmai_own_lock(w);
    rmai_quick_flush(&w->quick, &w->local.pool); /* parked blocks are free ones, and are shown merged */
    rmai_segment_stats(&w->local, stats);
    stats->n_returned =
        rmai_returned_count(&rmai_header(&w->job, w->job.node_my_pe)->returned[RMAI_OWN], &w->local.pool);
    rmai_own_unlock(w);
}

int rma_heap_stats(enum rma_heap heap, struct rma_heap_stats *stats) {
    struct rmai_world *w = &rmai_world;
    struct rma_heap_stats found;
    int code = rmai_running("rma_heap_stats");
    if (code == RMA_SUCCESS && !stats) code = rmai_error(RMA_ERR_ARG, "rma_heap_stats: stats is a null pointer");
    if (code != RMA_SUCCESS) return rmai_raise(code);
    switch (heap) {
        case RMA_HEAP_SYMMETRIC: rmai_segment_stats(&w->symmetric, &found); break;
        case RMA_HEAP_LOCAL: of_own(w, &found); break;
        case RMA_HEAP_GUEST: code = of_guests(w, &found); break;
        default: code = rmai_error(RMA_ERR_ARG, "rma_heap_stats: heap %d is none of enum rma_heap", (int)heap);
    }
    if (code == RMA_SUCCESS) *stats = found;
    return rmai_raise(code);
}

/* All PEs have met: nobody changes anything any more. The symmetric heap is the same everywhere, but for its overruns.
 */
void rmai_report(struct rmai_world *w) {
    struct rmai_header *h = rmai_header(&w->job, w->job.node_my_pe);
    struct rmai_segment guest;
    char who[32];
    uint32_t n;
    if (w->job.settings.heap_check == RMAI_CHECK_NONE) return;
    snprintf(who, sizeof who, "PE %d", w->job.my_pe);
    rmai_segment_drain(&w->local, &h->returned[RMAI_OWN], NULL);
    rmai_guest_view(w, w->job.node_my_pe, &guest);
    rmai_segment_drain(&guest, &h->returned[RMAI_GUEST], NULL);
    if (w->job.my_pe == 0 || w->symmetric.guard)
        rmai_segment_report(&w->symmetric, who, w->job.my_pe == 0 ? LEAKS_SHOWN : 0);
    rmai_segment_report(&w->local, who, LEAKS_SHOWN);
    rmai_segment_report(&guest, who, LEAKS_SHOWN);
    n = w->attachments.table.state->n_live;
    if (n) rmai_note("%s: %u attached region%s not detached", who, n, n == 1 ? " was" : "s were");
}
