/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_collect.c: the time of a gather by all PEs, of lengths that only their owners know. */
#include "collective.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "collect latency",
        .help = "Time of the concatenation of what all PEs have, on all PEs, each knowing its own length "
                "only.\n" COLLECTIVE_HELP("rma_collect of equal lengths", "MPI_Allgatherv, which is told the lengths",
                                          COLLECTIVE_COPIES) "The size is in bytes and of what each PE contributes.",
    };
    return bench_collective(argc, argv, &spec, COLLECTIVE_COLLECT, NULL);
}
