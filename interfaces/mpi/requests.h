/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the calls that return one (MPI_Rput and its relatives). The operation is complete at this process when
 * the call returns, and so it returns a request of MPI that is complete. An operation on another node is complete there
 * as well, since the call waits by rma_quiet, but programs cannot rely on that before a flush. */
#ifndef RMAI_MPI_REQUESTS_H
#define RMAI_MPI_REQUESTS_H

#include <mpi.h>

struct rmai_win;

/* rmai_win_request_begin makes a request that is complete after PMPI_Grequest_complete. Returns MPI's code. */
int rmai_win_request_begin(MPI_Request *request);

/* rmai_win_request makes a complete request. Returns MPI_SUCCESS, or reports the error. */
int rmai_win_request(struct rmai_win *w, const char *call, MPI_Request *request);

/* rmai_win_check_passive: the standard allows such calls only between MPI_Win_lock or MPI_Win_lock_all and the unlock,
 * and to MPI_PROC_NULL at any time. Returns MPI_SUCCESS, or reports MPI_ERR_RMA_SYNC. */
int rmai_win_check_passive(struct rmai_win *w, const char *call, int rank);

#endif
