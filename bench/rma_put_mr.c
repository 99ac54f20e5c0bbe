/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_put_mr.c: puts per second. */
#include "bandwidth.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "put message rate",
        .help = "Millions of puts per second, in windows from the first PE of a pair to one buffer of the "
                "second:\n" BANDWIDTH_HELP("Rate (M/s)      ", "rma_put", "MPI_Put"),
        .max_size = 4096,
        .value = BENCH_RATE,
    };
    return bench_bandwidth(argc, argv, &spec, BANDWIDTH_PUT);
}
