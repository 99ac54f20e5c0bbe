/* SPDX-License-Identifier: BSD-3-Clause */
/* A symmetric allocation for which the heap has room meets all PEs once. One that makes the heap grow meets them twice,
 * and four times if MPI's window is made anew (what MPI itself exchanges in MPI_Win_create comes on top).
 *
 * Between two PEs on two nodes a meeting is one message of each PE, or one reduction of MPI's; this program counts both
 * as the library calls them. Broken by an agreement on something that an earlier one could have told. */
#include "job.h"

#include <mpi.h>

#define MIB ((size_t)1 << 20)

static int meetings;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    __atomic_add_fetch(&meetings, 1, __ATOMIC_RELAXED);
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
    __atomic_add_fetch(&meetings, 1, __ATOMIC_RELAXED);
    return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

#define MEETS(most, block, call)                                                                                       \
    do {                                                                                                               \
        OK(rma_barrier_all());                                                                                         \
        __atomic_store_n(&meetings, 0, __ATOMIC_RELAXED);                                                              \
        (block) = (call);                                                                                              \
        CHECK((block) != NULL, "%s", rma_last_error());                                                                \
        CHECK(meetings >= 1 && meetings <= (most), #call " meets %d times, not at most %d", meetings, most);           \
    } while (0)

/* Each block is larger than all before it, so there is no room for it. */
static void count(const char *window, int growing) {
    char *block[5];
    setenv("RMA_PROGRESS", "none", 1);
    setenv("RMA_WINDOW", window, 1);
    OK(rma_init());
    job_look();
    if (job.one_node || job_room() < 256 * MIB)
        job_skip("needs PEs on several nodes (RMA_NODE_PES=1), and 256 MiB of memory for each PE");
    MEETS(1, block[0], rma_malloc(1000));
    MEETS(growing, block[1], rma_malloc(8 * MIB));
    MEETS(growing, block[2], rma_calloc(2, 8 * MIB));
    MEETS(growing, block[3], rma_aligned_alloc(64 << 10, 32 * MIB));
    MEETS(1, block[4], rma_malloc(1000));
    for (int i = 0; i < 5; i++) OK(rma_free(block[i]));
    OK(rma_finalize());
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    job_begin();
    DOING("counting without a window");
    count("none", 2);
    DOING("counting with a window");
    count("static", 4);
    MPI_Finalize();
    return 0;
}
