/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of puts and gets between nodes: by messages, or through one of MPI's two windows. The table is filled in
 * when the windows are made and tried out (window_setup.c, probe.c), and constant from then on. There is one answer for
 * all nodes, although MPI may reach nodes in different ways: a window is used for an access only if it is suitable for
 * each kind of pairs of nodes. Only files of this folder include this header. */
#ifndef RMAI_WAYS_H
#define RMAI_WAYS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/job/job.h"
#include "runtime/job/pairs.h"
#include "runtime/net/op.h"
#include "runtime/net/transport.h"

enum rmai_access { RMAI_ACCESS_PUT, RMAI_ACCESS_GET, RMAI_ACCESSES };

#define RMAI_PROBE_LENGTHS 3

/* [from, to): lengths in bytes. */
struct rmai_lengths {
    size_t from, to;
};

/* The results of the trial on one pair of nodes of a kind (enum rmai_pair_kind). */
struct rmai_trial {
    int made; /* 0: the job has no such pair */
    int needs_target[RMAI_WINDOWS][RMAI_ACCESSES];
    /* Microseconds of an access and its completion while the target is in the library: through each window and, last,
     * by messages; for each length tried. 0: the probe has not measured it. */
    double probed[RMAI_WINDOWS + 1][RMAI_ACCESSES][RMAI_PROBE_LENGTHS];
};

struct rmai_ways {
    struct rmai_trial trial[RMAI_PAIR_KINDS];
    /* 1: between some nodes at least, an access through that window waits until the target or its progress thread is in
     * MPI. */
    int needs_target[RMAI_WINDOWS][RMAI_ACCESSES];
    /* The lengths of puts and gets that go through a window if it covers them, by what the caller does next (enum
     * rmai_when). */
    struct rmai_lengths by_window[RMAI_WINDOWS][RMAI_ACCESSES][RMAI_COPIED + 1];
    int all_by_window[RMAI_WINDOWS][RMAI_ACCESSES]; /* 1: all lengths from `from` on, whatever the caller does next */
    /* The shortest length that goes through any window, SIZE_MAX if none does: it alone decides most operations. */
    size_t least_by_window[RMAI_ACCESSES][RMAI_COPIED + 1];
};

/* rmai_ways_window: 1 if this put or get goes through the window, provided that the window covers its place. */
static inline int rmai_ways_window(const struct rmai_ways *w, enum rmai_window_kind window, enum rmai_access access,
                                   size_t len, enum rmai_when when) {
    const struct rmai_lengths *l = &w->by_window[window][access][when];
    return len >= l->from && len < l->to;
}

/* MPI's dynamic window: which of each PE's memory is attached to it, and at which address. A PE attaches its memory by
 * itself, without a meeting, and does not detach a heap's memory before the end: so what another PE has learned stays
 * true. Memory that the program attaches, and may detach, is not in the window.
 *
 * A part of the space (enum rmai_part_kind) is attached from its first byte on, in the steps in which heaps grow
 * (rmai_step_end). No access crosses the end of a step: MPI requires that it lies in one attached region. */
struct rmai_dynamic {
    int open;                   /* there is a dynamic window; */
    int parts[RMAI_PARTS];      /* 1: the part's memory is attached to it */
    struct rmai_directory *own; /* this PE's, or NULL */
    int by_get;                 /* directories are read through the fixed window; else by asking the PE */
    pthread_mutex_t lock;       /* held while attaching */
    int closed[RMAI_PARTS];     /* nothing more of the part is attached; under `lock` */
    _Atomic int refused;        /* MPI has refused to attach more: nothing is attached any more */
    _Atomic unsigned growths;   /* growths of the symmetric heap that all PEs have followed */
};

#endif
