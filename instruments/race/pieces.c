/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/pieces.h"

size_t race_size_of(int type) {
    static const size_t sizes[] = {
        [RMA_INT8] = 1,
        [RMA_INT16] = 2,
        [RMA_INT32] = 4,
        [RMA_INT64] = 8,
        [RMA_UINT8] = 1,
        [RMA_UINT16] = 2,
        [RMA_UINT32] = 4,
        [RMA_UINT64] = 8,
        [RMA_FLOAT] = sizeof(float),
        [RMA_DOUBLE] = sizeof(double),
        [RMA_LDOUBLE] = sizeof(long double),
        [RMA_COMPLEXF] = sizeof(rma_complexf_),
        [RMA_COMPLEXD] = sizeof(rma_complexd_),
    };
    return type >= 0 && (size_t)type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

struct race_pieces race_section(const ptrdiff_t *stride, const size_t *count, int dims, size_t elem) {
    return (struct race_pieces){.shape = RACE_SECTION, .elem = elem, .stride = stride, .count = count, .dims = dims};
}

struct race_pieces race_indexed(const ptrdiff_t *index, size_t elem, size_t n) {
    return (struct race_pieces){.shape = RACE_INDEXED, .elem = elem, .index = index, .n = n};
}

struct race_pieces race_blocks(const struct rma_block *list, size_t n, const struct rma_block *other, size_t n_other) {
    struct race_pieces p = {.shape = RACE_BLOCKS, .list = list, .n = n};
    if (list) return p;
    p.n = 1;
    for (size_t i = 0; other && i < n_other; i++) p.whole.len += other[i].len;
    return p;
}

int race_pieces_exist(const struct race_pieces *p) {
    const size_t most = (size_t)1 << 48; /* bytes, more than an address space has */
    size_t all = p->elem;
    if (p->shape == RACE_BLOCKS) return p->list || p->n <= 1;
    if (p->shape == RACE_INDEXED) return p->elem && p->n <= most / p->elem;
    if (!p->elem || p->dims < 0 || p->dims > RMA_DIMS_MAX || (p->dims && (!p->stride || !p->count))) return 0;
    for (int d = 0; d < p->dims; d++) {
        if (p->count[d] > most / all) return 0;
        if (p->count[d]) all *= p->count[d];
    }
    return 1;
}

/* The next element or block by itself. */
static int next_one(const struct race_pieces *p, struct race_walk *w, struct rma_block *one) {
    *one = (struct rma_block){0, p->elem};
    if (p->shape != RACE_SECTION) {
        if (w->next == p->n) return 0;
        if (p->shape == RACE_INDEXED && !p->index) { /* one piece */
            one->len *= p->n;
            w->next = p->n;
            return 1;
        }
        if (p->shape == RACE_BLOCKS)
            *one = p->list ? p->list[w->next] : p->whole;
        else
            one->offset = p->index[w->next] * (ptrdiff_t)p->elem;
        w->next++;
        return 1;
    }
    if (w->ended) return 0;
    for (int d = 0; d < p->dims; d++) {
        if (p->count[d] == 0) return 0;
        one->offset += (ptrdiff_t)w->at[d] * p->stride[d];
    }
    w->ended = 1; /* unless an index is left that can be raised */
    for (int d = p->dims - 1; d >= 0 && w->ended; d--) {
        w->ended = ++w->at[d] == p->count[d];
        if (w->ended) w->at[d] = 0;
    }
    return 1;
}

int race_next_piece(const struct race_pieces *p, struct race_walk *w, struct rma_block *piece) {
    struct race_walk further;
    struct rma_block one;
    if (!next_one(p, w, piece)) return 0;
    for (further = *w; next_one(p, &further, &one) && one.offset == piece->offset + (ptrdiff_t)piece->len; *w = further)
        piece->len += one.len;
    return 1;
}
