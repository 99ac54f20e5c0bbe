/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs that have only runtime/net, on the simulated network: each has a struct rmai_net, some memory that others may
 * access, and blocks that others may allocate. */
#ifndef SIM_BARE_H
#define SIM_BARE_H

#include <stddef.h>
#include <stdint.h>

#include "rma.h"
#include "runtime/net/net.h"
#include "runtime/net/flow.h"
#include "runtime/net/state.h"
#include "test/sim/network.h"

#define SIM_BLOCK  ((size_t)64)
#define SIM_BLOCKS 64

/* An offset in each PE's space, as of attached memory, at which every other look finds nothing. */
#define SIM_VANISHING      (RMA_GPTR_ATTACHED_ + ((uint64_t)1 << 30))
#define SIM_VANISHING_ROOM ((size_t)8 << 10)

struct sim_bare {
    struct sim_transport transport;
    struct sim_pe *pe;
    int me, n_pes;
    struct rmai_job job;
    struct rmai_traffic traffic;
    struct rmai_net *net;
    struct rmai_event doze;
    struct rmai_pending *set;
    uint32_t complete;
    unsigned char *memory; /* what others may reach: `size` bytes, all 0 at first */
    size_t size;           /* the last SIM_BLOCKS blocks of SIM_BLOCK bytes are for rmai_net_alloc */
    uint64_t free_blocks;  /* bit i: block i is free */
    unsigned looks;        /* at SIM_VANISHING, */
    unsigned char vanishing[SIM_VANISHING_ROOM]; /* which are these bytes */
};

/* For struct sim_options, whose `memory` says how much each PE has. sim_bare: that of a PE. */
extern const struct sim_layer sim_bare_layer;
static inline struct sim_bare *sim_bare(const struct sim_pe *pe) { return pe->layer; }

#endif
