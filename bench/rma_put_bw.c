/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_put_bw.c: bytes per second of puts. */
#include "bandwidth.h"

int main(int argc, char **argv) {
    static const struct bench_spec spec = {
        .title = "put bandwidth",
        .help = "Bandwidth (1 MB is 10^6 bytes) of windows of puts from the first PE of a pair to one buffer of the "
                "second:\n" BANDWIDTH_HELP("Bandwidth (MB/s)", "rma_put", "MPI_Put"),
        .max_size = (size_t)4 << 20,
        .value = BENCH_MBPS,
    };
    return bench_bandwidth(argc, argv, &spec, BANDWIDTH_PUT);
}
