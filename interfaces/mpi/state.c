/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/state.h"

struct rmai_win *rmai_wins;
rma_gptr_t *rmai_win_directory;
int rmai_win_running, rmai_win_threads;
_Atomic unsigned rmai_win_under_way;
MPI_Comm rmai_win_self = MPI_COMM_NULL;

struct rma_note_ rmai_win_notes[RMAI_WIN_NOTES];

int rmai_win_thread(void) {
    static _Atomic int threads;
    static _Thread_local int number;
    if (number == 0) number = ++threads;
    return number;
}

static int await_request(struct rma_tests_ *tests, MPI_Request *request, MPI_Status *status) {
    int done = 0, code = MPI_SUCCESS;
    while ((code = PMPI_Test(request, &done, status)) == MPI_SUCCESS && !done) rma_tests_turn_(tests);
    rma_tests_over_(tests);
    return code;
}

int rmai_win_await(const char *call, MPI_Request *request, MPI_Status *status) {
    struct rma_tests_ tests = {.call = call, .reports = 1};
    return await_request(&tests, request, status);
}

int rmai_win_await_free(const char *call, MPI_Request *request, MPI_Status *status) {
    struct rma_tests_ tests = {.call = call};
    return await_request(&tests, request, status);
}
