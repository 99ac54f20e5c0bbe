/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Put, MPI_Get, and their forms with a request; and the copy itself, which some accumulates use. */
#ifndef RMAI_MPI_MOVES_H
#define RMAI_MPI_MOVES_H

#include "interfaces/mpi/access.h"

/* rmai_win_move copies from the origin to the target (put), or back. now: on return the buffer is free, or filled; and
 * if the target is on another node, all that this process has begun on other nodes is complete. Returns an enum
 * rma_error. */
int rmai_win_move(const struct rmai_win_access *a, int put, int now);

#endif
