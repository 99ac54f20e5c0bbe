/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronization: fence, post and start, lock and unlock, flush; who may access which process, and when. */
#ifndef RMAI_MPI_EPOCHS_H
#define RMAI_MPI_EPOCHS_H

#include "interfaces/mpi/state.h"

/* rmai_win_enter finds the peer `rank`, and checks that this process may access it now. Returns MPI_SUCCESS or reports
 * MPI_ERR_RMA_SYNC in `call`. */
int rmai_win_enter(struct rmai_win *w, const char *call, int rank, struct rmai_win_peer *peer);

/* rmai_win_check_rank: MPI_SUCCESS, or reports MPI_ERR_RANK in `call`. */
int rmai_win_check_rank(struct rmai_win *w, const char *call, int rank);

/* rmai_win_posts_free frees what processes of other nodes have posted for this process, whose record this is. */
void rmai_win_posts_free(struct rmai_win_record *record);

#endif
