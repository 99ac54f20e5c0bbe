/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses that librma cannot take in one call, and does piece by piece. In these the target's data lie in several
 * regions of a dynamic window, or have elements that librma does not update as they are. The data are packed on this
 * side, and each piece of the target goes its own way. So do data that end within an element of the receiving side's
 * type. */
#ifndef RMAI_MPI_PIECES_H
#define RMAI_MPI_PIECES_H

#include "interfaces/mpi/access.h"

/* rmai_win_shorten: the side that receives, the origin's or the target's, is longer than the data, as in a message: it
 * ends with their `size` bytes. Returns 0 if memory is exhausted. */
int rmai_win_shorten(struct rmai_win_access *a, struct rmai_win_side *receives, size_t size);

/* rmai_win_pieces_move copies between the origin and a->pieces, and is complete at this process on return. put: to the
 * target. Returns an enum rma_error. */
int rmai_win_pieces_move(const struct rmai_win_access *a, int put);

/* rmai_win_pieces_update updates the target's elements. Those that librma can update do not take the window's lock; all
 * others are read, combined and written while it is held. So whether an element is protected by the lock depends on its
 * type, the operation, its address and the kind of window alone. cond: what RMAI_WIN_SWAP expects, else NULL. Complete
 * at this process on return. Returns an enum rma_error. */
int rmai_win_pieces_update(const struct rmai_win_access *a, enum rmai_win_op op, const void *cond);

#endif
