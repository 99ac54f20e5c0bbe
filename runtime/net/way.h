/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of puts and gets between nodes: by messages, which carry everything, or through one of MPI's two windows.
 * way.c makes the windows, tries them out (probe.c), and decides what goes by which way; the rows are constant from
 * then on. There is one answer for all nodes, although MPI may reach nodes in different ways: a window is used for an
 * access only if it is suitable for each kind of pairs of nodes. Only files of this folder include this header. */
#ifndef RMAI_WAY_H
#define RMAI_WAY_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/job/pairs.h"
#include "runtime/net/op.h"
#include "runtime/transport/transport.h"

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

/* A way through a window: which puts and gets go by it, and why. `takes`: their lengths, by what the caller does next
 * (enum rmai_when), if the way covers the place. */
struct rmai_route {
    const char *name;
    struct rmai_lengths takes[RMAI_ACCESSES][RMAI_COPIED + 1];
    int all[RMAI_ACCESSES];          /* 1: all lengths from `from` on, whatever the caller does next */
    int needs_target[RMAI_ACCESSES]; /* 1: between some nodes at least, an access waits until the target or its progress
                                        thread is in MPI */
    const char *why[RMAI_ACCESSES];  /* in words; NULL: nothing goes by it */
};

struct rmai_ways {
    struct rmai_route way[RMAI_WINDOWS];
    struct rmai_trial trial[RMAI_PAIR_KINDS];
    /* The shortest length that goes through any window, SIZE_MAX if none does: it alone decides most operations. */
    size_t least_by_window[RMAI_ACCESSES][RMAI_COPIED + 1];
};

/* rmai_ways_open fills in the rows: everything goes by messages. rmai_ways_choose decides, after the probe and on all
 * PEs alike (collective), what goes through which window, and which memory is attached to the dynamic one. It frees a
 * dynamic window that is of no use. Returns RMA_SUCCESS or RMA_ERR_MPI. rmai_ways_print writes, line by line, each
 * way's row, and what the probe has found; net may be NULL. */
void rmai_ways_open(struct rmai_ways *w);
int rmai_ways_choose(struct rmai_net *net);
void rmai_ways_print(const struct rmai_net *net, void (*line)(void *out, const char *text), void *out);

/* ---- making the windows ---- */

/* rmai_windows_wanted: 1 if the settings want windows. rmai_windows_open makes the windows that the settings want
 * (collective): the fixed one over `size` bytes of symmetric heap at base and the probe's room before them, and the
 * dynamic one, to which it attaches this PE's directory. Then it finds out which accesses need the target. All PEs must
 * have met before: otherwise a PE may need a reply from one that already waits in here. own: the result of that
 * meeting, which is returned if it is an error; this PE still takes part in making the windows. If a window fails its
 * trial, the job runs without it and prints one note. Returns RMA_SUCCESS or RMA_ERR_MPI. One PE alone may get the
 * error: the caller must agree with the other PEs on that. */
int rmai_windows_wanted(const struct rmai_net *net);
int rmai_windows_open(struct rmai_net *net, const char *call, char *base, size_t size, int own);

/* rmai_window_wanted: 1 if the fixed window has to be replaced for `size` bytes of symmetric heap, since a good part of
 * them lies outside of it. rmai_window_grow replaces it (collective), in the same way as rmai_windows_open. */
int rmai_window_wanted(const struct rmai_net *net, size_t size);
int rmai_window_grow(struct rmai_net *net, const char *call, char *base, size_t size, int own);

/* ---- the probe ----
 *
 * It tries out MPI's windows at init: do they move what they should, and do they need the target? It tries a pair of
 * nodes of each kind (job->pairs), one after the other, and decides for all nodes alike, by the worst of the answers.
 */

/* For this folder. */

/* rmai_probe_write_and_read_back puts a pattern at an odd place in the page before the heap of a PE on another node,
 * and of the other PE of a pair, and reads it back: some versions of MPI and UCX put data at a wrong place if the
 * window has an unlucky base. The trial of the dynamic window needs a fixed one. Returns RMA_SUCCESS or RMA_ERR_MPI.
 *
 * rmai_probe_one_sided finds out which accesses through which window need the target, on all PEs alike (collective;
 * waits some milliseconds for each kind of pair). Returns RMA_SUCCESS or RMA_ERR_MPI, an error on all PEs or on none.
 * rmai_probe_merge is its last step: an access needs the target if it does so between nodes of any kind, or if no kind
 * was tried. */
int rmai_probe_write_and_read_back(struct rmai_net *net, enum rmai_window_kind window);
int rmai_probe_one_sided(struct rmai_net *net);
void rmai_probe_merge(struct rmai_ways *w);

#endif
