/* SPDX-License-Identifier: BSD-3-Clause */
/* The header: the first RMAI_HEADER_ROOM bytes of each PE's space, which the PEs of its node read and write. Each
 * module has its own part of it, and knows only that part. */
#ifndef RMAI_HEADER_H
#define RMAI_HEADER_H

#include "base/lock.h"
#include "heap/returned.h"
#include "heap/segment.h"
#include "runtime/agree.h"
#include "runtime/job/job.h"
#include "runtime/job/mpi_polls.h"
#include "runtime/node/barrier.h"
#include "runtime/node/service.h"
#include "runtime/watch/sign.h"

/* Zero until the PE writes it. */
struct rmai_header {
    struct rmai_facts facts;
    struct rmai_returned returned[RMAI_POOLS]; /* blocks that other PEs have given back */
    struct rmai_lock guest_lock;               /* held while changing the guests' part */
    _Atomic int guest_orphan;                  /* 1 + the PE that died while it held guest_lock */
    _Atomic size_t begun;                      /* number 0's: see heap/reserve.h */
    struct rmai_barrier_shared barrier;
    struct rmai_agree_shared agree;
    struct rmai_service_shared service;
    struct rmai_mpi_bell mpi_bell; /* number 0's */
    struct rmai_shown_sign sign;   /* the public call in which the PE waits */
    _Atomic uint32_t ending;       /* the number of the node barrier that is its last meeting; 0: not there yet */
};

_Static_assert(sizeof(struct rmai_header) <= RMAI_HEADER_ROOM, "the header fits its room");

/* rmai_header returns the header of the node's PE q. */
static inline struct rmai_header *rmai_header(const struct rmai_job *job, int q) {
    return (struct rmai_header *)(void *)rmai_job_space(job, q);
}

#endif
