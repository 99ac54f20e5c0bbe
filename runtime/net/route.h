/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of puts and gets between nodes: by messages, or through one of MPI's two windows. The rows are filled in
 * when the windows are made and tried out (way.c, probe.c), and constant from then on. There is one answer for all
 * nodes, although MPI may reach nodes in different ways: a window is used for an access only if it is suitable for each
 * kind of pairs of nodes. Only files of this folder include this header. */
#ifndef RMAI_ROUTE_H
#define RMAI_ROUTE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/job/pairs.h"
#include "runtime/net/op.h"
#include "runtime/net/transport.h"

enum rmai_access { RMAI_ACCESS_PUT, RMAI_ACCESS_GET, RMAI_ACCESSES };

/* [from, to): lengths in bytes. */
struct rmai_lengths {
    size_t from, to;
};

/* The results of the trial on one pair of nodes of a kind (enum rmai_pair_kind). */
struct rmai_trial {
    int made; /* 0: the job has no such pair */
    int needs_target[RMAI_WINDOWS][RMAI_ACCESSES];
};

/* A way: which puts and gets go by it, how, and why. `takes`: their lengths, by what the caller does next (enum
 * rmai_when), if the way covers the place. */
struct rmai_route {
    const char *name;
    int (*put)(struct rmai_net *net, const struct rmai_op *op);
    int (*get)(struct rmai_net *net, const struct rmai_op *op);
    struct rmai_lengths takes[RMAI_ACCESSES][RMAI_COPIED + 1];
    int all[RMAI_ACCESSES];          /* 1: all lengths from `from` on, whatever the caller does next */
    int needs_target[RMAI_ACCESSES]; /* 1: between some nodes at least, an access waits until the target or its progress
                                        thread is in MPI */
    const char *why[RMAI_ACCESSES];  /* in words; NULL: nothing goes by it */
};

#define RMAI_BY_MESSAGES RMAI_WINDOWS /* the last way, which carries everything */
struct rmai_ways {
    struct rmai_route way[RMAI_WINDOWS + 1]; /* MPI's windows, and messages */
    struct rmai_trial trial[RMAI_PAIR_KINDS];
    /* The shortest length that goes through any window, SIZE_MAX if none does: it alone decides most operations. */
    size_t least_by_window[RMAI_ACCESSES][RMAI_COPIED + 1];
};

/* rmai_route_takes: 1 if this put or get goes by the way, provided that the way covers its place. */
static inline int rmai_route_takes(const struct rmai_route *w, enum rmai_access access, size_t len,
                                   enum rmai_when when) {
    const struct rmai_lengths *l = &w->takes[access][when];
    return len >= l->from && len < l->to;
}

#endif
