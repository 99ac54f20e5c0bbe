/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/trial.h"
#include "interfaces/mpi/state.h"

int rmai_mpi_shifts(void) {
    /* The window is the second word of these, so that a put that is 8 bytes too low overwrites nothing else. */
    _Alignas(16) volatile uint64_t words[4] = {0};
    const uint64_t one = 1;
    MPI_Win win;
    int code;
    if (PMPI_Win_create((void *)(uintptr_t)&words[1], sizeof words[1], 1, MPI_INFO_NULL, rmai_win_self, &win) !=
        MPI_SUCCESS)
        return 0;
    code = PMPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    if (code == MPI_SUCCESS) code = PMPI_Put(&one, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, win);
    if (code == MPI_SUCCESS) code = PMPI_Win_unlock(0, win);
    if (code == MPI_SUCCESS) code = PMPI_Win_free(&win);
    return code == MPI_SUCCESS && words[1] != one;
}
