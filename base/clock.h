/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock with which the library measures durations. */
#ifndef RMAI_CLOCK_H
#define RMAI_CLOCK_H

#include <stdint.h>

/* rmai_wtime: seconds since some moment in the past, by CLOCK_MONOTONIC: the same moment for all processes of a machine
 * until it reboots. Never goes back. Any thread may call, also before rma_init. */
double rmai_wtime(void);

/* rmai_clock_ticks reads a clock in a few nanoseconds. A million ticks take between a quarter of a millisecond and one:
 * the counter of an Arm may run with as little as 20 MHz, and is scaled by a power of 2 to between 1 and 2 GHz.
 * test/sim replaces the function, so that a simulated run repeats decisions that depend on it. */
uint64_t rmai_clock_ticks(void);

#endif
