/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations by their number: what this PE does for others, which have sent the number. */
#ifndef RMAI_WORD_H
#define RMAI_WORD_H

#include <stddef.h>
#include <stdint.h>

/* rmai_atomic does an operation (enum rma_atomic_op_) on the word of 4 or 8 bytes at `word`, and returns the old value.
 */
uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond);

#endif
