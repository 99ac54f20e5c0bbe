/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections, lists and accumulate on one node, until librma has them. */
#include "config.h"

#include "rma.h"

#include <stdlib.h>

typedef void visit(void *context, char *a, char *b, char *c, size_t len);

static void walk(char *a, char *b, char *c, const ptrdiff_t *sa, const ptrdiff_t *sb, const ptrdiff_t *sc, size_t elem,
                 int dims, const size_t *count, visit *v, void *context) {
    if (dims == 0) {
        v(context, a, b, c, elem);
        return;
    }
    for (size_t i = 0; i < *count; i++)
        walk(a + (ptrdiff_t)i * *sa, b ? b + (ptrdiff_t)i * *sb : NULL, c ? c + (ptrdiff_t)i * *sc : NULL, sa + 1, sb + 1,
             sc + 1, elem, dims - 1, count + 1, v, context);
}

static void copy(void *context, char *a, char *b, char *c, size_t len) {
    (void)context, (void)c;
    memcpy(a, b, len);
}

int rma_gptr_put_section_nbi(rma_gptr_t dest, const void *source, RMA_SECTION_) {
    walk(rma_gptr_ptr(dest), (char *)(uintptr_t)source, NULL, dest_stride, source_stride, source_stride, elem, dims, count, copy, NULL);
    return 0;
}
int rma_gptr_get_section_nbi(void *dest, rma_gptr_t source, RMA_SECTION_) {
    walk(dest, rma_gptr_ptr(source), NULL, dest_stride, source_stride, source_stride, elem, dims, count, copy, NULL);
    return 0;
}

static void lists(char *a, const struct rma_block *x, size_t nx, char *b, const struct rma_block *y, size_t ny, char *c,
                  const struct rma_block *z, size_t nz, size_t elem, visit *v, void *context) {
    size_t total = 0, ix = 0, iy = 0, iz = 0, ax = 0, ay = 0, az = 0;
    const struct rma_block one = {0, SIZE_MAX};
    for (size_t i = 0; i < nx; i++) total += x[i].len;
    if (!x) for (size_t i = 0; i < ny; i++) total += y[i].len;
    if (!x && !y) for (size_t i = 0; i < nz; i++) total += z[i].len;
    if (!x) x = &one;
    if (!y) y = &one;
    if (!z) z = &one;
    for (size_t at = 0; at < total; at += elem) {
        v(context, a + x[ix].offset + ax, b ? b + y[iy].offset + ay : NULL, c ? c + z[iz].offset + az : NULL, elem);
        ax += elem, ay += elem, az += elem;
        if (ax >= x[ix].len) ax = 0, ix++;
        if (ay >= y[iy].len) ay = 0, iy++;
        if (az >= z[iz].len) az = 0, iz++;
    }
}

int rma_gptr_put_blocks_nbi(rma_gptr_t dest, const void *source, RMA_BLOCKS_) {
    lists(rma_gptr_ptr(dest), to, n_to, (char *)(uintptr_t)source, from, n_from, NULL, NULL, 0, 1, copy, NULL);
    return 0;
}
int rma_gptr_get_blocks_nbi(void *dest, rma_gptr_t source, RMA_BLOCKS_) {
    lists(dest, to, n_to, rma_gptr_ptr(source), from, n_from, NULL, NULL, 0, 1, copy, NULL);
    return 0;
}
int rma_gptr_put_blocks(rma_gptr_t dest, const void *source, RMA_BLOCKS_) {
    return rma_gptr_put_blocks_nbi(dest, source, to, n_to, from, n_from);
}
int rma_gptr_get_blocks(void *dest, rma_gptr_t source, RMA_BLOCKS_) {
    return rma_gptr_get_blocks_nbi(dest, source, to, n_to, from, n_from);
}

struct how { int type, op; };

static void apply(void *context, char *a, char *b, char *c, size_t len) {
    const struct how *h = context;
    uint64_t v = 0, old = 0;
    int op;
    if (b) memcpy(&v, b, len);
    if (h->op == RMA_OP_FETCH) op = RMA_FETCH_;
    else if (h->op == RMA_OP_REPLACE) op = RMA_SWAP_;
    else if (h->op == RMA_OP_SUM) op = h->type == RMA_DOUBLE || h->type == RMA_FLOAT ? RMA_FETCH_FADD_ : RMA_FETCH_ADD_;
    else if (h->op == RMA_OP_MAX) op = h->type == RMA_DOUBLE || h->type == RMA_FLOAT ? RMA_FETCH_FMAX_ : RMA_FETCH_SMAX_;
    else if (h->op == RMA_OP_MIN) op = h->type == RMA_DOUBLE || h->type == RMA_FLOAT ? RMA_FETCH_FMIN_ : RMA_FETCH_SMIN_;
    else abort();
    if (len != 4 && len != 8) abort();
    old = rma_apply_(op, a, len, v, 0);
    if (c) memcpy(c, &old, len);
}

static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 16, 8, 16};

#define HOW struct how h = {type, op}; (void)scale
int rma_gptr_accumulate_nbi(rma_gptr_t dest, const void *source, size_t n, RMA_UPDATE_) {
    HOW;
    char *a = rma_gptr_ptr(dest), *b = (char *)(uintptr_t)source;
    for (size_t i = 0; i < n; i++) apply(&h, a + i * sizes[type], b + i * sizes[type], NULL, sizes[type]);
    return 0;
}
int rma_gptr_get_accumulate_nbi(rma_gptr_t dest, const void *source, void *fetch, size_t n, RMA_UPDATE_) {
    HOW;
    char *a = rma_gptr_ptr(dest), *b = (char *)(uintptr_t)source, *c = fetch;
    for (size_t i = 0; i < n; i++) apply(&h, a + i * sizes[type], b ? b + i * sizes[type] : NULL, c + i * sizes[type], sizes[type]);
    return 0;
}
int rma_gptr_accumulate_section_nbi(rma_gptr_t dest, const void *source, const ptrdiff_t *dest_stride,
                                const ptrdiff_t *source_stride, int dims, const size_t *count, RMA_UPDATE_) {
    HOW;
    walk(rma_gptr_ptr(dest), (char *)(uintptr_t)source, NULL, dest_stride, source_stride, source_stride, sizes[type], dims, count, apply, &h);
    return 0;
}
int rma_gptr_get_accumulate_section_nbi(rma_gptr_t dest, const void *source, void *fetch, const ptrdiff_t *dest_stride,
                                const ptrdiff_t *source_stride, const ptrdiff_t *fetch_stride, int dims, const size_t *count, RMA_UPDATE_) {
    HOW;
    walk(rma_gptr_ptr(dest), (char *)(uintptr_t)source, fetch, dest_stride, source_stride, fetch_stride, sizes[type], dims, count, apply, &h);
    return 0;
}
int rma_gptr_accumulate_blocks_nbi(rma_gptr_t dest, const void *source, RMA_BLOCKS_, RMA_UPDATE_) {
    HOW;
    lists(rma_gptr_ptr(dest), to, n_to, (char *)(uintptr_t)source, from, n_from, NULL, NULL, 0, sizes[type], apply, &h);
    return 0;
}
int rma_gptr_get_accumulate_blocks_nbi(rma_gptr_t dest, const void *source, void *fetch, RMA_BLOCKS_, const struct rma_block *into, size_t n_into, RMA_UPDATE_) {
    HOW;
    lists(rma_gptr_ptr(dest), to, n_to, (char *)(uintptr_t)source, from, n_from, fetch, into, n_into, sizes[type], apply, &h);
    return 0;
}
