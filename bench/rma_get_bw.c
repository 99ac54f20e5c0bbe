/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_get_bw.c: bytes per second of gets. */
#include "bandwidth.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "get bandwidth",
        .help = "Bandwidth (1 MB is 10^6 bytes) of windows of gets by the first PE of a pair from one buffer of the "
                "second:\n" BANDWIDTH_HELP("Bandwidth (MB/s)", "rma_get", "MPI_Get"),
        .max_size = (size_t)4 << 20,
        .value = BENCH_MBPS,
    };
    return bench_bandwidth(argc, argv, &spec, BANDWIDTH_GET);
}
