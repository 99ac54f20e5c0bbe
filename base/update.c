/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/update.h"
#include "base/attributes.h"
#include "base/kernels.h"
#include "base/word.h"

#include <assert.h>
#include <string.h>

#define STRIPE ((size_t)1 << RMA_STRIPE_BITS_)

/* ---- stripes ---- */

void rmai_stripes_wait(const struct rmai_stripes *s, uint32_t *stripe) {
    rmai_lock((struct rmai_lock *)(void *)stripe, s->me, s->dead, s->context);
}

static void take_stripe(const struct rmai_stripes *s, uint32_t *stripe) {
    if (RMAI_UNLIKELY(!rma_stripe_try_(stripe, s->me))) rmai_stripes_wait(s, stripe);
}

static uint32_t *lock_stripe(const struct rmai_stripes *s, uint64_t position) {
    uint32_t *stripe = rma_stripe_(s->locks, position);
    take_stripe(s, stripe);
    return stripe;
}

uint64_t rmai_stripes_atomic(const struct rmai_stripes *s, uint64_t position, int op, void *word, size_t len,
                             uint64_t value, uint64_t cond) {
    uint32_t *stripe;
    uint64_t old;
    if (op < RMA_FETCH_FADD_ && len >= 4) return rmai_atomic(op, word, len, value, cond);
    stripe = lock_stripe(s, position);
    if (RMAI_UNLIKELY(len < 4)) {
        assert(op == RMA_COMPARE_SWAP_ && "the only atomic on elements of 1 and 2 bytes");
        old = rmai_word_load(word, len);
        if (old == cond) rmai_word_store(word, value, len);
    } else {
        old = len == 4 ? rma_apply_striped4_(op, word, value, cond) : rma_apply_striped8_(op, word, value, cond);
    }
    rma_stripe_unlock_(stripe);
    return old;
}

/* ---- elements that instructions update ---- */

/* Sources and results may lie anywhere in a message. */
#define EACH(T, OLD)                                                                                                   \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        T v = 0, old;                                                                                                  \
        if (source) memcpy(&v, (const char *)source + i * sizeof v, sizeof v);                                         \
        OLD;                                                                                                           \
        if (fetch) memcpy((char *)fetch + i * sizeof old, &old, sizeof old);                                           \
    }
#define BY(FUNCTION) (old = FUNCTION(&word[i], v, __ATOMIC_RELAXED))
#define LOOP(T, NEW)                                                                                                   \
    EACH(T, old = __atomic_load_n(&word[i], __ATOMIC_RELAXED);                                                         \
         while (!__atomic_compare_exchange_n(&word[i], &old, (NEW), 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue)

/* Without results the compiler uses the instructions that return none. */
#define PLAIN(T, FUNCTION)                                                                                             \
    if (fetch) {                                                                                                       \
        EACH(T, BY(FUNCTION))                                                                                          \
    } else {                                                                                                           \
        for (size_t i = 0; i < n; i++) {                                                                               \
            T v;                                                                                                       \
            memcpy(&v, (const char *)source + i * sizeof v, sizeof v);                                                 \
            (void)FUNCTION(&word[i], v, __ATOMIC_RELAXED);                                                             \
        }                                                                                                              \
    }

/* The loop of an order of numbers, WINS: < or >. */
#define LIMIT(T, SIGNED, WINS)                                                                                         \
    if (is_signed) {                                                                                                   \
        LOOP(T, (SIGNED)v WINS(SIGNED) old ? v : old)                                                                  \
    } else {                                                                                                           \
        LOOP(T, v WINS old ? v : old)                                                                                  \
    }

#define WORDS(NAME, T, SIGNED)                                                                                         \
    static void update_##NAME(enum rma_op op, int is_signed, T *word, const void *source, void *fetch, size_t n) {     \
        switch (op) {                                                                                                  \
            case RMA_OP_SUM: PLAIN(T, __atomic_fetch_add) break;                                                       \
            case RMA_OP_AND: PLAIN(T, __atomic_fetch_and) break;                                                       \
            case RMA_OP_OR: PLAIN(T, __atomic_fetch_or) break;                                                         \
            case RMA_OP_XOR: PLAIN(T, __atomic_fetch_xor) break;                                                       \
            case RMA_OP_REPLACE: EACH(T, BY(__atomic_exchange_n)) break;                                               \
            case RMA_OP_PROD: LOOP(T, old *v) break;                                                                   \
            case RMA_OP_MIN: LIMIT(T, SIGNED, <) break;                                                                \
            case RMA_OP_MAX: LIMIT(T, SIGNED, >) break;                                                                \
            case RMA_OP_LAND: LOOP(T, (T)(old && v)) break;                                                            \
            case RMA_OP_LOR: LOOP(T, (T)(old || v)) break;                                                             \
            case RMA_OP_LXOR: LOOP(T, (T)(!old != !v)) break;                                                          \
            case RMA_OP_FETCH: EACH(T, old = __atomic_load_n(&word[i], __ATOMIC_RELAXED)) break;                       \
        }                                                                                                              \
    }
WORDS(words4, rma_word4_, int32_t)
WORDS(words8, rma_word8_, int64_t)

/* ---- elements that stripes protect ---- */

static inline void update_in_stripe(enum rma_op op, enum rma_type type, char *there, const char *source, char *fetch,
                                    size_t n) {
    const size_t len = n * rmai_type_size(type);
    if (fetch) rma_move_(fetch, there, len);
    if (op == RMA_OP_REPLACE)
        rma_move_(there, source, len);
    else if (op != RMA_OP_FETCH)
        rmai_kernel(op, type)->accumulate(there, source, n);
}

/* If the results replace the operands, these are kept elsewhere meanwhile. */
static __attribute__((noinline)) void update_in_place(enum rma_op op, enum rma_type type, char *there, char *both,
                                                      size_t n) {
    _Alignas(16) char operands[STRIPE];
    memcpy(operands, both, n * rmai_type_size(type));
    update_in_stripe(op, type, there, operands, both, n);
}

/* Updates n elements that begin in one stripe. */
static inline void update_one_stripe(const struct rmai_stripes *s, uint64_t position, enum rma_op op,
                                     enum rma_type type, char *there, const char *source, char *fetch, size_t n) {
    uint32_t *stripe = lock_stripe(s, position);
    if (RMAI_UNLIKELY(fetch && fetch == source))
        update_in_place(op, type, there, fetch, n);
    else
        update_in_stripe(op, type, there, source, fetch, n);
    rma_stripe_unlock_(stripe);
}

/* An element belongs to the stripe in which it begins. Only in attached memory does one lie in two, or if it is a pair,
 * which is not aligned. */
static __attribute__((noinline)) void update_stripes(const struct rmai_stripes *s, uint64_t position, enum rma_op op,
                                                     enum rma_type type, char *there, const char *source, char *fetch,
                                                     size_t n) {
    const size_t size = rmai_type_size(type);
    while (n > 0) {
        const size_t room = STRIPE - (size_t)(position & (STRIPE - 1)),
                     fit = rmai_min((room + size - 1) / size, STRIPE / size), now = rmai_min(fit, n), len = now * size;
        update_one_stripe(s, position, op, type, there, source, fetch, now);
        position += len;
        there += len;
        if (source) source += len;
        if (fetch) fetch += len;
        n -= now;
    }
}

/* A few elements, which programs may take for one (a pair of pointers), in two stripes: under both locks, which are
 * taken in the order of their addresses. */
static RMAI_COLD void update_two_stripes(const struct rmai_stripes *s, uint64_t position, enum rma_op op,
                                         enum rma_type type, char *there, const char *source, char *fetch, size_t n) {
    uint32_t *const begin = rma_stripe_(s->locks, position), *const end = rma_stripe_(
                                                                 s->locks, position + n * rmai_type_size(type) - 1);
    uint32_t *const low = begin < end ? begin : end, *const high = begin < end ? end : begin;
    take_stripe(s, low);
    if (high != low) take_stripe(s, high);
    if (fetch && fetch == source)
        update_in_place(op, type, there, fetch, n);
    else
        update_in_stripe(op, type, there, source, fetch, n);
    if (high != low) rma_stripe_unlock_(high);
    rma_stripe_unlock_(low);
}

/* Two words that programs take for one, such as a pair of pointers, are replaced or read whole. Returns 1 if these
 * are. */
static inline int move_pair_of_words(enum rma_op op, char *there, const char *source, char *fetch, size_t len) {
    if (RMAI_LIKELY(len != 16 || op < RMA_OP_REPLACE || (op == RMA_OP_REPLACE && fetch))) return 0;
    rma_move_(op == RMA_OP_FETCH ? fetch : there, op == RMA_OP_FETCH ? there : source, len);
    return 1;
}

void rmai_update(const struct rmai_stripes *s, uint64_t position, enum rma_op op, enum rma_type type, void *there,
                 const void *source, void *fetch, size_t n) {
    switch (type) {
        case RMA_INT32:
        case RMA_UINT32:
            if (!move_pair_of_words(op, there, source, fetch, n * 4))
                update_words4(op, type == RMA_INT32, there, source, fetch, n);
            break;
        case RMA_INT64:
        case RMA_UINT64:
            if (!move_pair_of_words(op, there, source, fetch, n * 8))
                update_words8(op, type == RMA_INT64, there, source, fetch, n);
            break;
        default:
            if (RMAI_LIKELY(n * rmai_type_size(type) <= STRIPE - (position & (STRIPE - 1))))
                update_one_stripe(s, position, op, type, there, source, fetch, n);
            else if (n * rmai_type_size(type) <= 16)
                update_two_stripes(s, position, op, type, there, source, fetch, n);
            else
                update_stripes(s, position, op, type, there, source, fetch, n);
    }
}
