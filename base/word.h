/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses to words that several PEs use: atomic operations by their number, and copies that store each word once. The
 * number (enum rma_atomic_op_) names the operation in messages; the copies are short ones, for the inlined calls. */
#ifndef RMAI_WORD_H
#define RMAI_WORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rma.h"

/* rmai_atomic applies an operation on integers (enum rma_atomic_op_) to the word of 4 or 8 bytes at `word`. Returns the
 * old value. For operations on floats and doubles there is rmai_stripes_atomic (update.h). */
uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond);

/* rmai_op_compares: 1 if an operation is a compare-and-swap, which has two operands. */
static inline int rmai_op_compares(int op) { return (op & ~RMA_STRIPED_) == RMA_COMPARE_SWAP_; }

/* rmai_word_load returns the value of 1, 2, 4 or 8 bytes anywhere in memory; rmai_word_store writes it. */
static inline uint64_t rmai_word_load(const void *from, size_t len) {
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (len) {
        case 1: memcpy(&one, from, sizeof one); return one;
        case 2: memcpy(&two, from, sizeof two); return two;
        case 4: memcpy(&four, from, sizeof four); return four;
        default: memcpy(&eight, from, sizeof eight); return eight;
    }
}

static inline void rmai_word_store(void *to, uint64_t value, size_t len) {
    const uint8_t one = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    switch (len) {
        case 1: memcpy(to, &one, sizeof one); break;
        case 2: memcpy(to, &two, sizeof two); break;
        case 4: memcpy(to, &four, sizeof four); break;
        default: memcpy(to, &value, sizeof value);
    }
}

/* base/word.c also has rma_move_short_ and rma_move_long_, which rma_inline.h declares and explains ("Copies"). */

#endif
