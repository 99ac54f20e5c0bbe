/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic words: the atomic subroutines. For words on this node the processor's instructions, which librma uses as well;
 * for words of other nodes librma's calls. */
#include "config.h"

#include "interfaces/caf/lock.h"

#define NEAR4 (__extension__(uint32_t *)(void *) at->near)
#define NEAR8 (__extension__(uint64_t *)(void *) at->near)

/* An atomic that fetches nothing is under way to the image on `pe`. */
static void note_update(int pe) {
    rmai_caf.updated = rmai_caf.updated == 0 || rmai_caf.updated == 1 + pe ? 1 + pe : RMAI_CAF_MANY;
}

uint64_t rmai_caf_word_fetch(const struct rmai_caf_place *at, size_t len) {
    if (!at->near) return len == 4 ? rma_gptr_atomic_fetch_uint32(at->far) : rma_gptr_atomic_fetch_uint64(at->far);
    return len == 4 ? __atomic_load_n(NEAR4, __ATOMIC_ACQUIRE) : __atomic_load_n(NEAR8, __ATOMIC_ACQUIRE);
}

void rmai_caf_word_set(const struct rmai_caf_place *at, size_t len, uint64_t value) {
    if (!at->near) {
        note_update(at->pe);
        if (len == 4)
            rma_gptr_atomic_set_uint32(at->far, (uint32_t)value);
        else
            rma_gptr_atomic_set_uint64(at->far, value);
    } else if (len == 4) {
        __atomic_store_n(NEAR4, (uint32_t)value, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(NEAR8, value, __ATOMIC_RELEASE);
    }
}

uint64_t rmai_caf_word_cas_slow(const struct rmai_caf_place *at, size_t len, uint64_t cond, uint64_t value) {
    if (!at->near)
        return len == 4 ? rma_gptr_atomic_compare_swap_uint32(at->far, (uint32_t)cond, (uint32_t)value)
                        : rma_gptr_atomic_compare_swap_uint64(at->far, cond, value);
    uint32_t old = (uint32_t)cond; /* those of 8 bytes are inlined */
    __atomic_compare_exchange_n(NEAR4, &old, (uint32_t)value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return old;
}

#define OPERATE(NAME, BITS)                                                                                            \
    (at->near ? __atomic_fetch_##NAME(near, (uint##BITS##_t)value, __ATOMIC_ACQ_REL)                                   \
     : fetch  ? rma_gptr_atomic_fetch_##NAME##_uint##BITS(at->far, (uint##BITS##_t)value)                              \
              : (uint64_t)rma_gptr_atomic_##NAME##_uint##BITS(at->far, (uint##BITS##_t)value))

#define OPERATIONS(BITS)                                                                                               \
    switch (op) {                                                                                                      \
        case RMAI_CAF_OP_ADD: return OPERATE(add, BITS);                                                               \
        case RMAI_CAF_OP_AND: return OPERATE(and, BITS);                                                               \
        case RMAI_CAF_OP_OR: return OPERATE(or, BITS);                                                                 \
        default: return OPERATE(xor, BITS);                                                                            \
    }

static uint64_t operate4(const struct rmai_caf_place *at, int op, uint64_t value, int fetch) {
    uint32_t *near = NEAR4;
    OPERATIONS(32)
}

static uint64_t operate8(const struct rmai_caf_place *at, int op, uint64_t value, int fetch) {
    uint64_t *near = NEAR8;
    OPERATIONS(64)
}

uint64_t rmai_caf_word_op(const struct rmai_caf_place *at, size_t len, int op, uint64_t value, int fetch) {
    if (!at->near && !fetch) note_update(at->pe);
    return len == 4 ? operate4(at, op, value, fetch) : operate8(at, op, value, fetch);
}
