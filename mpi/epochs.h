/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronization: who may access which process's memory, and when. */
#ifndef RMAI_MPI_EPOCHS_H
#define RMAI_MPI_EPOCHS_H

#include "mpi/state.h"

/* rmai_win_enter finds the peer `rank`, checks that this process may access it now, and takes the lock that
 * MPI_Win_lock_all has left for the first access. Returns MPI_SUCCESS or reports MPI_ERR_RMA_SYNC in `call`. */
int rmai_win_enter(struct rmai_win *w, const char *call, int rank, struct rmai_win_peer *peer);

/* rmai_win_check_rank: MPI_SUCCESS, or reports MPI_ERR_RANK in `call`. */
int rmai_win_check_rank(struct rmai_win *w, const char *call, int rank);

/* The lock at `offset` in the record of a peer: take it as RMAI_WIN_WRITER or RMAI_WIN_READER, and release it. Return
 * an enum rma_error. */
int rmai_win_take(struct rmai_win *w, const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as);
int rmai_win_release(const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as);

/* rmai_win_posts_free frees what processes of other nodes have posted for this process, whose record this is. */
void rmai_win_posts_free(struct rmai_win_record *record);

#endif
