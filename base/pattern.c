/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/pattern.h"
#include "base/attributes.h"
#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

static int too_large(const char *call, const char *what) {
    return rmai_error(RMA_ERR_ARG, "%s: the %s overflow an address", call, what);
}

static int overlaps(const struct rmai_pattern_call *c, int side) {
    return rmai_error(RMA_ERR_ARG, "%s: elements of %s overlap each other", c->call, c->names[side]);
}

/* 1 if the bytes from the first remote element to the end of the last one are a number. */
static int span_fits(const struct rmai_pattern *s) {
    ptrdiff_t span;
    return !__builtin_sub_overflow(s->end, s->least, &span);
}

/* ---- elements that overlap ---- */

static int compare_offsets(const void *a, const void *b) {
    const ptrdiff_t x = *(const ptrdiff_t *)a, y = *(const ptrdiff_t *)b;
    return (x > y) - (x < y);
}

static size_t stride_length(ptrdiff_t stride) { return stride < 0 ? 0 - (size_t)stride : (size_t)stride; }

/* Compares all elements. It is needed only where the elements of one dimension lie between those of another. */
static int compare_elements(const struct rmai_pattern_call *c, const struct rmai_pattern *s, int side) {
    const ptrdiff_t *stride = s->stride[side];
    const size_t n = s->bytes / s->elem;
    ptrdiff_t *all = n <= SIZE_MAX / sizeof *all ? malloc(n * sizeof *all) : NULL;
    size_t place[RMA_DIMS_MAX] = {0}, i = 0;
    ptrdiff_t at = 0;
    int found = 0;
    if (!all)
        return rmai_error(RMA_ERR_NO_MEM, "%s: no memory to check whether %zu elements of %s overlap", c->call, n,
                          c->names[side]);
    for (int d = 0; d < s->dims;) {
        if (d == 0) all[i++] = at;
        at += stride[d];
        if (++place[d] < s->count[d]) {
            d = 0;
        } else {
            at -= (ptrdiff_t)s->count[d] * stride[d];
            place[d++] = 0;
        }
    }
    qsort(all, n, sizeof *all, compare_offsets);
    for (i = 1; i < n && !found; i++) found = (size_t)(all[i] - all[i - 1]) < s->elem;
    free(all);
    return found ? overlaps(c, side) : RMA_SUCCESS;
}

int rmai_pattern_compare(const struct rmai_pattern *s, const struct rmai_pattern_call *c) {
    int code = RMA_SUCCESS;
    if (RMAI_LIKELY(s->kind != RMAI_SECTION || !s->doubtful)) return RMA_SUCCESS;
    for (int side = 0; side < s->sides && code == RMA_SUCCESS; side++)
        if (s->doubtful >> side & 1) code = compare_elements(c, s, side);
    return code;
}

/* Nested dimensions do not overlap: sorted by the length of their strides, each stride is at least as long as all that
 * the shorter ones span. */
static int check_section_apart(const struct rmai_pattern_call *c, struct rmai_pattern *s, int side) {
    size_t length[RMA_DIMS_MAX], count[RMA_DIMS_MAX], span = s->elem;
    for (int d = 0; d < s->dims; d++) {
        int at = d;
        for (; at > 0 && length[at - 1] > stride_length(s->stride[side][d]); at--) {
            length[at] = length[at - 1];
            count[at] = count[at - 1];
        }
        length[at] = stride_length(s->stride[side][d]);
        count[at] = s->count[d];
    }
    if (s->dims > 0 && length[0] < s->elem) return overlaps(c, side);
    for (int d = 0; d < s->dims; d++) {
        if (length[d] < span) s->doubtful |= 1 << side;
        span += (count[d] - 1) * length[d];
    }
    return RMA_SUCCESS;
}

static int compare_blocks(const void *a, const void *b) {
    const struct rma_block *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static int check_blocks_apart(const struct rmai_pattern_call *c, const struct rmai_pattern *s) {
    const size_t n = s->listed[c->written];
    struct rma_block *sorted = malloc(n * sizeof *sorted);
    int found = 0;
    if (!sorted) return rmai_error(RMA_ERR_NO_MEM, "%s: no memory to check %zu blocks", c->call, n);
    memcpy(sorted, s->list[c->written], n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_blocks);
    for (size_t i = 0, before = SIZE_MAX; i < n && !found; i++) {
        if (!sorted[i].len) continue;
        found = before != SIZE_MAX && (size_t)(sorted[i].offset - sorted[before].offset) < sorted[before].len;
        before = i;
    }
    free(sorted);
    return found ? overlaps(c, (int)c->written) : RMA_SUCCESS;
}

/* ---- sections ---- */

/* Adds count - 1 strides to the span [*least, *end) of a side. Returns 0 if that overflows. */
static int add_span(ptrdiff_t stride, size_t count, ptrdiff_t *least, ptrdiff_t *end) {
    ptrdiff_t length;
    return !__builtin_mul_overflow(stride, count, &length) && !__builtin_sub_overflow(length, stride, &length) &&
           !__builtin_add_overflow(*(stride < 0 ? least : end), length, stride < 0 ? least : end);
}

/* Removes dimension d. */
static void drop_dimension(struct rmai_pattern *s, int d) {
    s->dims--;
    for (; d < s->dims; d++) {
        s->count[d] = s->count[d + 1];
        for (int side = 0; side < s->sides; side++) s->stride[side][d] = s->stride[side][d + 1];
    }
}

static void swap_dimensions(struct rmai_pattern *s, int a, int b) {
    const size_t count = s->count[a];
    s->count[a] = s->count[b];
    s->count[b] = count;
    for (int side = 0; side < s->sides; side++) {
        const ptrdiff_t stride = s->stride[side][a];
        s->stride[side][a] = s->stride[side][b];
        s->stride[side][b] = stride;
    }
}

/* 1 if dimension d continues the one before it, or for d = 0 the block, on each side. */
static int continues(const struct rmai_pattern *s, int d) {
    for (int side = 0; side < s->sides; side++) {
        const ptrdiff_t stride = s->stride[side][d];
        if (d == 0 ? stride != (ptrdiff_t)s->elem : stride != s->stride[side][d - 1] * (ptrdiff_t)s->count[d - 1])
            return 0;
    }
    return 1;
}

/* Orders the dimensions so that the walk writes memory from the lowest address on, as far as the dimensions allow, and
 * makes as few of them as possible: what is contiguous on all sides becomes one block. */
static void normalise(struct rmai_pattern *s, enum rmai_side written) {
    for (int d = s->dims - 1; d >= 0; d--)
        if (s->count[d] == 1) drop_dimension(s, d);
    for (int d = 0; d < s->dims; d++) {
        if (s->stride[RMAI_REMOTE][d] >= 0) continue;
        for (int side = 0; side < s->sides; side++) {
            s->first[side] += (ptrdiff_t)(s->count[d] - 1) * s->stride[side][d];
            s->stride[side][d] = -s->stride[side][d];
        }
    }
    for (int d = 1; d < s->dims; d++)
        for (int i = d; i > 0 && stride_length(s->stride[written][i]) < stride_length(s->stride[written][i - 1]); i--)
            swap_dimensions(s, i, i - 1);
    while (s->dims > 0 && continues(s, 0)) {
        s->elem *= s->count[0];
        drop_dimension(s, 0);
    }
    for (int d = s->dims - 1; d > 0; d--) {
        if (!continues(s, d)) continue;
        s->count[d - 1] *= s->count[d];
        drop_dimension(s, d);
    }
}

static int check_section(const struct rmai_pattern_call *c, int sides, const ptrdiff_t *const strides[RMAI_SIDES],
                         size_t elem, int dims, const size_t *count) {
    if (elem == 0) return rmai_error(RMA_ERR_ARG, "%s: elem is 0 bytes", c->call);
    if (dims < 0 || dims > RMA_DIMS_MAX)
        return rmai_error(RMA_ERR_ARG, "%s: dims %d is outside 0..%d", c->call, dims, RMA_DIMS_MAX);
    if (dims > 0 && !count) return rmai_error(RMA_ERR_ARG, "%s: count is a null pointer", c->call);
    for (int side = 0; side < sides && dims > 0; side++)
        if (!strides[side]) return rmai_error(RMA_ERR_ARG, "%s: %s_stride is a null pointer", c->call, c->names[side]);
    return RMA_SUCCESS;
}

int rmai_pattern_section(struct rmai_pattern *s, const struct rmai_pattern_call *c, int sides,
                         const ptrdiff_t *const strides[RMAI_SIDES], size_t elem, int dims, const size_t *count) {
    ptrdiff_t least[RMAI_SIDES] = {0}, end[RMAI_SIDES] = {0};
    int code = check_section(c, sides, strides, elem, dims, count);
    if (code != RMA_SUCCESS) return code;
    s->kind = RMAI_SECTION;
    s->doubtful = 0;
    s->sides = sides;
    s->dims = dims;
    s->elem = s->bytes = elem;
    for (int side = 0; side < sides; side++) s->first[side] = 0;
    for (int d = 0; d < dims; d++) {
        s->count[d] = count[d];
        if (count[d] == 0) s->bytes = 0;
    }
    if (s->bytes == 0) return RMA_SUCCESS;
    if (elem > PTRDIFF_MAX) return too_large(c->call, "elements");
    for (int d = 0; d < dims; d++)
        if (__builtin_mul_overflow(s->bytes, count[d], &s->bytes) || s->bytes > PTRDIFF_MAX)
            return too_large(c->call, "counts");
    for (int side = 0; side < sides; side++) {
        end[side] = (ptrdiff_t)elem;
        for (int d = 0; d < dims; d++) {
            s->stride[side][d] = strides[side][d];
            if (!add_span(strides[side][d], count[d], &least[side], &end[side])) return too_large(c->call, "strides");
        }
    }
    s->least = least[RMAI_REMOTE];
    s->end = end[RMAI_REMOTE];
    if (!span_fits(s)) return too_large(c->call, "strides");
    normalise(s, c->written);
    if ((code = check_section_apart(c, s, (int)c->written)) != RMA_SUCCESS) return code;
    return sides > RMAI_BEFORE && c->written != RMAI_BEFORE ? check_section_apart(c, s, RMAI_BEFORE) : RMA_SUCCESS;
}

int rmai_pattern_contiguous(struct rmai_pattern *s, const struct rmai_pattern_call *c, int sides, size_t elem,
                            size_t n) {
    s->kind = RMAI_SECTION;
    s->doubtful = 0;
    s->sides = sides;
    s->dims = 0;
    s->least = 0;
    for (int side = 0; side < sides; side++) s->first[side] = 0;
    if (__builtin_mul_overflow(elem, n, &s->bytes) || s->bytes > PTRDIFF_MAX)
        return rmai_error(RMA_ERR_ARG, "%s: %zu elements of %zu bytes overflow an address", c->call, n, elem);
    s->elem = s->bytes;
    s->end = (ptrdiff_t)s->bytes;
    return RMA_SUCCESS;
}

/* ---- indices ---- */

int rmai_pattern_indexed(struct rmai_pattern *s, const struct rmai_pattern_call *c, int sides, const ptrdiff_t *index,
                         size_t elem, size_t n) {
    ptrdiff_t least = PTRDIFF_MAX, greatest = PTRDIFF_MIN;
    if (elem == 0) return rmai_error(RMA_ERR_ARG, "%s: elem is 0 bytes", c->call);
    if (n > 0 && !index) return rmai_error(RMA_ERR_ARG, "%s: index is a null pointer", c->call);
    s->kind = RMAI_INDEXED;
    s->sides = sides;
    s->elem = elem;
    s->index = index;
    s->n = n;
    if (__builtin_mul_overflow(elem, n, &s->bytes) || s->bytes > PTRDIFF_MAX) return too_large(c->call, "elements");
    if (n == 0) return RMA_SUCCESS;
    for (size_t i = 0; i < n; i++) {
        if (index[i] < least) least = index[i];
        if (index[i] > greatest) greatest = index[i];
    }
    if (__builtin_mul_overflow(least, elem, &s->least) || __builtin_mul_overflow(greatest, elem, &s->end) ||
        __builtin_add_overflow(s->end, elem, &s->end))
        return too_large(c->call, "indices");
    return span_fits(s) ? RMA_SUCCESS : too_large(c->call, "indices");
}

/* ---- blocks ---- */

static int add_up(const struct rmai_pattern_call *c, const struct rmai_pattern *s, int side, size_t elem, size_t grain,
                  size_t *sum) {
    *sum = 0;
    for (size_t i = 0; i < s->listed[side]; i++) {
        const struct rma_block *b = &s->list[side][i];
        ptrdiff_t end;
        if (__builtin_add_overflow(*sum, b->len, sum) || *sum > PTRDIFF_MAX ||
            __builtin_add_overflow(b->offset, b->len, &end))
            return too_large(c->call, "blocks");
        if (b->len % elem != 0 || b->offset % (ptrdiff_t)grain != 0)
            return rmai_error(RMA_ERR_ARG,
                              "%s: block %zu of %s, offset %td with %zu bytes, is not made of elements of %zu bytes",
                              c->call, i, c->names[side], b->offset, b->len, elem);
    }
    return RMA_SUCCESS;
}

int rmai_pattern_blocks(struct rmai_pattern *s, const struct rmai_pattern_call *c, int sides,
                        const struct rma_block *const list[RMAI_SIDES], const size_t listed[RMAI_SIDES], size_t elem,
                        size_t grain) {
    size_t sum;
    int code, given = -1;
    s->kind = RMAI_BLOCKS;
    s->sides = sides;
    s->bytes = 0;
    for (int side = 0; side < sides; side++) {
        s->list[side] = list[side];
        s->listed[side] = listed[side];
        if (!list[side]) continue;
        code = add_up(c, s, side, elem, grain, &sum);
        if (code != RMA_SUCCESS) return code;
        if (given >= 0 && sum != s->bytes)
            return rmai_error(RMA_ERR_ARG, "%s: the blocks of %s have %zu bytes, those of %s %zu", c->call,
                              c->names[given], s->bytes, c->names[side], sum);
        given = side;
        s->bytes = sum;
    }
    if (given < 0 && listed[RMAI_REMOTE] == 0 && listed[RMAI_LOCAL] == 0) return RMA_SUCCESS;
    if (given < 0) return rmai_error(RMA_ERR_ARG, "%s: all lists of blocks are null pointers", c->call);
    for (int side = 0; side < sides; side++) {
        if (list[side]) continue;
        s->whole[side] = (struct rma_block){0, s->bytes};
        s->list[side] = &s->whole[side];
        s->listed[side] = 1;
    }
    s->least = PTRDIFF_MAX;
    s->end = PTRDIFF_MIN;
    for (size_t i = 0; i < s->listed[RMAI_REMOTE]; i++) {
        const struct rma_block *b = &s->list[RMAI_REMOTE][i];
        if (!b->len) continue;
        if (b->offset < s->least) s->least = b->offset;
        if (b->offset + (ptrdiff_t)b->len > s->end) s->end = b->offset + (ptrdiff_t)b->len;
    }
    if (s->bytes && !span_fits(s)) return too_large(c->call, "blocks");
    return c->checks && s->bytes ? check_blocks_apart(c, s) : RMA_SUCCESS;
}

/* ---- the walk ---- */

static int next_of_section(struct rmai_walk *w, struct rmai_run *run) {
    const struct rmai_pattern *s = w->s;
    int d = 1;
    if (!w->begun) {
        w->begun = 1;
        run->len = s->elem;
        run->n = s->dims > 0 ? s->count[0] : 1;
        for (int side = 0; side < s->sides; side++) {
            w->at[side] = s->first[side];
            run->step[side] = s->dims > 0 ? s->stride[side][0] : 0;
        }
    } else {
        for (;; d++) {
            if (d >= s->dims) return 0;
            for (int side = 0; side < s->sides; side++) w->at[side] += s->stride[side][d];
            if (++w->place[d] < s->count[d]) break;
            for (int side = 0; side < s->sides; side++) w->at[side] -= (ptrdiff_t)s->count[d] * s->stride[side][d];
            w->place[d] = 0;
        }
    }
    for (int side = 0; side < s->sides; side++) run->at[side] = w->at[side];
    return 1;
}

static int next_of_indexed(struct rmai_walk *w, struct rmai_run *run) {
    const struct rmai_pattern *s = w->s;
    const size_t i = w->place[0]++;
    if (i >= s->n) return 0;
    run->len = s->elem;
    run->n = 1;
    run->at[RMAI_REMOTE] = s->index[i] * (ptrdiff_t)s->elem;
    for (int side = RMAI_LOCAL; side < s->sides; side++) run->at[side] = (ptrdiff_t)(i * s->elem);
    for (int side = 0; side < s->sides; side++) run->step[side] = 0;
    return 1;
}

static int next_of_blocks(struct rmai_walk *w, struct rmai_run *run) {
    const struct rmai_pattern *s = w->s;
    run->n = 1;
    run->len = SIZE_MAX;
    for (int side = 0; side < s->sides; side++) {
        while (w->of[side].i < s->listed[side] && w->of[side].done == s->list[side][w->of[side].i].len) {
            w->of[side].i++;
            w->of[side].done = 0;
        }
        if (w->of[side].i == s->listed[side]) return 0;
        run->at[side] = s->list[side][w->of[side].i].offset + (ptrdiff_t)w->of[side].done;
        run->len = rmai_min(run->len, s->list[side][w->of[side].i].len - w->of[side].done);
        run->step[side] = 0;
    }
    for (int side = 0; side < s->sides; side++) w->of[side].done += run->len;
    return 1;
}

int rmai_pattern_next(struct rmai_walk *w, struct rmai_run *run) {
    switch (w->s->kind) {
        case RMAI_SECTION: return next_of_section(w, run);
        case RMAI_INDEXED: return next_of_indexed(w, run);
        default: return next_of_blocks(w, run);
    }
}

/* ---- copies ---- */

/* With a constant size each element is one load and one store, of 16 bytes two. */
#define EACH for (size_t i = 0; i < n; i++, to += to_step, from += from_step)
#define MOVE(SIZE)                                                                                                     \
    case SIZE:                                                                                                         \
        if ((((uintptr_t)to | (uintptr_t)to_step) & (rmai_min(SIZE, 8) - 1)) == 0)                                     \
            EACH rma_move_words_(to, from, SIZE);                                                                      \
        else                                                                                                           \
            EACH rma_move_(to, from, SIZE);                                                                            \
        break

void rmai_move_strided(char *to, const char *from, ptrdiff_t to_step, ptrdiff_t from_step, size_t elem, size_t n) {
    switch (elem) {
        MOVE(1);
        MOVE(2);
        MOVE(4);
        MOVE(8);
        MOVE(16);
        default: EACH rma_move_(to, from, elem);
    }
}

#define MOVE_INDEXED(SIZE, TO, FROM, AT)                                                                               \
    case SIZE:                                                                                                         \
        if (((uintptr_t)(AT) & (rmai_min(SIZE, 8) - 1)) == 0)                                                          \
            for (size_t i = 0; i < n; i++) rma_move_words_(TO, FROM, SIZE);                                            \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) rma_move_(TO, FROM, SIZE);                                                  \
        break
#define EACH_INDEXED(TO, FROM, AT)                                                                                     \
    switch (elem) {                                                                                                    \
        MOVE_INDEXED(4, TO, FROM, AT);                                                                                 \
        MOVE_INDEXED(8, TO, FROM, AT);                                                                                 \
        MOVE_INDEXED(16, TO, FROM, AT);                                                                                \
        default:                                                                                                       \
            for (size_t i = 0; i < n; i++) rma_move_(TO, FROM, elem);                                                  \
    }

void rmai_scatter(char *array, const char *from, const ptrdiff_t *index, size_t elem, size_t n) {
    EACH_INDEXED(array + index[i] * (ptrdiff_t)elem, from + i * elem, array)
}

void rmai_gather(char *to, const char *array, const ptrdiff_t *index, size_t elem, size_t n) {
    EACH_INDEXED(to + i * elem, array + index[i] * (ptrdiff_t)elem, to)
}
