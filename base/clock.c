/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/clock.h"

#include <time.h>

double rmai_wtime(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t rmai_clock_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks, hertz;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz)); /* always the same */
    const int leading = __builtin_clz((uint32_t)hertz | 1);
    return ticks << (leading > 1 ? leading - 1 : 0);
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}
