/* SPDX-License-Identifier: BSD-3-Clause */
/* How count and count_windows have their operations counted: count.c says what is counted, and check-perf.sh reads the
 * counts. A file that includes this defines struct place, on which its operations work. */
#ifndef TEST_PERF_COUNTING_H
#define TEST_PERF_COUNTING_H

#include <stddef.h>
#include <stdio.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_STOP_INSTRUMENTATION  (void)0
#define CALLGRIND_DUMP_STATS_AT(text)   (void)(text)
#define NOT_COUNTED                     1
#endif

#define N 1024 /* a multiple of what repeats in the library: 64 notes of collectives, 8 bounce buffers */

struct place;

struct operation {
    int pes; /* of the job that makes it */
    void (*run)(const struct place *, long n);
    const char *name;
};

/* USE: the value is wanted, in a register or as the compiler likes. */
#define USE(value) __asm__ volatile("" : : "g"(value))

/* All that an operation reads is in registers or on the stack before the loop, as far as it fits; the empty asm makes
 * the compiler take memory for changed, as it is after anything else that a program does between two operations. */
#define OPERATION(NAME, ...)                                                                                           \
    static __attribute__((noinline)) void NAME(const struct place *at, long n) {                                       \
        const struct place p = *at;                                                                                    \
        (void)p;                                                                                                       \
        for (; n > 0; n--) {                                                                                           \
            __VA_ARGS__;                                                                                               \
            __asm__ volatile("" : : : "memory");                                                                       \
        }                                                                                                              \
    }

/* measure: first once over, so that all symbols are bound and all that grows has grown. A dump sets the counters to 0.
 */
static void measure(size_t i, const struct operation *o, const struct place *p) {
    char text[3][128];
    for (int turn = 0; turn < 3; turn++) snprintf(text[turn], sizeof text[turn], "%zu %d %d %s", i, N, turn, o->name);
    for (int turn = 0; turn < 3; turn++) {
        o->run(p, turn < 2 ? N : 2 * N);
        CALLGRIND_DUMP_STATS_AT(text[turn]);
    }
}

#endif
