/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: which memory of which process they have, and which accesses are under way. */
#ifndef RACE_MPI_WINDOWS_H
#define RACE_MPI_WINDOWS_H

#include <mpi.h>
#include <stdint.h>

#include "instruments/race/contexts.h"
#include "instruments/race/group.h"

/* A process of the window. */
struct race_peer {
    uint64_t base, size;
    int64_t unit;
    uint64_t id;
    int pe;     /* -1: of another world */
    int locked; /* enum race_lock */
};
enum race_lock { RACE_UNLOCKED, RACE_SHARED, RACE_EXCLUSIVE, RACE_NOCHECK };

/* Its accesses are operations of its context: those of the target's memory are puts (RACE_PUTS), those of the caller's
 * buffers pending (RACE_PENDING). */
struct race_win {
    MPI_Win handle;
    uint32_t id; /* the same on all its processes */
    int dynamic;
    int same_op; /* the info key accumulate_ops is same_op */
    int n, me;
    struct race_peer *peers;
    struct race_group *group;
    struct race_context *x;
    int sort;                /* enum race_sort: by what its epochs end now */
    int all;                 /* enum race_lock: of MPI_Win_lock_all */
    int *started, n_started; /* the PEs of the access epoch of MPI_Win_start, and of the exposure epoch */
    int *posted, n_posted;
    struct race_win *next;
};

/* race_win_of: NULL if the handle is not known. */
struct race_win *race_win_of(MPI_Win win);

/* race_win_done completes what the calling thread has under way in the window towards the rank, or (rank -1) all.
 * local: only at the origin. race_win_fetched: the results of fetching calls are there. */
void race_win_done(struct race_win *w, int rank, int local);
void race_win_fetched(struct race_win *w);

#endif
