/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c: a random sparse matrix that becomes triangular if its rows and columns are permuted. */
#include "matrix.h"

#include <string.h>

#define ROWS    0x9e3779b1u /* odd numbers, each for another permutation */
#define COLUMNS 0x85ebca77u

static void *blocks[MATRIX_BLOCKS];
static int n_blocks;

void *matrix_block(size_t size) { return blocks[n_blocks++] = bench_symmetric(64, size); }

void matrix_free_blocks(void) {
    while (n_blocks > 0) BENCH_RMA(rma_free(blocks[--n_blocks]));
}

void matrix_add_up(uint32_t *counts, uint32_t n) {
    for (uint32_t i = 0, at = 0; i <= n; i++) {
        uint32_t so_many = counts[i];
        counts[i] = at;
        at += so_many;
    }
}

/* A random permutation of 0 .. n - 1: a bijection of the numbers below a power of two, again until it gives one that is
 * less than n. */
static uint32_t shuffled(uint32_t i, uint32_t n, uint32_t odd) {
    uint32_t mask = n > 1 ? UINT32_MAX >> __builtin_clz(n - 1) : 0;
    const int half = __builtin_popcount(mask) / 2 + 1;
    do {
        for (int k = 0; k < 3; k++) {
            i = (i * odd + odd / 2) & mask;
            i ^= i >> half;
        }
    } while (i >= n);
    return i;
}

/* The columns of a row's entries: returns so many. */
static int columns_of(uint32_t row, uint32_t n_all, uint32_t to[MATRIX_DRAWN + 1]) {
    const uint32_t upper = shuffled(row, n_all, ROWS); /* the row in the triangular matrix */
    int n = 1;
    to[0] = shuffled(upper, n_all, COLUMNS);
    for (int k = 0; k < MATRIX_DRAWN; k++) {
        const uint64_t x = irregular_random(bench.n_pes, (uint64_t)upper * MATRIX_DRAWN + (uint64_t)k);
        const uint32_t right = (uint32_t)((x >> 32) * n_all >> 32);
        int i = 0;
        to[n] = shuffled(right, n_all, COLUMNS);
        while (to[i] != to[n]) i++;
        n += right > upper && i == n;
    }
    return n;
}

/* Writes the entries of this PE's rows and columns, where there is room for them already; or counts them. */
static void look_at_all(struct matrix *m, uint32_t *cursor) {
    uint32_t to[MATRIX_DRAWN + 1];
    m->n_entries = 0;
    for (uint32_t row = 0; row < m->n_all; row++)
        for (int i = columns_of(row, m->n_all, to) - 1; i >= 0; i--) {
            const struct irregular_access r = matrix_home(row), c = matrix_home(to[i]);
            if (c.pe == bench.pe && m->rows) m->rows[cursor[c.word]] = row;
            if (r.pe == bench.pe && m->rows) m->entries[m->n_entries] = (struct matrix_entry){row, to[i]};
            cursor[c.word] += c.pe == bench.pe;
            m->n_entries += r.pe == bench.pe;
        }
}

void matrix_make(struct matrix *m, uint32_t n) {
    const size_t size = ((size_t)n + 1) * sizeof *m->begin;
    uint32_t *cursor = matrix_block(size), longest = 0;
    *m = (struct matrix){.n = n, .n_all = n * (uint32_t)bench.n_pes, .begin = matrix_block(size)};
    look_at_all(m, m->begin);
    for (uint32_t c = 0; c < n; c++)
        if (m->begin[c] > longest) longest = m->begin[c];
    m->longest = (uint32_t)bench_agree((int)longest);
    matrix_add_up(m->begin, n);
    memcpy(cursor, m->begin, size);
    m->entries = matrix_block((size_t)bench_agree((int)m->n_entries) * sizeof *m->entries);
    m->rows = matrix_block((size_t)bench_agree((int)m->begin[n]) * sizeof *m->rows);
    look_at_all(m, cursor);
}
