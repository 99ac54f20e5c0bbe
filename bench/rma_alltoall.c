/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_alltoall.c: the time of an exchange of blocks between all PEs. */
#include "collective.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "alltoall latency",
        .help = "Time of an exchange in which each PE has a block for each.\n" COLLECTIVE_HELP(
            "rma_alltoall", "MPI_Alltoall", COLLECTIVE_COPIES) "The size is in bytes and of one block.",
    };
    return bench_collective(argc, argv, &spec, COLLECTIVE_ALLTOALL, NULL);
}
