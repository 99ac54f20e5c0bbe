/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mpi/state.h"

#include <sched.h>

struct rmai_win *rmai_wins;
rma_gptr_t *rmai_win_directory;
int rmai_win_running;
MPI_Comm rmai_win_self = MPI_COMM_NULL;

int rmai_win_await(MPI_Request *request) {
    int done = 0, code, polls = 0;
    do {
        code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && !done && rma_initialized()) rma_progress();
        if (polls < 200)
            polls++;
        else
            sched_yield(); /* the other process may need this processor */
    } while (code == MPI_SUCCESS && !done);
    return code;
}
