/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.h: the ways between nodes side by side (--ways). librma chooses its way when it starts, so it is restarted,
 * within one run of MPI, for each change of the way. */
#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include <mpi.h>
#include <stdbool.h>

enum bench_way {
    BENCH_WAY_ANY,      /* as librma has been started */
    BENCH_WAY_MESSAGES, /* RMA_WINDOW=none */
    BENCH_WAY_DYNAMIC,  /* RMA_WINDOW=dynamic; atomics and attached memory by messages */
    BENCH_WAYS
};

/* bench_way_start: start librma with this way; it must not be running. If it does not start, ends the job with librma's
 * error text. Collective. */
void bench_way_start(enum bench_way way);

/* bench_way_switch: switch librma, which bench_way_start has started, to this way. If the way differs, call close,
 * restart librma, and call open. Returns whether it did. Collective. */
bool bench_way_switch(enum bench_way way, void (*close)(void), void (*open)(void));

/* bench_way_taken: whether librma has used its way on any PE since the last rma_stats_reset: if there is no such
 * window, or it does not cover the memory, messages do the work. Always true for messages. Collective. */
bool bench_way_taken(void);

/* bench_dynamic_window: make a window of MPI_Win_create_dynamic over all PEs, whose errors are returned, and begin
 * MPI_Win_lock_all on it. Returns whether MPI has one that supports put and get; if not, *win is MPI_WIN_NULL.
 * Collective. */
bool bench_dynamic_window(MPI_Win *win);

/* bench_dynamic_window_free: free the window, if there is one. Memory must have been detached. Collective. */
void bench_dynamic_window_free(MPI_Win *win);

#endif
