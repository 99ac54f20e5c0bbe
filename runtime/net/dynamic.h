/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's dynamic window: what of each PE's memory is attached to it, and at which address. A PE attaches what it has by
 * itself, without a meeting, and never takes a heap's memory out again before the end: so what another PE has learned
 * stays true. Memory that the program attaches, and may detach, is not in it.
 *
 * A part of the space (enum rmai_part_kind) is attached from its first byte on, in the steps in which heaps grow
 * (rmai_step_end). No access crosses the end of a step: MPI asks that one attached region has all of it. */
#ifndef RMAI_DYNAMIC_H
#define RMAI_DYNAMIC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/job/job.h"

struct rmai_net;
struct rmai_peer;
struct rmai_pending;

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

/* rmai_dynamic_open: this PE's directory, and the address of each part's first byte. */
void rmai_dynamic_open(struct rmai_net *net, struct rmai_directory *own, char *const address[RMAI_PARTS]);

/* rmai_dynamic_follow attaches what [0, size) of the part has more than before, and tells the directory; only the PE
 * itself may do that. all: nothing of this is left for later, a step that is not whole is attached and the last. Where
 * MPI refuses, a note says so, and this PE attaches nothing from then on. */
void rmai_dynamic_follow(struct rmai_net *net, enum rmai_part_kind part, size_t size, int all);

/* rmai_dynamic_grown: all PEs have followed a growth of the symmetric heap: what was learned of it before may be old.
 */
static inline void rmai_dynamic_grown(struct rmai_dynamic *d) {
    atomic_fetch_add_explicit(&d->growths, 1, memory_order_relaxed);
}

/* rmai_dynamic_detach takes memory out of the window again that was attached to it for a trial only. */
void rmai_dynamic_detach(struct rmai_net *net, void *base);

/* rmai_dynamic_find: where in pe's part of the window [offset, offset + *len) of its space is, with the set's lock;
 * *len becomes what lies before the end of a step. Returns 1 with *address; 0 if it is not
 * in there; -1 if pe has to be asked for its directory first (rmai_dynamic_learn). */
int rmai_dynamic_find(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t *len,
                      uint64_t *address);

/* rmai_dynamic_learn reads pe's directory anew; without the set's lock. Waits. Returns RMA_SUCCESS, RMA_ERR_NO_MEM or
 * RMA_ERR_MPI. */
int rmai_dynamic_learn(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe);

#endif
