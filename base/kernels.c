/* SPDX-License-Identifier: BSD-3-Clause */
/* Each loop is compiled by itself, with -O3 and the promise that its arrays do not overlap. gcc and clang then
 * vectorise all loops but those of long double and of complex products (-fopt-info-vec, -Rpass=loop-vectorize;
 * tools/check verifies it). On x86-64 gcc makes each loop twice, for every processor and for those with AVX2; the
 * dynamic linker chooses. Integers are added and multiplied as unsigned numbers, since they wrap around. */
#include "config.h"

#include "base/kernels.h"

#include <complex.h>
#include <stdint.h>
#include <string.h>

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
#define LAND(T, a, b)         (T)(((a) != 0) & ((b) != 0))
#define LOR(T, a, b)          (T)(((a) | (b)) != 0)
#define LXOR(T, a, b)         (T)(((a) != 0) ^ ((b) != 0))
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
    KERNEL(land_##NAME, T, LAND)                                                                                       \
    KERNEL(lor_##NAME, T, LOR)                                                                                         \
    KERNEL(lxor_##NAME, T, LXOR)                                                                                       \
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
/* An operand in a message is aligned to 8 bytes. */
typedef long double loose_ldouble __attribute__((aligned(8)));
LIMITS(ldouble, loose_ldouble)
SUMS(float, float)
SUMS(double, double)
SUMS(ldouble, loose_ldouble)
SUMS(complexf, float complex)
SUMS(complexd, double complex)

#define OF(NAME)                                                                                                       \
    { combine_##NAME, accumulate_##NAME }
#define OF_PAIR(NAME)                                                                                                  \
    { NULL, rmai_##NAME }
#define INTEGER(BIT, LIMIT)                                                                                            \
    {                                                                                                                  \
        [RMA_OP_AND] = OF(and_##BIT), [RMA_OP_OR] = OF(or_##BIT), [RMA_OP_XOR] = OF(xor_##BIT),                        \
        [RMA_OP_LAND] = OF(land_##BIT), [RMA_OP_LOR] = OF(lor_##BIT), [RMA_OP_LXOR] = OF(lxor_##BIT),                  \
        [RMA_OP_MIN] = OF(min_##LIMIT), [RMA_OP_MAX] = OF(max_##LIMIT), [RMA_OP_SUM] = OF(sum_##BIT),                  \
        [RMA_OP_PROD] = OF(prod_##BIT)                                                                                 \
    }
#define REAL(NAME)                                                                                                     \
    {                                                                                                                  \
        [RMA_OP_MIN] = OF(min_##NAME), [RMA_OP_MAX] = OF(max_##NAME), [RMA_OP_SUM] = OF(sum_##NAME),                   \
        [RMA_OP_PROD] = OF(prod_##NAME)                                                                                \
    }
#define COMPLEX(NAME)                                                                                                  \
    { [RMA_OP_SUM] = OF(sum_##NAME), [RMA_OP_PROD] = OF(prod_##NAME) }
#define PAIR(NAME)                                                                                                     \
    {                                                                                                                  \
        [RMA_OP_MINLOC_] = OF_PAIR(minloc_##NAME), [RMA_OP_MAXLOC_] = OF_PAIR(maxloc_##NAME),                          \
        [RMA_OP_SET_] = OF_PAIR(set_##NAME)                                                                            \
    }

const struct rmai_kernel rmai_kernels[RMAI_TYPES][RMAI_OPS] = {
    [RMA_INT8] = INTEGER(8, i8),
    [RMA_INT16] = INTEGER(16, i16),
    [RMA_INT32] = INTEGER(32, i32),
    [RMA_INT64] = INTEGER(64, i64),
    [RMA_UINT8] = INTEGER(8, u8),
    [RMA_UINT16] = INTEGER(16, u16),
    [RMA_UINT32] = INTEGER(32, u32),
    [RMA_UINT64] = INTEGER(64, u64),
    [RMA_FLOAT] = REAL(float),
    [RMA_DOUBLE] = REAL(double),
    [RMA_LDOUBLE] = REAL(ldouble),
    [RMA_COMPLEXF] = COMPLEX(complexf),
    [RMA_COMPLEXD] = COMPLEX(complexd),
    [RMA_STRIPED_INT32_] = INTEGER(32, i32),
    [RMA_STRIPED_INT64_] = INTEGER(64, i64),
    [RMA_STRIPED_UINT32_] = INTEGER(32, u32),
    [RMA_STRIPED_UINT64_] = INTEGER(64, u64),
    [RMA_PAIR_SHORT_] = PAIR(SHORT),
    [RMA_PAIR_INT_] = PAIR(INT),
    [RMA_PAIR_LONG_] = PAIR(LONG),
    [RMA_PAIR_FLOAT_] = PAIR(FLOAT),
    [RMA_PAIR_DOUBLE_] = PAIR(DOUBLE),
    [RMA_PAIR_LDOUBLE_] = PAIR(LDOUBLE),
    [RMA_PAIR_INT64S_] = PAIR(INT64S),
    [RMA_PAIR_FLOATS_] = PAIR(FLOATS),
    [RMA_PAIR_DOUBLES_] = PAIR(DOUBLES),
};

const char *const rmai_op_words[RMAI_OPS] = {
    [RMA_OP_SUM] = "sum",        [RMA_OP_PROD] = "prod",      [RMA_OP_MIN] = "min",         [RMA_OP_MAX] = "max",
    [RMA_OP_AND] = "and",        [RMA_OP_OR] = "or",          [RMA_OP_XOR] = "xor",         [RMA_OP_LAND] = "land",
    [RMA_OP_LOR] = "lor",        [RMA_OP_LXOR] = "lxor",      [RMA_OP_REPLACE] = "replace", [RMA_OP_FETCH] = "fetch",
    [RMA_OP_MINLOC_] = "minloc", [RMA_OP_MAXLOC_] = "maxloc", [RMA_OP_SET_] = "set",
};
const char *const rmai_type_words[RMAI_TYPES] = {"int8",
                                                 "int16",
                                                 "int32",
                                                 "int64",
                                                 "uint8",
                                                 "uint16",
                                                 "uint32",
                                                 "uint64",
                                                 "float",
                                                 "double",
                                                 "long double",
                                                 "complex float",
                                                 "complex double",
                                                 "striped int32",
                                                 "striped int64",
                                                 "striped uint32",
                                                 "striped uint64",
                                                 "pair (short, int)",
                                                 "pair (int, int)",
                                                 "pair (long, int)",
                                                 "pair (float, int)",
                                                 "pair (double, int)",
                                                 "pair (long double, int)",
                                                 "pair (int64, int64)",
                                                 "pair (float, float)",
                                                 "pair (double, double)"};

const struct rmai_type_layout rmai_type_layouts[RMAI_TYPES] = {
#define AS(T)                                                                                                          \
    { sizeof(T), _Alignof(T) }
    [RMA_INT8] = AS(int8_t),
    [RMA_INT16] = AS(int16_t),
    [RMA_INT32] = AS(int32_t),
    [RMA_INT64] = AS(int64_t),
    [RMA_UINT8] = AS(uint8_t),
    [RMA_UINT16] = AS(uint16_t),
    [RMA_UINT32] = AS(uint32_t),
    [RMA_UINT64] = AS(uint64_t),
    [RMA_FLOAT] = AS(float),
    [RMA_DOUBLE] = AS(double),
    [RMA_LDOUBLE] = AS(long double),
    [RMA_COMPLEXF] = AS(float complex),
    [RMA_COMPLEXD] = AS(double complex),
    [RMA_STRIPED_INT32_] = AS(int32_t),
    [RMA_STRIPED_INT64_] = AS(int64_t),
    [RMA_STRIPED_UINT32_] = AS(uint32_t),
    [RMA_STRIPED_UINT64_] = AS(uint64_t),
#define PACKED(VALUE, INDEX)                                                                                           \
    { RMAI_PAIR_SIZE(VALUE, INDEX), 1 }
    [RMA_PAIR_SHORT_] = PACKED(short, int),
    [RMA_PAIR_INT_] = PACKED(int, int),
    [RMA_PAIR_LONG_] = PACKED(long, int),
    [RMA_PAIR_FLOAT_] = PACKED(float, int),
    [RMA_PAIR_DOUBLE_] = PACKED(double, int),
    [RMA_PAIR_LDOUBLE_] = PACKED(long double, int),
    [RMA_PAIR_INT64S_] = PACKED(int64_t, int64_t),
    [RMA_PAIR_FLOATS_] = PACKED(float, float),
    [RMA_PAIR_DOUBLES_] = PACKED(double, double),
};

/* ---- scaling ---- */

#define SCALE(NAME, T, DO)                                                                                             \
    WIDE static void scale_##NAME(void *dest, const void *scale, const void *source, size_t n) {                       \
        T *restrict d = dest;                                                                                          \
        const T *restrict s = source;                                                                                  \
        T factor;                                                                                                      \
        memcpy(&factor, scale, sizeof factor);                                                                         \
        for (size_t i = 0; i < n; i++) d[i] = DO(T, factor, s[i]);                                                     \
    }
SCALE(8, uint8_t, WRAPPED_PROD)
SCALE(16, uint16_t, WRAPPED_PROD)
SCALE(32, uint32_t, WRAPPED_PROD)
SCALE(64, uint64_t, WRAPPED_PROD)
SCALE(float, float, PROD)
SCALE(double, double, PROD)
SCALE(ldouble, long double, PROD)
SCALE(complexf, float complex, PROD)
SCALE(complexd, double complex, PROD)

typedef void scale_function(void *dest, const void *scale, const void *source, size_t n);

void rmai_scale(enum rma_type type, void *dest, const void *scale, const void *source, size_t n) {
    static scale_function *const scales[RMAI_PUBLIC_TYPES] = {
        [RMA_INT8] = scale_8,
        [RMA_INT16] = scale_16,
        [RMA_INT32] = scale_32,
        [RMA_INT64] = scale_64,
        [RMA_UINT8] = scale_8,
        [RMA_UINT16] = scale_16,
        [RMA_UINT32] = scale_32,
        [RMA_UINT64] = scale_64,
        [RMA_FLOAT] = scale_float,
        [RMA_DOUBLE] = scale_double,
        [RMA_LDOUBLE] = scale_ldouble,
        [RMA_COMPLEXF] = scale_complexf,
        [RMA_COMPLEXD] = scale_complexd,
    };
    scales[type](dest, scale, source, n);
}
