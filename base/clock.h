/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock with which the library measures durations. */
#ifndef RMAI_CLOCK_H
#define RMAI_CLOCK_H

#include <stdint.h>

/* rmai_wtime: seconds since some moment in the past, by CLOCK_MONOTONIC: the same moment for all processes of a machine
 * until it reboots. Never goes back. Any thread may call, also before rma_init. */
double rmai_wtime(void);

/* rmai_clock_ticks: rmai_ticks (base/wait) as a function, which test/sim replaces: for decisions that a simulated run
 * must repeat. */
uint64_t rmai_clock_ticks(void);

#endif
