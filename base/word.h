/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses to words of memory that several PEs use: atomic operations by their number (enum rma_atomic_op_), by which
 * requests in messages name them; and, for the inlined calls, short copies that store each word once and whole. */
#ifndef RMAI_WORD_H
#define RMAI_WORD_H

#include <stddef.h>
#include <stdint.h>

/* rmai_atomic applies an operation on integers (enum rma_atomic_op_) to the word of 4 or 8 bytes at `word`. Returns the
 * old value. For operations on floats and doubles there is rmai_stripes_atomic (update.h). */
uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond);

/* base/word.c also has rma_move_short_, which rma_inline.h declares and explains ("Copies"). */

#endif
