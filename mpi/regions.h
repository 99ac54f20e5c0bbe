/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic windows: the pieces of memory that a process has attached, and where another process finds an address. */
#ifndef RMAI_MPI_REGIONS_H
#define RMAI_MPI_REGIONS_H

#include "mpi/state.h"

/* rmai_win_locate: the global pointer of [at, at + len) in the memory of `peer`, where at is an address of its process,
 * for a dynamic window. RMA_GPTR_NULL if that is not attached. */
rma_gptr_t rmai_win_locate(const struct rmai_win_peer *peer, uint64_t at, size_t len);

/* rmai_win_regions_free gives up all pieces, when the window ends. */
void rmai_win_regions_free(struct rmai_win *w);

#endif
