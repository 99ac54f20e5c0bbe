/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/word.h"
#include "rma.h"

#include <assert.h>

uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond) {
    assert((len == 4 || len == 8) && "words have 4 or 8 bytes");
    assert(op >= RMA_FETCH_ && op <= RMA_FETCH_FMAX_ && "an operation of enum rma_atomic_op_");
    return rma_apply_(op, word, len, value, cond);
}

/* ---- copies ---- */

#define WHOLE(TYPE)                                                                                                    \
    if (len == sizeof(TYPE) && (uintptr_t)to % sizeof(TYPE) == 0 && (uintptr_t)from % sizeof(TYPE) == 0) {             \
        __atomic_store_n((TYPE *)to, __atomic_load_n((const TYPE *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);         \
        return;                                                                                                        \
    }

void rmai_move(void *to, const void *from, size_t len) {
    WHOLE(uint64_t)
    WHOLE(uint32_t)
    WHOLE(uint16_t)
    rma_move_(to, from, len);
}
