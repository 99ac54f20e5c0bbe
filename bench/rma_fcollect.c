/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_fcollect.c: the time of a gather by all PEs, of equal lengths. */
#include "collective.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "fcollect latency",
        .help = "Time of the concatenation of what all PEs have, on all PEs.\n" COLLECTIVE_HELP(
            "rma_fcollect", "MPI_Allgather", COLLECTIVE_COPIES) "The size is in bytes and of what each PE contributes.",
    };
    return bench_collective(argc, argv, &spec, COLLECTIVE_FCOLLECT, NULL);
}
