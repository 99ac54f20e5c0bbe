/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_reduce.c: the time of a reduction of longs to all PEs. */
#include "collective.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "reduction latency",
        .help = "Time of a reduction of longs, whose result all PEs get.\n" COLLECTIVE_HELP(
            "rma_sum_reduce, rma_max_reduce or rma_xor_reduce", "MPI_Allreduce of MPI_LONG",
            COLLECTIVE_LOOP) "The size is in bytes and of what each PE contributes.",
    };
    return bench_collective(argc, argv, &spec, COLLECTIVE_SUM, "sum|max|xor");
}
