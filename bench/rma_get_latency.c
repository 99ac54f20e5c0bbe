/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_get_latency.c: the time of a get, one after the other. */
#include "latency.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "get latency",
        .help = "Time of a get, by the first PE of a pair from the second:\n" LATENCY_HELP("rma_get", "rma_gptr_get",
                                                                                           "MPI_Get"),
    };
    return bench_latency(argc, argv, &spec, true);
}
