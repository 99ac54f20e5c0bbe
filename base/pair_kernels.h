/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of a value and an index, and the operations that find a limit with its place. They continue enum rma_type and
 * enum rma_op, and only the libraries above this one use them (runtime/layered.h): rma.h does not have them.
 *
 * A pair is its value and then its index. It may lie anywhere: its alignment is 1. Accumulates update a whole pair
 * under the lock of the stripe in which it begins. A short and an int have a gap between them, which belongs to others:
 * RMA_OP_SET_ in place of RMA_OP_REPLACE leaves it as it is. */
#ifndef RMAI_PAIR_KERNELS_H
#define RMAI_PAIR_KERNELS_H

#include <stddef.h>

#include "rma.h"

/* Named by the value, if the index is an int, else by both. */
enum rma_pair_ {
    RMA_PAIR_SHORT_ = RMA_COMPLEXD + 1,
    RMA_PAIR_INT_,
    RMA_PAIR_LONG_,
    RMA_PAIR_FLOAT_,
    RMA_PAIR_DOUBLE_,
    RMA_PAIR_LDOUBLE_,
    RMA_PAIR_INT64S_,
    RMA_PAIR_FLOATS_,
    RMA_PAIR_DOUBLES_
};

/* The pair with the least or the greatest value; of equal values, with the least index. SET: the other pair. */
enum rma_pair_op_ { RMA_OP_MINLOC_ = RMA_OP_FETCH + 1, RMA_OP_MAXLOC_, RMA_OP_SET_ };

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
