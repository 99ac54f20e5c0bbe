/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/traffic.h"
#include "base/error.h"
#include "base/mpi.h"
#include "runtime/world.h"

#include <string.h>

static void take(const struct rmai_traffic *t, struct rma_stats *stats) {
    uint64_t n[RMAI_KINDS], more[RMAI_MORE];
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
    if (code == RMA_SUCCESS) take(&rmai_world.traffic, stats);
    return rmai_raise(code);
}

int rma_stats_reset(void) {
    int code = rmai_running("rma_stats_reset");
    struct rmai_traffic *t = &rmai_world.traffic;
    if (code != RMA_SUCCESS) return rmai_raise(code);
    for (int p = 0; p < RMA_PATHS; p++)
        for (int k = 0; k < RMAI_KINDS; k++) atomic_store_explicit(&t->path[p][k], 0, memory_order_relaxed);
    for (int i = 0; i < RMAI_MORE; i++) atomic_store_explicit(&t->more[i], 0, memory_order_relaxed);
    return RMA_SUCCESS;
}

void rmai_traffic_report(struct rmai_world *w) {
    static const char *const names[RMA_PATHS] = {
        [RMA_PATH_MEMORY] = "load/store", [RMA_PATH_KERNEL] = "kernel",   [RMA_PATH_OWNER] = "owner's thread",
        [RMA_PATH_WINDOW] = "window",     [RMA_PATH_REQUEST] = "request",
    };
    struct rma_stats all;
    if (!w->job.settings.stats) return;
    take(&w->traffic, &all);
    if (rmai_mpi_merge(MPI_COMM_WORLD, &all, (int)(sizeof all / sizeof(uint64_t)), MPI_UINT64_T, MPI_SUM,
                       "rma_finalize") != RMA_SUCCESS ||
        w->job.my_pe != 0)
        return;
    rmai_note("%-15s %12s %16s %12s %16s %12s", "all PEs", "puts", "bytes", "gets", "bytes", "atomics");
    for (int p = 0; p < RMA_PATHS; p++)
        rmai_note("%-15s %12llu %16llu %12llu %16llu %12llu", names[p], (unsigned long long)all.path[p].puts,
                  (unsigned long long)all.path[p].put_bytes, (unsigned long long)all.path[p].gets,
                  (unsigned long long)all.path[p].get_bytes, (unsigned long long)all.path[p].atomics);
    rmai_note("%llu requests in %llu messages, %llu messages heard, %llu quiets that waited",
              (unsigned long long)all.served, (unsigned long long)all.messages_sent,
              (unsigned long long)all.messages_heard, (unsigned long long)all.waited);
}
