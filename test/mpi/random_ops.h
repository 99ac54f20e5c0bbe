/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined types, the operations of accumulates, and their arithmetic, written from the standard and without any
 * call of MPI. */
#ifndef TEST_MPI_RANDOM_OPS_H
#define TEST_MPI_RANDOM_OPS_H

#include "random_base.h"

enum class { SIGNED, UNSIGNED, REAL, COMPLEX, LOGICAL, BYTES, PAIR };
/* Who may be left out by an option. */
enum family { F_C, F_CHAR, F_BYTE, F_LOGICAL, F_COMPLEX, F_LONG_DOUBLE, F_PAIR, F_FORTRAN, F_OPAQUE };

struct basic {
    const char *name;
    MPI_Datatype type;
    enum class class;
    enum family family;
    int part;     /* bytes of the number, or of one part of a complex one, or of a pair's value */
    int index_at; /* of a pair: where its index is */
    int index;    /* of a pair: bytes of its index */
    int real;     /* of a pair: its value is a real number; 2: the index, too */
    int extent;
    int strict; /* 1: logical operations are not defined (Fortran's integers, MPI_AINT and so on) */
};

enum op { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, LOR, LXOR, MINLOC, MAXLOC, REPLACE, NO_OP, N_OPS };

extern struct basic basics[];
extern int n_basics;
extern const char *const op_names[N_OPS];
void basics_begin(void);
MPI_Op op_handle(enum op op);

/* op_defined: whether `op` is defined on b. op_commutes: whether updates of several processes give the same bits in
 * each order. op_prepares: whether the target must hold suitable values first (numbers that all sums represent exactly;
 * truth values). */
int op_defined(const struct basic *b, enum op op);
int op_commutes(const struct basic *b, enum op op);
int op_prepares(const struct basic *b, enum op op);

/* basic_draw: a value for `op`. basic_apply: target = target op origin. */
void basic_draw(struct draws *d, const struct basic *b, enum op op, void *to);
void basic_apply(const struct basic *b, enum op op, void *target, const void *origin);

/* basic_bytes: the number of bytes of data; the k-th run of them, k = 0 or 1: its length, or 0, and where it is. */
static inline size_t basic_run(const struct basic *b, int k, size_t *at) {
    *at = k ? (size_t)b->index_at : 0;
    return k ? (size_t)b->index : (size_t)b->part * (b->class == COMPLEX ? 2 : 1);
}
/* The offset after the last byte of data. */
static inline ptrdiff_t basic_end(const struct basic *b) {
    return b->index ? b->index_at + b->index : b->part * (b->class == COMPLEX ? 2 : 1);
}
/* basic_is_noise: 1 if byte `at` of an element has no meaning (the filling of a long double). */
int basic_is_noise(const struct basic *b, size_t at);
int basic_has_noise(const struct basic *b);

#endif
