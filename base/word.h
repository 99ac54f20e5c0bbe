/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses to words of memory that several PEs use: atomic operations by number, as requests in messages name them;
 * and, for the inlined calls, copies that store each word once and whole. */
#ifndef RMAI_WORD_H
#define RMAI_WORD_H

#include <stddef.h>
#include <stdint.h>

/* rmai_atomic applies an operation on integers (enum rma_atomic_op_) to the word of 4 or 8 bytes at `word`. Returns the
 * old value. For operations on floats and doubles there is rmai_stripes_atomic (update.h). */
uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond);

/* rma_move_ (rma_inline.h) copies within this process. In a copy of up to RMA_SHORT_MAX_ bytes, rma_move_ or
 * rma_move_short_ copies each aligned word for which another thread may wait; memcpy might store it twice. */

#endif
