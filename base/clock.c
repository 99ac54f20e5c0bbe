/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/clock.h"
#include "base/wait.h"

#include <time.h>

double rmai_wtime(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t rmai_clock_ticks(void) { return rmai_ticks(); }
