/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of reductions, scans and accumulates: one for each operation and type, which the compiler vectorises. C
 * types of the same size and signedness are one type here. Pairs have loops of their own (base/pair_kernels.h), and
 * only accumulates take them. */
#ifndef RMAI_KERNELS_H
#define RMAI_KERNELS_H

#include <stddef.h>

#include "base/inner_types.h"
#include "base/pair_kernels.h"
#include "rma.h"

/* All of them, and those of enum rma_op and enum rma_type, which come first. */
#define RMAI_OPS          (RMA_OP_SET_ + 1)
#define RMAI_TYPES        (RMA_PAIR_DOUBLES_ + 1)
#define RMAI_PUBLIC_OPS   (RMA_OP_FETCH + 1)
#define RMAI_PUBLIC_TYPES (RMA_COMPLEXD + 1)

/* For texts. */
extern const char *const rmai_op_words[RMAI_OPS];
extern const char *const rmai_type_words[RMAI_TYPES];

/* rmai_type_of: the enum rma_type of a real type of C, as a constant expression. */
#define RMAI_SIZE_STEP(T) (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3)
#define rmai_type_of(T)                                                                                                \
    ((T)0.5 != (T)0 ? (sizeof(T) == sizeof(float)    ? RMA_FLOAT                                                       \
                       : sizeof(T) == sizeof(double) ? RMA_DOUBLE                                                      \
                                                     : RMA_LDOUBLE)                                                    \
                    : (enum rma_type)(((T)-1 < (T)1 ? RMA_INT8 : RMA_UINT8) + RMAI_SIZE_STEP(T)))

/* dest[i] = a[i] OP b[i] for n elements. dest does not overlap a or b, all are aligned for their type. */
typedef void rmai_combine(void *dest, const void *a, const void *b, size_t n);

/* dest[i] = dest[i] OP b[i]. */
typedef void rmai_accumulate(void *dest, const void *b, size_t n);

struct rmai_kernel {
    rmai_combine *combine;
    rmai_accumulate *accumulate;
};

/* rmai_scale: dest[i] = scale * source[i] for n elements of the type. dest does not overlap source. */
void rmai_scale(enum rma_type type, void *dest, const void *scale, const void *source, size_t n);

/* rmai_kernel: its functions are NULL if the type does not have the operation; RMA_OP_REPLACE and RMA_OP_FETCH have no
 * functions. Operations on pairs have no `combine`. */
extern const struct rmai_kernel rmai_kernels[RMAI_TYPES][RMAI_OPS];
static inline const struct rmai_kernel *rmai_kernel(enum rma_op op, enum rma_type type) {
    return &rmai_kernels[type][op];
}

/* rmai_type_size: bytes of an element; rmai_type_align: its alignment. */
extern const struct rmai_type_layout { unsigned char size, align; } rmai_type_layouts[RMAI_TYPES];
static inline size_t rmai_type_size(enum rma_type type) { return rmai_type_layouts[type].size; }
static inline size_t rmai_type_align(enum rma_type type) { return rmai_type_layouts[type].align; }

#endif
