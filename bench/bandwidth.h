/* SPDX-License-Identifier: BSD-3-Clause */
/* bandwidth.h: the common part of the benchmarks of bandwidth and message rate. */
#ifndef BENCH_BANDWIDTH_H
#define BENCH_BANDWIDTH_H

#include "pair.h"

enum bandwidth_direction {
    BANDWIDTH_PUT, /* the origin puts to its target */
    BANDWIDTH_GET, /* the origin gets from its target */
    BANDWIDTH_BOTH /* both put, each to the other */
};

/* The explanation of the columns in --help, after the benchmark's own text. FIGURE is the first column's title, 16
 * characters.
 */
#define BANDWIDTH_HELP(FIGURE, CALL, MPI_CALL)                                                                         \
    "  " FIGURE "  " CALL " ..., one rma_quiet; with --nbi the nonblocking one\n"                                      \
    "  raw               memcpy through rma_ptr; '-' off-node\n"                                                       \
    "  stream            the same by stores that go past the caches; '-' off-node and without SSE2\n"                  \
    "  MPI               " MPI_CALL " ..., MPI_Win_flush, the target waiting in MPI\n"                                 \
    "rma/raw divides by the better of the two that are bare. With several pairs their figures are added up.\n"         \
    "As in the OSU benchmarks the target never looks at the bytes, which stay in the caches of whoever copies: the "   \
    "best case.\n"                                                                                                     \
    "With --handover it touches the buffer before each iteration, as programs do that use what they are sent."

/* bench_bandwidth: main. Uses the spec's title, help, sizes and value. */
int bench_bandwidth(int argc, char **argv, const struct bench_spec *spec, enum bandwidth_direction direction);

#endif
