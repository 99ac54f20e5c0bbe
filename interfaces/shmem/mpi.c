/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets OpenSHMEM and the program both start and end MPI, in any order. The specification allows that (section D, MPI
 * interoperability), but MPI can be initialized only once and finalized only once. So this file intercepts MPI's calls
 * for both, by MPI's profiling interface:
 *
 *   MPI_Init after shmem_init            succeeds, and MPI belongs to the program from then on
 *   MPI_Init before shmem_init           requests the thread level that librma needs to serve others while the
 *                                        program computes
 *   MPI_Finalize before shmem_finalize   is postponed: MPI ends in shmem_finalize
 *   shmem_finalize                       otherwise leaves MPI running, so that shmem_init may be called again
 *   the end of the process               ends MPI, if OpenSHMEM has begun it and the program has not ended it
 *
 * librma's own calls of MPI_Init_thread and MPI_Finalize also come here; a flag tells them from the program's. */
#include "config.h"

#include "interfaces/shmem/setup.h"
#include "runtime/interfaces.h"

#include <mpi.h>

static enum { NONE, HOLDS, GIVEN } program_hold; /* what the program has called: nothing, MPI_Init, MPI_Finalize */
static int mpi_begun_here;                       /* 1: shmem_init has initialized MPI */
static int finalize_owed;                        /* 1: librma would have finalized MPI */
static int librma_asks, shmem_active;            /* 1: librma is calling MPI; 1: OpenSHMEM is initialized */

#pragma GCC visibility push(default)
int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Finalize(void);
#pragma GCC visibility pop

static int mpi_finalized(void) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    return finalized;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int mpi_code;
    if (!librma_asks && mpi_begun_here && program_hold == NONE && !mpi_finalized()) {
        program_hold = HOLDS;
        rma_leave_mpi_();
        return MPI_Query_thread(provided);
    }
    (void)required; /* librma needs the highest level, which also suits the program */
    mpi_code = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
    if (mpi_code == MPI_SUCCESS && librma_asks)
        mpi_begun_here = 1;
    else if (mpi_code == MPI_SUCCESS)
        program_hold = HOLDS;
    return mpi_code;
}

int MPI_Init(int *argc, char ***argv) {
    int provided;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

static int end_mpi(void) {
    rma_mpi_ending_();
    return PMPI_Finalize();
}

int MPI_Finalize(void) {
    if (librma_asks) {
        finalize_owed = 1;
        return MPI_SUCCESS;
    }
    if (program_hold != GIVEN && shmem_active) {
        program_hold = GIVEN;
        return MPI_SUCCESS;
    }
    program_hold = GIVEN;
    return end_mpi();
}

void rmai_shmem_mpi_begin(void) { librma_asks = 1; }

int rmai_shmem_mpi_end(const char *call, int running) {
    librma_asks = 0;
    shmem_active = running;
    rma_keep_mpi_(running);
    if (running || program_hold != GIVEN || mpi_finalized()) return RMA_SUCCESS;
    return end_mpi() == MPI_SUCCESS ? RMA_SUCCESS : rma_fail_(RMA_ERR_MPI, "%s: MPI_Finalize failed", call);
}

void rmai_shmem_mpi_at_exit(void) {
    if ((mpi_begun_here || finalize_owed) && !mpi_finalized()) end_mpi();
}
