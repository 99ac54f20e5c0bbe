/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs with the whole library on the simulated network: a PE's program calls rma_init, and then any calls of the API.
 * The library's process-wide variables are exchanged when another PE's turn begins. The PEs of a node share memory of
 * this process.
 *
 * The simulator replaces the modules that ask MPI or the system which PEs exist and what they share: base/mpi,
 * runtime/job/launch, runtime/transport/transport_mpi, heap/reserve, runtime/life/exit, runtime/world. */
#ifndef SIM_WHOLE_H
#define SIM_WHOLE_H

#include "test/sim/network.h"

/* For struct sim_options. */
extern const struct sim_layer sim_whole;

struct rmai_world;

/* sim_world: the world of a PE whose turn it need not be; to be read only. */
const struct rmai_world *sim_world(struct sim_pe *pe);

/* sim_refuse_commits: after `good` more commits of memory the next `bad` ones of this PE fail, as if there were none
 * left. */
void sim_refuse_commits(struct sim_pe *pe, unsigned good, unsigned bad);

#endif
