/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_put_latency.c: the time of a put and its completion, one after the other. */
#include "latency.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "put latency",
        .help = "Time of a put with its completion, from the first PE of a pair to the second:\n" LATENCY_HELP(
            "rma_put, rma_quiet", "rma_gptr_put, rma_quiet", "MPI_Put"),
    };
    return bench_latency(argc, argv, &spec, false);
}
