/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_scan.c: the time of a scan of longs over all PEs. */
#include "collective.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "scan latency",
        .help = "Time of the sums of longs of the PEs up to each one, with its own (inscan) and without "
                "(exscan).\n" COLLECTIVE_HELP("rma_sum_inscan or rma_sum_exscan", "MPI_Scan or MPI_Exscan of MPI_LONG",
                                              COLLECTIVE_LOOP) "The size is in bytes and of what each PE contributes.",
    };
    return bench_collective(argc, argv, &spec, COLLECTIVE_INSCAN, "inscan|exscan");
}
