/* SPDX-License-Identifier: BSD-3-Clause */
/* collective.h: the common part of the benchmarks of collectives over all PEs. */
#ifndef BENCH_COLLECTIVE_H
#define BENCH_COLLECTIVE_H

#include "bench.h"

enum collective {
    COLLECTIVE_BROADCAST,
    COLLECTIVE_FCOLLECT,
    COLLECTIVE_COLLECT,
    COLLECTIVE_ALLTOALL,
    COLLECTIVE_SUM, /* the reductions of longs */
    COLLECTIVE_MAX,
    COLLECTIVE_XOR,
    COLLECTIVE_INSCAN, /* the scans of them */
    COLLECTIVE_EXSCAN,
    COLLECTIVE_GATHER, /* those with a root */
    COLLECTIVE_SCATTER,
    COLLECTIVE_ROOT_SUM
};

/* The explanation of the columns in --help, after the benchmark's own text. */
#define COLLECTIVE_HELP(CALL, MPI_CALL, COPIES)                                                                        \
    "Call after call, as the slowest PE sees it:\n"                                                                    \
    "  Latency (us)  " CALL ", from and to symmetric memory\n"                                                         \
    "  copies (us)   " COPIES "\n"                                                                                     \
    "  MPI (us)      " MPI_CALL ", from and to ordinary memory\n"
#define COLLECTIVE_COPIES                                                                                              \
    "memcpy of what goes to a PE's dest from where it comes from, nobody waiting for anybody: the least that\n"        \
    "                each PE has to do. Off-node its own source in place of others'"
#define COLLECTIVE_LOOP                                                                                                \
    "one loop dest[i] = a[i] + b[i] over a PE's own source and the next one's, nobody waiting for anybody;\n"          \
    "                PEs that share the work can undercut it"

/* bench_collective: main, from bench_init to bench_finish, of a benchmark of one collective, or of several that -o
 * selects: words such as "sum|max" name `first` and those after it; null: only `first`. Uses the spec's title and
 * help. */
int bench_collective(int argc, char **argv, const struct bench_spec *spec, enum collective first, const char *words);

#endif
