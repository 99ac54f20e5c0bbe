/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_rooted.c: the time of a collective whose data go to one PE, or come from it. */
#include "collective.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "gather, scatter, rooted sum latency",
        .help = "Time of a gather to PE 0, a scatter from it, or a sum of longs that PE 0 gets.\n" COLLECTIVE_HELP(
            "rma_gather, rma_scatter or rma_sum_reduce_root", "MPI_Gather, MPI_Scatter or MPI_Reduce of MPI_LONG",
            COLLECTIVE_COPIES) "                For a sum: one loop of PE 0 over its own source and the next one's\n"
                               "The size is in bytes and of one PE's block.",
    };
    return bench_collective(argc, argv, &spec, COLLECTIVE_GATHER, "gather|scatter|sum");
}
