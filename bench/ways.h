/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.h: the ways between nodes side by side (--ways). librma chooses its way when it starts, so it is ended and
 * started anew, over one start of MPI, each time that another way's turn comes. */
#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include <mpi.h>
#include <stdbool.h>

enum bench_way {
    BENCH_WAY_ANY,      /* as librma has been started */
    BENCH_WAY_MESSAGES, /* RMA_WINDOW=none */
    BENCH_WAY_DYNAMIC,  /* RMA_WINDOW=dynamic; atomics, and what is attached, by messages */
    BENCH_WAY_STATIC,   /* RMA_WINDOW=static: the window over the symmetric heap; the rest by messages */
    BENCH_WAYS
};

/* bench_way_start: start librma, which does not run, this way. Ends the job with librma's reason if it does not
 * start. Collective. */
void bench_way_start(enum bench_way way);

/* bench_way_switch: let librma, which bench_way_start has started, go this way. If it goes another one, call close, end
 * librma, start it anew, and call open. Returns whether it did. Collective. */
bool bench_way_switch(enum bench_way way, void (*close)(void), void (*open)(void));

/* bench_way_taken: whether librma has gone the way that it was started for since the last rma_stats_reset, on any PE:
 * where there is no such window, or where it does not have the memory, messages do the work. True of messages.
 * Collective. */
bool bench_way_taken(void);

/* bench_dynamic_window: make a window of MPI_Win_create_dynamic over all PEs, whose errors are returned, and begin
 * MPI_Win_lock_all on it. Returns whether MPI has one in which PEs put and get; if not, *win is MPI_WIN_NULL.
 * Collective. bench_dynamic_atomics: whether one can do atomics in it, too. */
bool bench_dynamic_window(MPI_Win *win);
bool bench_dynamic_atomics(void);

/* bench_dynamic_window_free: if there is one. Memory must have been detached. Collective. */
void bench_dynamic_window_free(MPI_Win *win);

#endif
