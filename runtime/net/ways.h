/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of puts and gets between nodes: by messages, or through one of MPI's two windows. The table is filled in
 * when the windows are made and tried out (window_setup.c, probe.c), and constant from then on. There is one answer for
 * all nodes, though MPI may reach some in another way than others: a window counts as good for something if it is so
 * for each kind of pairs of nodes. Only files of this folder include this header. */
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

/* What was tried out on one pair of nodes of a kind (enum rmai_pair_kind). */
struct rmai_trial {
    int made; /* 0: the job has no such pair */
    int needs_target[RMAI_WINDOWS][RMAI_ACCESSES];
    /* Microseconds of an access, with its completion, while the target is in the library, through each window and,
     * last, by messages; for each length that is tried. 0: the probe has not measured it. */
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
    /* The shortest one that goes through any window; SIZE_MAX: none does. Most operations are decided by it alone. */
    size_t least_by_window[RMAI_ACCESSES][RMAI_COPIED + 1];
};

/* rmai_ways_window: 1 if such a put or get goes through the window, if that covers its place. */
static inline int rmai_ways_window(const struct rmai_ways *w, enum rmai_window_kind window, enum rmai_access access,
                                   size_t len, enum rmai_when when) {
    const struct rmai_lengths *l = &w->by_window[window][access][when];
    return len >= l->from && len < l->to;
}

/* MPI's dynamic window: what of each PE's memory is attached to it, and at which address. A PE attaches what it has by
 * itself, without a meeting, and never takes a heap's memory out again before the end: so what another PE has learned
 * stays true. Memory that the program attaches, and may detach, is not in it.
 *
 * A part of the space (enum rmai_part_kind) is attached from its first byte on, in the steps in which heaps grow
 * (rmai_step_end). No access crosses the end of a step: MPI asks that one attached region has all of it. */
struct rmai_dynamic {
    int open;                   /* there is such a window; */
    int parts[RMAI_PARTS];      /* 1: what the part has goes into it */
    struct rmai_directory *own; /* this PE's, or NULL */
    int by_get;                 /* directories are read through the fixed window; else PEs are asked */
    pthread_mutex_t lock;       /* who attaches */
    int closed[RMAI_PARTS];     /* nothing more of the part is attached; under `lock` */
    _Atomic int refused;        /* MPI has refused to attach more: from then on nothing is */
    _Atomic unsigned growths;   /* of the symmetric heap, which all PEs have followed */
};

#endif
