/* SPDX-License-Identifier: BSD-3-Clause */
/* Each loop is compiled by itself, with -O3 and the promise that its arrays do not overlap. gcc and clang then
 * vectorise all loops but those of long double and of complex products (-fopt-info-vec, -Rpass=loop-vectorize;
 * tools/check verifies it). On x86-64 gcc makes each loop twice, for every processor and for those with AVX2; the
 * dynamic linker chooses. Integers are added and multiplied as unsigned numbers, since they wrap around. */
#include "config.h"

#include "collectives/kernels.h"

#include <complex.h>
#include <stdint.h>

/* No fused multiply-add. With it a complex product would depend on the order of its factors and on the loop that
 * computes it: the compiler may fuse in one loop and not in another, so results would depend on whether data pass
 * through bounce buffers. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3", "fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

/* Not with sanitizers: the resolver would call their runtime before it is set up. Not with clang: version 14 exports
 * the resolvers. */
#if defined __x86_64__ && defined HAVE_TARGET_CLONES && !defined __clang__ && !defined __SANITIZE_ADDRESS__ &&         \
    !defined __SANITIZE_THREAD__
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#define AND(T, a, b)          (T)((a) & (b))
#define OR(T, a, b)           (T)((a) | (b))
#define XOR(T, a, b)          (T)((a) ^ (b))
#define MIN(T, a, b)          ((b) < (a) ? (b) : (a))
#define MAX(T, a, b)          ((b) > (a) ? (b) : (a))
#define WRAPPED_SUM(T, a, b)  (T)((a) + (b))
#define WRAPPED_PROD(T, a, b) (T)(1u * (a) * (b)) /* 1u: short types would become int, and overflow */
#define SUM(T, a, b)          ((a) + (b))
#define PROD(T, a, b)         ((a) * (b))

#define KERNEL(NAME, T, DO)                                                                                            \
    WIDE static void combine_##NAME(void *dest, const void *a, const void *b, size_t n) {                              \
        T *restrict d = dest;                                                                                          \
        const T *restrict x = a, *restrict y = b;                                                                      \
        for (size_t i = 0; i < n; i++) d[i] = DO(T, x[i], y[i]);                                                       \
    }                                                                                                                  \
    WIDE static void accumulate_##NAME(void *dest, const void *b, size_t n) {                                          \
        T *restrict d = dest;                                                                                          \
        const T *restrict y = b;                                                                                       \
        for (size_t i = 0; i < n; i++) d[i] = DO(T, d[i], y[i]);                                                       \
    }

#define BITS(NAME, T)                                                                                                  \
    KERNEL(and_##NAME, T, AND)                                                                                         \
    KERNEL(or_##NAME, T, OR)                                                                                           \
    KERNEL(xor_##NAME, T, XOR)                                                                                         \
    KERNEL(sum_##NAME, T, WRAPPED_SUM)                                                                                 \
    KERNEL(prod_##NAME, T, WRAPPED_PROD)
#define LIMITS(NAME, T)                                                                                                \
    KERNEL(min_##NAME, T, MIN)                                                                                         \
    KERNEL(max_##NAME, T, MAX)
#define SUMS(NAME, T)                                                                                                  \
    KERNEL(sum_##NAME, T, SUM)                                                                                         \
    KERNEL(prod_##NAME, T, PROD)

BITS(8, uint8_t)
BITS(16, uint16_t)
BITS(32, uint32_t)
BITS(64, uint64_t)
LIMITS(i8, int8_t)
LIMITS(i16, int16_t)
LIMITS(i32, int32_t)
LIMITS(i64, int64_t)
LIMITS(u8, uint8_t)
LIMITS(u16, uint16_t)
LIMITS(u32, uint32_t)
LIMITS(u64, uint64_t)
LIMITS(float, float)
LIMITS(double, double)
LIMITS(ldouble, long double)
SUMS(float, float)
SUMS(double, double)
SUMS(ldouble, long double)
SUMS(complexf, float complex)
SUMS(complexd, double complex)

#define OF(NAME)                                                                                                       \
    { combine_##NAME, accumulate_##NAME }
#define INTEGER(BIT, LIMIT)                                                                                            \
    {                                                                                                                  \
        [RMAI_AND] = OF(and_##BIT), [RMAI_OR] = OF(or_##BIT), [RMAI_XOR] = OF(xor_##BIT),                              \
        [RMAI_MIN] = OF(min_##LIMIT), [RMAI_MAX] = OF(max_##LIMIT), [RMAI_SUM] = OF(sum_##BIT),                        \
        [RMAI_PROD] = OF(prod_##BIT)                                                                                   \
    }
#define REAL(NAME)                                                                                                     \
    {                                                                                                                  \
        [RMAI_MIN] = OF(min_##NAME), [RMAI_MAX] = OF(max_##NAME), [RMAI_SUM] = OF(sum_##NAME),                         \
        [RMAI_PROD] = OF(prod_##NAME)                                                                                  \
    }
#define COMPLEX(NAME)                                                                                                  \
    { [RMAI_SUM] = OF(sum_##NAME), [RMAI_PROD] = OF(prod_##NAME) }

static const struct rmai_kernel kernel_table[RMAI_TYPES][RMAI_OPS] = {
    [RMAI_I8] = INTEGER(8, i8),          [RMAI_I16] = INTEGER(16, i16),  [RMAI_I32] = INTEGER(32, i32),
    [RMAI_I64] = INTEGER(64, i64),       [RMAI_U8] = INTEGER(8, u8),     [RMAI_U16] = INTEGER(16, u16),
    [RMAI_U32] = INTEGER(32, u32),       [RMAI_U64] = INTEGER(64, u64),  [RMAI_FLOAT] = REAL(float),
    [RMAI_DOUBLE] = REAL(double),        [RMAI_LDOUBLE] = REAL(ldouble), [RMAI_COMPLEXF] = COMPLEX(complexf),
    [RMAI_COMPLEXD] = COMPLEX(complexd),
};

const struct rmai_kernel *rmai_kernel(enum rmai_operator op, enum rmai_type type) { return &kernel_table[type][op]; }

static const struct {
    unsigned char size, align;
} type_layout[RMAI_TYPES] = {
#define AS(T)                                                                                                          \
    { sizeof(T), _Alignof(T) }
    [RMAI_I8] = AS(int8_t),
    [RMAI_I16] = AS(int16_t),
    [RMAI_I32] = AS(int32_t),
    [RMAI_I64] = AS(int64_t),
    [RMAI_U8] = AS(uint8_t),
    [RMAI_U16] = AS(uint16_t),
    [RMAI_U32] = AS(uint32_t),
    [RMAI_U64] = AS(uint64_t),
    [RMAI_FLOAT] = AS(float),
    [RMAI_DOUBLE] = AS(double),
    [RMAI_LDOUBLE] = AS(long double),
    [RMAI_COMPLEXF] = AS(float complex),
    [RMAI_COMPLEXD] = AS(double complex),
};

size_t rmai_type_size(enum rmai_type type) { return type_layout[type].size; }
size_t rmai_type_align(enum rmai_type type) { return type_layout[type].align; }
