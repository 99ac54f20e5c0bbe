/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.h: the sparse matrix of rma_sparse.c, which is distributed over all PEs: a unit upper triangular matrix with 9
 * entries in a row on average, whose rows and columns have been permuted at random. Only the places of the entries
 * count. The matrix is a function of its size, so each PE makes its part without communication, and a check knows all.
 *
 * Row, column and element i are on PE i % n_pes. */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#include "irregular.h"

#define MATRIX_DRAWN 16 /* entries drawn for each row; those above the diagonal count, half of them on average */

struct matrix_entry {
    uint32_t row, column;
};

struct matrix {
    uint32_t n, n_all;            /* rows, and columns, of a PE and of all PEs */
    struct matrix_entry *entries; /* of this PE's rows */
    uint32_t n_entries;
    uint32_t longest; /* the most entries in a column */
    /* Symmetric: the rows of own columns' entries, ascending in each column; where each column begins, and where the
     * last one ends. */
    uint32_t *rows, *begin;
};

/* matrix_make: make the matrix with n rows on each PE. Collective. */
void matrix_make(struct matrix *m, uint32_t n);

/* matrix_block: as bench_symmetric, until matrix_free_blocks frees all of them. At most MATRIX_BLOCKS. Collective. */
#define MATRIX_BLOCKS 32
void *matrix_block(size_t size);
void matrix_free_blocks(void);

/* matrix_add_up: makes the counts of n columns their beginnings; counts[n] gets the sum. */
void matrix_add_up(uint32_t *counts, uint32_t n);

/* matrix_home: where row, column or element i is. matrix_global: its number. */
BENCH_INLINE struct irregular_access matrix_home(uint32_t i) {
    const uint32_t n_pes = (uint32_t)bench.n_pes;
    return (struct irregular_access){.pe = (int)(i % n_pes), .word = i / n_pes};
}
BENCH_INLINE uint32_t matrix_global(uint64_t local) {
    return (uint32_t)local * (uint32_t)bench.n_pes + (uint32_t)bench.pe;
}

#endif
