/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of reductions and scans, on arrays: one loop for each operation and type, which the compiler
 * vectorises. */
#ifndef RMAI_KERNELS_H
#define RMAI_KERNELS_H

#include <stddef.h>

enum rmai_operator { RMAI_AND, RMAI_OR, RMAI_XOR, RMAI_MIN, RMAI_MAX, RMAI_SUM, RMAI_PROD, RMAI_OPS };

/* Types as the machine distinguishes them: C types of the same size and signedness are one type here. */
enum rmai_type {
    RMAI_I8,
    RMAI_I16,
    RMAI_I32,
    RMAI_I64,
    RMAI_U8,
    RMAI_U16,
    RMAI_U32,
    RMAI_U64,
    RMAI_FLOAT,
    RMAI_DOUBLE,
    RMAI_LDOUBLE,
    RMAI_COMPLEXF,
    RMAI_COMPLEXD,
    RMAI_TYPES
};

/* rmai_type_of: the enum rmai_type of a real type of C, as a constant expression. */
#define RMAI_SIZE_STEP(T) (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3)
#define rmai_type_of(T)                                                                                                \
    ((T)0.5 != (T)0 ? (sizeof(T) == sizeof(float)    ? RMAI_FLOAT                                                      \
                       : sizeof(T) == sizeof(double) ? RMAI_DOUBLE                                                     \
                                                     : RMAI_LDOUBLE)                                                   \
                    : (enum rmai_type)(((T)-1 < (T)1 ? RMAI_I8 : RMAI_U8) + RMAI_SIZE_STEP(T)))

/* dest[i] = a[i] OP b[i] for n elements. dest does not overlap a or b, all are aligned for their type. */
typedef void rmai_combine(void *dest, const void *a, const void *b, size_t n);

/* dest[i] = dest[i] OP b[i]. */
typedef void rmai_accumulate(void *dest, const void *b, size_t n);

struct rmai_kernel {
    rmai_combine *combine;
    rmai_accumulate *accumulate;
};

/* rmai_kernel: its functions are NULL if the type does not have the operation. */
const struct rmai_kernel *rmai_kernel(enum rmai_operator op, enum rmai_type type);

/* rmai_type_size: bytes of an element; rmai_type_align: its alignment. */
size_t rmai_type_size(enum rmai_type type);
size_t rmai_type_align(enum rmai_type type);

#endif
