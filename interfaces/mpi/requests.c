/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/requests.h"
#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/state.h"

static int set_empty_status(void *state, MPI_Status *status) {
    const int code = PMPI_Status_set_elements(status, MPI_BYTE, 0);
    (void)state;
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return code == MPI_SUCCESS ? PMPI_Status_set_cancelled(status, 0) : code;
}

static int free_nothing(void *state) {
    (void)state;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

int rmai_win_request_begin(MPI_Request *request) {
    return PMPI_Grequest_start(set_empty_status, free_nothing, cancel_nothing, NULL, request);
}

int rmai_win_request(struct rmai_win *w, const char *call, MPI_Request *request) {
    int code = rmai_win_request_begin(request);
    if (code == MPI_SUCCESS) code = PMPI_Grequest_complete(*request);
    return code == MPI_SUCCESS ? code : rmai_win_error(w, MPI_ERR_OTHER, "%s: MPI cannot make a request", call);
}

int rmai_win_check_passive(struct rmai_win *w, const char *call, int rank) {
    if (w->lock_all || w->locked || rank == MPI_PROC_NULL) return MPI_SUCCESS;
    return rmai_win_error(w, MPI_ERR_RMA_SYNC, "%s: no epoch of MPI_Win_lock or MPI_Win_lock_all is open", call);
}
