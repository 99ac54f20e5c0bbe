/* SPDX-License-Identifier: BSD-3-Clause */
/* One program, two users of MPI: itself and OpenSHMEM. The specification wants them to begin and to end in any order
 * (section D, MPI interoperability), but MPI can be initialized once and finalized once. So MPI's calls for that are
 * taken here, by its profiling interface:
 *
 *   MPI_Init after shmem_init           succeeds, and MPI is the program's from then on
 *   MPI_Init before shmem_init          asks for the thread level that the engine needs to serve others while the
 * program computes MPI_Finalize before shmem_finalize  waits for it: MPI ends there shmem_finalize leaves MPI as it is,
 * so that shmem_init may come again the end of the process              ends MPI, if OpenSHMEM has begun it and the
 * program has not ended it
 *
 * The engine's own calls of MPI_Init_thread and MPI_Finalize come here, too; they are told by a flag. */
#include "config.h"

#include "shmem/setup.h"
#include "runtime/face.h"

#include <mpi.h>

static enum { NONE, HOLDS, GIVEN } program; /* the program's hold on MPI: it has called MPI_Init; MPI_Finalize */
static int ours;                            /* MPI was initialized by shmem_init */
static int owed;                            /* the engine would have finalized it */
static int in_engine, active;               /* the engine is asking; OpenSHMEM is initialized */

#pragma GCC visibility push(default)
int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Finalize(void);
#pragma GCC visibility pop

static int ended(void) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    return finalized;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code;
    if (!in_engine && ours && program == NONE && !ended()) {
        program = HOLDS;
        return MPI_Query_thread(provided);
    }
    (void)required; /* more is no harm */
    code = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
    if (code == MPI_SUCCESS && in_engine)
        ours = 1;
    else if (code == MPI_SUCCESS)
        program = HOLDS;
    return code;
}

int MPI_Init(int *argc, char ***argv) {
    int provided;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int MPI_Finalize(void) {
    if (in_engine) {
        owed = 1;
        return MPI_SUCCESS;
    }
    if (program != GIVEN && active) {
        program = GIVEN;
        return MPI_SUCCESS;
    }
    program = GIVEN;
    return PMPI_Finalize();
}

void rmai_shmem_mpi_begin(void) { in_engine = 1; }

int rmai_shmem_mpi_end(const char *call, int running) {
    in_engine = 0;
    active = running;
    if (running || program != GIVEN || ended()) return RMA_SUCCESS;
    return PMPI_Finalize() == MPI_SUCCESS ? RMA_SUCCESS : rma_fail_(RMA_ERR_MPI, "%s: MPI_Finalize failed", call);
}

void rmai_shmem_mpi_at_exit(void) {
    if ((ours || owed) && !ended()) PMPI_Finalize();
}
