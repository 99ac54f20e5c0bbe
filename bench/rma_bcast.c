/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_bcast.c: the time of a broadcast. */
#include "collective.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "broadcast latency",
        .help = "Time of a broadcast from PE 0 to all PEs.\n" COLLECTIVE_HELP(
            "rma_broadcast", "MPI_Bcast, of which the root copies nothing", COLLECTIVE_COPIES) "The size is in bytes.",
    };
    return bench_collective(argc, argv, &spec, COLLECTIVE_BROADCAST, NULL);
}
