/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock by which the library measures how long something takes. */
#ifndef RMAI_CLOCK_H
#define RMAI_CLOCK_H

#include <stdint.h>

/* rmai_wtime: seconds since some moment in the past, by CLOCK_MONOTONIC: the same moment for all processes of a machine
 * until it is started anew. Never goes back. Any thread, also where no runtime is running. */
double rmai_wtime(void);

/* rmai_clock_ticks: rmai_ticks (base/wait) by a call, which test/sim replaces: for decisions that a simulated run has
 * to repeat. */
uint64_t rmai_clock_ticks(void);

#endif
