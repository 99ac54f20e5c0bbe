/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and operations of accumulates beyond those of rma.h (they continue enum rma_type and enum rma_op). Only the
 * libraries above this one use them (runtime/interfaces.h): rma.h does not have them. */
#ifndef RMAI_INNER_TYPES_H
#define RMAI_INNER_TYPES_H

#include "rma.h"

/* Integers of 4 and 8 bytes that only accumulates of these types, and the operations from RMA_STRIPED_ on, update at
 * the same time: under the locks of their stripes, so that loops of vector instructions can add arrays of them. rma.h's
 * types are updated by one instruction for each element, since any atomic may come between. */
enum rma_striped_type_ {
    RMA_STRIPED_INT32_ = RMA_COMPLEXD + 1,
    RMA_STRIPED_INT64_,
    RMA_STRIPED_UINT32_,
    RMA_STRIPED_UINT64_
};

/* A pair is its value and then its index. It may lie anywhere: its alignment is 1. Accumulates update a whole pair
 * under the lock of the stripe in which it begins. A short and an int have a gap between them, which belongs to others:
 * RMA_OP_SET_ in place of RMA_OP_REPLACE leaves it as it is. Pairs are named by the value, if the index is an int, else
 * by both. */
enum rma_pair_ {
    RMA_PAIR_SHORT_ = RMA_STRIPED_UINT64_ + 1,
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

#endif
