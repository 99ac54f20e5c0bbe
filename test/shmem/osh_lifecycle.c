/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM and MPI in one program: they begin and end in any order, and each works as long as it has not been ended;
 * OpenSHMEM may be initialized several times, nested and again after its end. The number of PEs selects the order.
 *
 * Broken by an MPI_Init that finds MPI initialized, by a shmem_finalize that ends the program's MPI, by an MPI_Finalize
 * that ends OpenSHMEM. */
#include "osh.h"

#include <mpi.h>

static long word;

static void use_shmem(int times) {
    int running = 0;
    shmem_query_initialized(&running);
    CHECK(running, "it is not running");
    look();
    for (int i = 0; i < times; i++) {
        word = 0;
        shmem_barrier_all();
        shmem_long_atomic_inc(&word, next());
        shmem_barrier_all();
        CHECK(word == 1, "%ld", word);
        shmem_barrier_all();
    }
}

static void use_mpi(void) {
    int one = 1, sum = 0, rank = -1;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == n, "MPI counts %d",
          sum);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(rank == me, "rank %d", rank);
}

static void over(void) {
    int running = 1;
    shmem_query_initialized(&running);
    CHECK(!running, "it is still running");
}

int main(int argc, char **argv) {
    const char *size = getenv("PMI_SIZE") ? getenv("PMI_SIZE") : getenv("OMPI_COMM_WORLD_SIZE");
    int provided = -1, finalized = 0;
    over();
    switch (size ? atoi(size) : 1) {
        case 1:
            DOING("OpenSHMEM around MPI");
            shmem_init();
            MPI_Init(&argc, &argv);
            use_shmem(2);
            use_mpi();
            MPI_Finalize();
            use_shmem(2);
            shmem_finalize();
            break;
        case 2:
            DOING("MPI around OpenSHMEM, which comes twice");
            MPI_Init(&argc, &argv);
            shmem_init();
            use_shmem(2);
            shmem_finalize();
            over();
            use_mpi();
            CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE,
                  "level %d", provided);
            use_shmem(2);
            shmem_finalize();
            use_mpi();
            MPI_Finalize();
            break;
        case 3:
            DOING("MPI first, and it ends first");
            MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
            CHECK(provided >= MPI_THREAD_SERIALIZED, "MPI's level is %d", provided);
            shmem_init();
            use_shmem(2);
            use_mpi();
            MPI_Finalize();
            use_shmem(2);
            shmem_finalize();
            break;
        case 4:
            DOING("OpenSHMEM first, and it ends first");
            shmem_init();
            shmem_init();
            use_shmem(1);
            MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
            CHECK(provided >= MPI_THREAD_FUNNELED, "MPI's level is %d", provided);
            use_mpi();
            shmem_finalize();
            use_shmem(2);
            shmem_finalize();
            over();
            use_mpi();
            MPI_Finalize();
            break;
        default:
            DOING("OpenSHMEM alone, three times");
            for (int i = 0; i < 3; i++) {
                long *block;
                shmem_init();
                use_shmem(2);
                block = shmem_calloc(100, sizeof *block);
                CHECK(block && block[99] == 0, "no memory");
                shmem_p(&block[1], 5L + i, next());
                shmem_barrier_all();
                CHECK(block[1] == 5 + i, "%ld", block[1]);
                shmem_finalize();
                over();
            }
            MPI_Finalized(&finalized);
            CHECK(!finalized, "it has ended MPI, and cannot come again");
            return 0;
    }
    MPI_Finalized(&finalized);
    CHECK(finalized, "MPI has not ended");
    return 0;
}
