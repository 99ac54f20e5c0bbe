/* SPDX-License-Identifier: BSD-3-Clause */
/* Which puts and gets go through MPI's windows, and which by messages. Filled in when the windows are made
 * (runtime/net/window_setup, runtime/net/probe), and constant from then on. There is one answer for all nodes, though
 * MPI may reach some in another way than others: a window counts as good for something if it is so for each kind of
 * pairs of nodes. */
#ifndef RMAI_WAYS_H
#define RMAI_WAYS_H

#include <stddef.h>

#include "runtime/job/pairs.h"
#include "runtime/net/transport.h"
#include "runtime/net/when.h"

enum rmai_access { RMAI_ACCESS_PUT, RMAI_ACCESS_GET, RMAI_ACCESSES };

#define RMAI_PROBE_LENGTHS 3

/* [from, to): lengths in bytes. */
struct rmai_lengths {
    size_t from, to;
};

/* What was tried out on one pair of nodes of a kind (enum rmai_pair_kind). */
struct rmai_trial {
    int made; /* 0: the job has no such pair */
    int needs_target[RMAI_WINDOWS][RMAI_ACCESSES];
    /* Microseconds of an access, with its completion, while the target is in the library, through each window and,
     * last, by messages; for each length that is tried. 0: the probe has not looked. */
    double probed[RMAI_WINDOWS + 1][RMAI_ACCESSES][RMAI_PROBE_LENGTHS];
};

struct rmai_ways {
    struct rmai_trial trial[RMAI_PAIR_KINDS];
    /* 1: what goes through that window waits until the target is in MPI, or its progress thread is; between some nodes
     * at least. */
    int needs_target[RMAI_WINDOWS][RMAI_ACCESSES];
    /* Puts and gets that go through a window where it covers them, by what the caller does next (enum rmai_when). */
    struct rmai_lengths by_window[RMAI_WINDOWS][RMAI_ACCESSES][RMAI_COPIED + 1];
    int all_by_window[RMAI_WINDOWS][RMAI_ACCESSES]; /* 1: of every length from `from` on, whatever follows */
    int some_all_by_window;                         /* 1: such a one is among these */
};

/* rmai_ways_window: 1 if such a put or get goes through the window, if that covers its place. */
static inline int rmai_ways_window(const struct rmai_ways *w, enum rmai_window_kind window, enum rmai_access access,
                                   size_t len, enum rmai_when when) {
    const struct rmai_lengths *l = &w->by_window[window][access][when];
    return len >= l->from && len < l->to;
}

#endif
