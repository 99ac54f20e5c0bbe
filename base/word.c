/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/word.h"
#include "rma.h"

#include <assert.h>
#include <string.h>

/* An operation that writes releases, one that reads acquires: rma.h promises that, as for the inlined path. SIGNED and
 * REAL are the other types of words of this length. */
#define ATOMIC(TYPE, SIGNED, REAL)                                                                                     \
    static TYPE##_t atomic_##TYPE(int op, TYPE##_t *word, TYPE##_t value, TYPE##_t cond) {                             \
        REAL real;                                                                                                     \
        memcpy(&real, &value, sizeof real);                                                                            \
        switch (op) {                                                                                                  \
            case RMA_FETCH_: return __atomic_load_n(word, __ATOMIC_ACQUIRE);                                           \
            case RMA_SET_: __atomic_store_n(word, value, __ATOMIC_RELEASE); return 0;                                  \
            case RMA_SWAP_: return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);                                 \
            case RMA_COMPARE_SWAP_:                                                                                    \
                __atomic_compare_exchange_n(word, &cond, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                \
                return cond;                                                                                           \
            case RMA_FETCH_ADD_: return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);                             \
            case RMA_FETCH_AND_: return __atomic_fetch_and(word, value, __ATOMIC_ACQ_REL);                             \
            case RMA_FETCH_OR_: return __atomic_fetch_or(word, value, __ATOMIC_ACQ_REL);                               \
            case RMA_FETCH_XOR_: return __atomic_fetch_xor(word, value, __ATOMIC_ACQ_REL);                             \
            case RMA_FETCH_MIN_: return rma_do_min_##TYPE(word, value);                                                \
            case RMA_FETCH_MAX_: return rma_do_max_##TYPE(word, value);                                                \
            case RMA_FETCH_SMIN_: return (TYPE##_t)rma_do_min_##SIGNED((SIGNED##_t *)word, (SIGNED##_t)value);         \
            case RMA_FETCH_SMAX_: return (TYPE##_t)rma_do_max_##SIGNED((SIGNED##_t *)word, (SIGNED##_t)value);         \
            case RMA_FETCH_FADD_: return (TYPE##_t)rma_bits_##REAL(rma_do_add_##REAL((REAL *)word, real));             \
            case RMA_FETCH_FMIN_: return (TYPE##_t)rma_bits_##REAL(rma_do_min_##REAL((REAL *)word, real));             \
            case RMA_FETCH_FMAX_: return (TYPE##_t)rma_bits_##REAL(rma_do_max_##REAL((REAL *)word, real));             \
        }                                                                                                              \
        assert(0 && "an operation of enum rma_atomic_op_");                                                            \
        return 0;                                                                                                      \
    }

ATOMIC(uint32, int32, float)
ATOMIC(uint64, int64, double)

uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond) {
    if (len == 4) return atomic_uint32(op, word, (uint32_t)value, (uint32_t)cond);
    assert(len == 8 && "words have 4 or 8 bytes");
    return atomic_uint64(op, word, value, cond);
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
