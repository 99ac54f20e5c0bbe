/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with words and bytes of memory that several PEs use: atomic operations by their number, for whoever has
 * got the number in a message, and copies in which a word moves whole. */
#ifndef RMAI_WORD_H
#define RMAI_WORD_H

#include <stddef.h>
#include <stdint.h>

/* rmai_atomic does an operation (enum rma_atomic_op_) on the word of 4 or 8 bytes at `word`. Returns the old value. */
uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond);

/* rmai_move copies within this process; a naturally aligned value of up to 8 bytes moves whole, as on the inlined path.
 */
void rmai_move(void *to, const void *from, size_t len);

#endif
