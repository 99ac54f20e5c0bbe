/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of the detector in programs of MPI windows: MPI, whose ranks in MPI_COMM_WORLD are the PEs. Here are also
 * the calls that begin and end MPI. */
#include "config.h"

#include "instruments/race/host.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/race/job.h"
#include "instruments/race/mpi_calls.h"
#include "instruments/race/mpi_comms.h"
#include "instruments/race/mpi_report.h"

const char *const race_host_calls[] = {"MPI_Win_fence", NULL};
const char race_host_remedy[] = "link it with rma_mpicc --race, and name no library of MPI, or start it with rma_mpi";

int race_host_is_up(void) {
    int begun = 0, ended = 0;
    return PMPI_Initialized(&begun) == MPI_SUCCESS && begun && PMPI_Finalized(&ended) == MPI_SUCCESS && !ended;
}

int race_host_pe(void) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int race_host_describe(void) {
    race_job.my_pe = race_host_pe();
    PMPI_Comm_size(MPI_COMM_WORLD, &race_job.n_pes);
    race_job.node_n_pes = race_job.n_pes; /* all are on this host, or there is no shared memory */
    race_job.node_pes = calloc((size_t)race_job.n_pes, sizeof *race_job.node_pes);
    race_job.space_of = calloc((size_t)race_job.n_pes, sizeof *race_job.space_of);
    race_job.wording = &race_mpi_wording;
    if (!race_job.node_pes || !race_job.space_of) return -1;
    for (int q = 0; q < race_job.n_pes; q++) race_job.node_pes[q] = q;
    return 0;
}

/* Global variables are private memory, as long as no window has them. */
void race_host_second(void) { race_job.statics_len = 0; }

void race_host_limits(size_t map_most) {
    const size_t room = map_most / sizeof(struct race_cell) * 8 / (RACE_ARENA * (size_t)race_job.n_pes);
    race_job.arenas = room < RACE_ARENAS_MOST ? (uint32_t)room : RACE_ARENAS_MOST;
    race_job.clocks += RACE_ROOM_OF_WINDOWS;
    if (race_job.clocks > RACE_ACTORS_MOST) race_job.clocks = RACE_ACTORS_MOST;
}

/* Where the address space is limited (ulimit -v), some arenas may have room. */
#define ARENAS_LEAST 4
int race_host_share_less(void) {
    if (race_job.arenas <= ARENAS_LEAST) return 0;
    race_job.arenas = ARENAS_LEAST;
    return 1;
}

int race_host_covers_hosts(void) { return 0; }

/* MPI has no place for it: a process without the detector would not take part in its first collective call. */
void race_host_announce(void) {}
int race_host_meet(void) { return 1; }

/* MPICH from 4.2 on leaves the end to its launcher, and PMPI_Abort returns. */
void race_host_abort(void) {
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    exit(EXIT_FAILURE);
}

int race_host_broadcast(void *data, size_t len) {
    return PMPI_Bcast(data, (int)len, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS ? 0 : -1;
}

int race_host_least(int *values, int n) {
    return PMPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS ? 0 : -1;
}

void race_host_barrier(void) { PMPI_Barrier(MPI_COMM_WORLD); }

/* ---- the calls ---- */

API int MPI_Init(int *argc, char ***argv) {
    RACE_NEXT(MPI_Init);
    int result;
    RACE_FORWARD(result = next(argc, argv));
    if (result == MPI_SUCCESS && !race_inside) race_open();
    return result;
}

API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    RACE_NEXT(MPI_Init_thread);
    int result;
    RACE_FORWARD(result = next(argc, argv, required, provided));
    if (result == MPI_SUCCESS && !race_inside) race_open();
    return result;
}

API int MPI_Finalize(void) {
    RACE_NEXT(MPI_Finalize);
    int result;
    if (!race_inside) race_close();
    RACE_FORWARD(result = next());
    return result;
}
