/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock by which the library measures how long something takes. */
#ifndef RMAI_CLOCK_H
#define RMAI_CLOCK_H

/* rmai_wtime: seconds since some moment in the past, by CLOCK_MONOTONIC: the same moment for all processes of a machine
 * until it is started anew. Never goes back. Any thread, also where no runtime is running. */
double rmai_wtime(void);

#endif
