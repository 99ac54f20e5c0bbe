/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of this PE: its traffic and its heaps, on request (rma_stats, rma_heap_stats) and in the reports of
 * rma_finalize. Reads the counters of the modules below, and changes nothing in them. */
#include "config.h"

#include "runtime/life/stats.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/settings.h"
#include "heap/quick.h"
#include "heap/returned.h"
#include "heap/segment.h"
#include "runtime/attach.h"
#include "runtime/context.h"
#include "runtime/interfaces.h"
#include "runtime/header.h"
#include "runtime/job/job.h"
#include "runtime/job/traffic.h"
#include "runtime/net/op.h"
#include "runtime/own_lock.h"
#include "runtime/pool.h"
#include "runtime/reach.h"
#include "runtime/world.h"

#include <stdio.h>

#define LEAKS_SHOWN 10

/* ---- traffic ---- */

static void add_traffic(struct rmai_traffic *t, void *sum) { rmai_traffic_add(sum, t); }

static void read_counters(struct rmai_world *w, struct rma_stats *stats) {
    uint64_t n[RMAI_KINDS], more[RMAI_MORE];
    struct rmai_traffic sum = {0}, *t = &sum;
    rmai_net_count_streams(w->net);
    rmai_traffic_add(&sum, w->traffic);
    rmai_contexts_traffic(w, add_traffic, &sum);
    for (int p = 0; p < RMA_PATHS; p++) {
        for (int k = 0; k < RMAI_KINDS; k++) n[k] = atomic_load_explicit(&t->path[p][k], memory_order_relaxed);
        stats->path[p].puts = n[RMAI_PUTS];
        stats->path[p].put_bytes = n[RMAI_PUT_BYTES];
        stats->path[p].gets = n[RMAI_GETS];
        stats->path[p].get_bytes = n[RMAI_GET_BYTES];
        stats->path[p].atomics = n[RMAI_ATOMICS];
    }
    for (int i = 0; i < RMAI_MORE; i++) more[i] = atomic_load_explicit(&t->more[i], memory_order_relaxed);
    stats->waited = more[RMAI_QUIETS];
    stats->messages_sent = more[RMAI_SENT];
    stats->messages_heard = more[RMAI_HEARD];
    stats->served = more[RMAI_SERVED];
}

int rma_stats(struct rma_stats *stats) {
    int code = rmai_running("rma_stats");
    if (code == RMA_SUCCESS && !stats) code = rmai_error(RMA_ERR_ARG, "rma_stats: stats is a null pointer");
    if (code == RMA_SUCCESS) read_counters(&rmai_world, stats);
    return rmai_raise(code);
}

static void reset_traffic(struct rmai_traffic *t, void *unused) {
    (void)unused;
    for (int p = 0; p < RMA_PATHS; p++)
        for (int k = 0; k < RMAI_KINDS; k++) atomic_store_explicit(&t->path[p][k], 0, memory_order_relaxed);
    for (int k = 0; k < RMAI_KINDS; k++) atomic_store_explicit(&t->streamed[k], 0, memory_order_relaxed);
    for (int i = 0; i < RMAI_MORE; i++) atomic_store_explicit(&t->more[i], 0, memory_order_relaxed);
}

int rma_stats_reset(void) {
    int code = rmai_running("rma_stats_reset");
    if (code != RMA_SUCCESS) return rmai_raise(code);
    rmai_net_count_streams(rmai_world.net);
    reset_traffic(rmai_world.traffic, NULL);
    rmai_contexts_traffic(&rmai_world, reset_traffic, NULL);
    return RMA_SUCCESS;
}

static struct rma_counts_ read_counts(const struct rmai_traffic *t) {
    struct rma_counts_ c = {0, 0};
    for (int p = RMA_PATH_WINDOW; p <= RMA_PATH_REQUEST; p++) {
        c.writes += atomic_load_explicit(&t->path[p][RMAI_PUTS], memory_order_relaxed);
        c.writes += atomic_load_explicit(&t->path[p][RMAI_ATOMICS], memory_order_relaxed);
        c.reads += atomic_load_explicit(&t->path[p][RMAI_GETS], memory_order_relaxed);
    }
    c.writes += atomic_load_explicit(&t->streamed[RMAI_PUTS], memory_order_relaxed);
    c.writes += atomic_load_explicit(&t->streamed[RMAI_ATOMICS], memory_order_relaxed);
    c.reads += atomic_load_explicit(&t->streamed[RMAI_GETS], memory_order_relaxed);
    return c;
}

/* Returns how many of `begun` operations are complete. Another thread may have noted more that have begun since. */
static uint64_t count_complete(_Atomic uint64_t *known, uint64_t begun, int quiet) {
    uint64_t before = atomic_load_explicit(known, memory_order_relaxed);
    if (begun < before) return begun;
    if (quiet) atomic_store_explicit(known, begun, memory_order_relaxed);
    return quiet ? begun : before;
}

/* Reads the counts of begun operations first: those that other threads begin meanwhile need not be complete. */
int rma_counts_(const char *call, const rma_ctx *ctx, struct rma_counts_ *begun, struct rma_counts_ *complete) {
    struct rmai_context *c = rmai_context(call, ctx);
    struct rmai_traffic *t;
    int quiet, code;
    if (!c) return rmai_raise(rma_last_code());
    *begun = *complete = (struct rma_counts_){0, 0};
    if (!c->pending) return RMA_SUCCESS;
    t = rmai_context_traffic(&rmai_world, c);
    rmai_net_count_streams(rmai_world.net);
    *begun = read_counts(t);
    code = rmai_net_try_quiet(call, c->pending, &quiet);
    complete->writes = count_complete(&t->more[RMAI_COMPLETE_WRITES], begun->writes, quiet);
    complete->reads = count_complete(&t->more[RMAI_COMPLETE_READS], begun->reads, quiet);
    return rmai_raise(code);
}

void rmai_traffic_report(struct rmai_world *w) {
    static const char *const names[RMA_PATHS] = {
        [RMA_PATH_MEMORY] = "load/store", [RMA_PATH_KERNEL] = "kernel",   [RMA_PATH_OWNER] = "owner's thread",
        [RMA_PATH_WINDOW] = "window",     [RMA_PATH_REQUEST] = "request",
    };
    struct rma_stats all;
    if (!w->job.settings.stats) return;
    read_counters(w, &all);
    rmai_mpi_merge(MPI_COMM_WORLD, &all, (int)(sizeof all / sizeof(uint64_t)), MPI_UINT64_T, MPI_SUM, "rma_finalize");
    if (w->job.my_pe != 0) return;
    rmai_note("%-15s %12s %16s %12s %16s %12s", "all PEs", "puts", "bytes", "gets", "bytes", "atomics");
    for (int p = 0; p < RMA_PATHS; p++)
        rmai_note("%-15s %12llu %16llu %12llu %16llu %12llu", names[p], (unsigned long long)all.path[p].puts,
                  (unsigned long long)all.path[p].put_bytes, (unsigned long long)all.path[p].gets,
                  (unsigned long long)all.path[p].get_bytes, (unsigned long long)all.path[p].atomics);
    rmai_note("%llu requests in %llu messages, %llu messages heard, %llu quiets that waited",
              (unsigned long long)all.served, (unsigned long long)all.messages_sent,
              (unsigned long long)all.messages_heard, (unsigned long long)all.waited);
}

/* ---- heaps ---- */

static int read_guest_stats(struct rmai_world *w, struct rma_heap_stats *stats) {
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

static void read_local_stats(struct rmai_world *w, struct rma_heap_stats *stats) {
    rmai_own_lock(w);
    rmai_quick_flush(&w->quick, &w->local.pool); /* parked blocks are free, and count as free and merged */
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
        case RMA_HEAP_LOCAL: read_local_stats(w, &found); break;
        case RMA_HEAP_GUEST: code = read_guest_stats(w, &found); break;
        default: code = rmai_error(RMA_ERR_ARG, "rma_heap_stats: heap %d is none of enum rma_heap", (int)heap);
    }
    if (code == RMA_SUCCESS) *stats = found;
    return rmai_raise(code);
}

/* All PEs have met: nobody changes a heap any more. The symmetric heap is the same on all PEs, except where programs
 * have written outside of their blocks. */
void rmai_report(struct rmai_world *w) {
    struct rmai_header *h = rmai_header(&w->job, w->job.node_my_pe);
    struct rmai_segment guest;
    char who[32];
    uint32_t n;
    rmai_segment_overruns(&w->symmetric, "rma_finalize");
    if (w->job.settings.heap_check == RMAI_CHECK_NONE) return;
    snprintf(who, sizeof who, "PE %d", w->job.my_pe);
    rmai_segment_drain(&w->local, &h->returned[RMAI_OWN], NULL);
    rmai_guest_view(w, w->job.node_my_pe, &guest);
    rmai_segment_drain(&guest, &h->returned[RMAI_GUEST], NULL);
    if (w->job.my_pe == 0 || w->symmetric.guard)
        rmai_segment_report(&w->symmetric, who, w->job.my_pe == 0 ? LEAKS_SHOWN : 0);
    rmai_segment_report(&w->local, who, LEAKS_SHOWN);
    rmai_segment_report(&guest, who, LEAKS_SHOWN);
    n = w->attachments->table.state->n_live;
    if (n) rmai_note("%s: %u attached region%s not detached", who, n, n == 1 ? " was" : "s were");
}
