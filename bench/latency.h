/* SPDX-License-Identifier: BSD-3-Clause */
/* latency.h: the common part of the benchmarks of the latency of a put and of a get. */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "pair.h"

/* The columns in --help, after the benchmark's own text. */
#define LATENCY_HELP(CALL, GPTR_CALL, MPI_CALL)                                                                        \
    "  Latency (us)  " CALL "\n"                                                                                       \
    "  raw (us)      the same bytes by loads, stores or memcpy through rma_ptr; '-' off-node\n"                        \
    "  MPI (us)      " MPI_CALL ", MPI_Win_flush on an allocated window, the target waiting in MPI\n"                  \
    "Off-node the target waits in librma for the first column, and of MPI/rma 0.95 at least is asked.\n"               \
    "The compiler knows lengths of 1, 2, 4 and 8 bytes, as in programs that move single values.\n"                     \
    "With --way the first column is " GPTR_CALL ", '-' if it does not go that way, and the last one\n" MPI_CALL        \
    " on memory attached to a window of MPI_Win_create_dynamic."

/* bench_latency: main. Uses the spec's title and help. */
int bench_latency(int argc, char **argv, const struct bench_spec *spec, bool get);

#endif
