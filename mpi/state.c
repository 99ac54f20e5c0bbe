/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mpi/state.h"

#include <sched.h>

struct rmai_win *rmai_wins;
rma_gptr_t *rmai_win_directory;
int rmai_win_running, rmai_win_threads;
_Atomic unsigned rmai_win_under_way;
MPI_Comm rmai_win_self = MPI_COMM_NULL;

#define POLLS 200 /* polls that find nothing, before the thread yields */
#define TURNS 10  /* calls of rma_progress for each test of MPI: a test takes longer */

void rmai_win_serve(int *polls) {
    if (rma_initialized())
        for (int i = 0; i < TURNS; i++) rma_progress();
    if (*polls < POLLS)
        ++*polls;
    else
        sched_yield();
}

int rmai_win_await(MPI_Request *request, MPI_Status *status) {
    int done = 0, polls = 0, code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && !done) {
        code = PMPI_Test(request, &done, status);
        if (!done) rmai_win_serve(&polls);
    }
    return code;
}
