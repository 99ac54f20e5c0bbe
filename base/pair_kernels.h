/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of accumulates on pairs of a value and an index (base/inner_types.h). */
#ifndef RMAI_PAIR_KERNELS_H
#define RMAI_PAIR_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Where the index begins, and the bytes of a pair. */
#define RMAI_INDEX_AT(VALUE, INDEX)  (sizeof(VALUE) < _Alignof(INDEX) ? _Alignof(INDEX) : sizeof(VALUE))
#define RMAI_PAIR_SIZE(VALUE, INDEX) (RMAI_INDEX_AT(VALUE, INDEX) + sizeof(INDEX))

#define RMAI_PAIRS(X)                                                                                                  \
    X(SHORT, short, int)                                                                                               \
    X(INT, int, int)                                                                                                   \
    X(LONG, long, int)                                                                                                 \
    X(FLOAT, float, int)                                                                                               \
    X(DOUBLE, double, int)                                                                                             \
    X(LDOUBLE, long double, int)                                                                                       \
    X(INT64S, int64_t, int64_t)                                                                                        \
    X(FLOATS, float, float)                                                                                            \
    X(DOUBLES, double, double)

/* rmai_minloc_SHORT and so on: there[i] = there[i] OP mine[i] for n pairs. */
#define RMAI_DECLARE_PAIR(NAME, VALUE, INDEX)                                                                          \
    void rmai_minloc_##NAME(void *there, const void *mine, size_t n);                                                  \
    void rmai_maxloc_##NAME(void *there, const void *mine, size_t n);                                                  \
    void rmai_set_##NAME(void *there, const void *mine, size_t n);
RMAI_PAIRS(RMAI_DECLARE_PAIR)

#endif
