/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that is read twice for each call: the processor's counter, if the kernel uses that too (and so trusts it to
 * run evenly on all processors), else the kernel's monotonic clock. */
#ifndef TRACE_TICKS_H
#define TRACE_TICKS_H

#include <stdint.h>
#include <time.h>

extern int trace_counter; /* 1: the processor's */

static inline int64_t trace_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline uint64_t trace_ticks(void) {
    if (__builtin_expect(trace_counter, 1)) {
#if defined __x86_64__
        return __builtin_ia32_rdtsc();
#elif defined __aarch64__
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
#endif
    }
    return (uint64_t)trace_ns();
}

#endif
