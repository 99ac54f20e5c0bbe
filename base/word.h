/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with words of memory that several PEs use: atomic operations by their number, for whoever has got the
 * number in a message; and, for the inlined calls, copies in which a word is stored once and whole. */
#ifndef RMAI_WORD_H
#define RMAI_WORD_H

#include <stddef.h>
#include <stdint.h>

/* rmai_atomic does an operation (enum rma_atomic_op_) on the word of 4 or 8 bytes at `word`. Returns the old value. */
uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond);

/* rma_move_ (rma_inline.h) copies within this process. An aligned word that another thread may wait for, in a copy of
 * up to RMA_SHORT_MAX_ bytes, is copied by it or by rma_move_short_, and not by a memcpy that may store it twice. */

#endif
