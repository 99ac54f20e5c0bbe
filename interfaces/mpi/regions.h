/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic windows: the memory that each process has attached, and how others find an address in it. */
#ifndef RMAI_MPI_REGIONS_H
#define RMAI_MPI_REGIONS_H

#include "interfaces/mpi/state.h"

/* rmai_win_locate: the global pointer of [at, at + len) in the memory of `peer`, where at is an address of its process,
 * for a dynamic window. RMA_GPTR_NULL if that is not attached. */
rma_gptr_t rmai_win_locate(const struct rmai_win_peer *peer, uint64_t at, size_t len);

/* rmai_win_locate_blocks finds blocks that may lie in several regions, and one block in several regions that touch:
 * *pieces, which the caller frees, are *n_pieces parts of the blocks, in their order, each of which lies in one region.
 * The blocks' offsets are relative to `address`. Returns RMA_SUCCESS; RMA_ERR_ADDRESS with *at and *missing: so many
 * bytes of a block, from the address *at on, are not attached; RMA_ERR_NO_MEM; or the error of a read from another
 * node. */
struct rmai_win_piece;
int rmai_win_locate_blocks(const struct rmai_win_peer *peer, uint64_t address, const struct rma_block *blocks, size_t n,
                           struct rmai_win_piece **pieces, size_t *n_pieces, uint64_t *at, size_t *missing);

/* rmai_win_regions_free gives up all pieces, when the window ends. */
void rmai_win_regions_free(struct rmai_win *w);

#endif
