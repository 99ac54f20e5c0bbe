/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiler attributes, and sizes on which all layers agree. */
#ifndef RMAI_ATTRIBUTES_H
#define RMAI_ATTRIBUTES_H

#include <stddef.h>
#include <stdint.h>

#define RMAI_PRINTF(at, first) __attribute__((format(printf, at, first)))
#define RMAI_COLD              __attribute__((cold, noinline))
#define RMAI_LIKELY(x)         ((int)__builtin_expect(!!(x), 1))
#define RMAI_UNLIKELY(x)       ((int)__builtin_expect(!!(x), 0))

/* The distance between words that different PEs write: two cache lines, since common processors prefetch lines in
 * pairs. */
#define RMAI_APART 128

/* The unit of commit and of alignment between the parts of a reservation. Every page size that Linux has on
 * 64-bit machines (4, 16, 64 KiB) divides it. */
#define RMAI_PAGE ((size_t)65536)

/* The alignment of heaps: the huge page of most machines. If the reservation is also aligned to it, blocks can have
 * huge pages. */
#define RMAI_HEAP_ALIGNMENT ((size_t)2 << 20)

static inline size_t rmai_round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }
static inline size_t rmai_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t rmai_max(size_t a, size_t b) { return a > b ? a : b; }

/* rmai_find: the index of value among n ascending numbers, or -1. */
static inline int rmai_find(const int *ascending, int n, int value) {
    int low = 0, high = n - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (ascending[middle] == value) return middle;
        if (ascending[middle] < value)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

#endif
