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
    int some_by_window;                             /* 1: something is among these */
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

struct rmai_peer;

/* rmai_window_takes: 1 if such a put or get goes through a window, if that covers its place. rmai_window_put and
 * rmai_window_get do it, in pieces: between two pieces this PE serves others, since a PE that asks it for something
 * would otherwise wait for the whole transfer. What the windows do not cover they have done by messages. No lock is
 * held. */
int rmai_window_takes(struct rmai_net *net, const struct rmai_op *op);
int rmai_window_put(struct rmai_net *net, const struct rmai_op *op);
int rmai_window_get(struct rmai_net *net, const struct rmai_op *op);

/* rmai_window_flush completes what has gone to p through the windows, with the set's lock. rmai_window_flush_all: what
 * has gone through them anywhere, in all sets, one after the other; after it no thread uses the fixed one in any of
 * them, if `covered` was set to 0 before. Return RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_window_flush(struct rmai_net *net, const char *call, struct rmai_peer *p);
int rmai_window_flush_all(struct rmai_net *net, const char *call);

/* rmai_dynamic_learn reads pe's directory anew; without the set's lock. Waits. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or
 * RMA_ERR_MPI. */
int rmai_dynamic_learn(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

/* What the probe finds (probe.c).
 *
 * rmai_probe_write_and_read_back puts a pattern at an odd place in the page before the heap of a PE on another node,
 * and of the other PE of a pair, and reads it back: some versions of MPI and UCX shift what is put into a window with
 * an unlucky base. For the dynamic window there has to be a fixed one. Returns RMA_SUCCESS or RMA_ERR_MPI.
 *
 * rmai_probe_one_sided finds out which accesses through which window need the target: ways.trial and ways.needs_target,
 * on all PEs alike (collective; waits some milliseconds for each kind of pair). Returns RMA_SUCCESS or RMA_ERR_MPI, an
 * error on all PEs or on none. rmai_probe_merge: its last step, an access needs the target if it does between nodes of
 * some kind, or if none was tried.
 *
 * rmai_probe_faster: the lengths for which the dynamic window was clearly faster than messages on each pair. */
int rmai_probe_write_and_read_back(struct rmai_net *net, enum rmai_window_kind window);
int rmai_probe_one_sided(struct rmai_net *net);
void rmai_probe_merge(struct rmai_ways *w);
struct rmai_lengths rmai_probe_faster(const struct rmai_ways *w, enum rmai_access access);

#endif
