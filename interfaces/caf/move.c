/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers. Where load and store reach the other image, they copy at once. Between nodes they are puts and gets of
 * librma, which may overtake each other on the way to one image. But Fortran orders the statements of an image. So this
 * module records the puts under way, as ranges of bytes for each of a few images, and a transfer that meets such a
 * range first completes the puts.
 *
 * A pointer component may point to memory that librma does not know. Its owner's side accesses it, or on a node the
 * kernel; such a transfer is complete when it returns. */
#include "config.h"

#include "interfaces/caf/move.h"

#include <stdlib.h>
#include <string.h>

/* ---- puts under way to other nodes ---- */

#define SLOTS 16

struct range {
    rma_gptr_t low, high; /* empty if high is 0 */
};

/* The ranges of the puts to an image: since the last synchronization with it, and between that and the one before. When
 * this image synchronizes with another one for the second time, the other one has seen the first synchronization, and
 * the puts before that are complete. */
static RMAI_CAF_STATE struct slot {
    int pe;
    struct range now, before;
} slots[SLOTS];

static int meets(struct range r, rma_gptr_t first, rma_gptr_t past) { return first < r.high && r.low < past; }

/* Bytes low to high from `at` are about to be written (put is 1) or read. A slot serves the images whose numbers leave
 * the same remainder. */
static void order(struct rmai_caf_place at, ptrdiff_t low, ptrdiff_t high, int put) {
    rma_gptr_t first = at.far + (rma_gptr_t)low, past = at.far + (rma_gptr_t)high;
    struct slot *s = &slots[at.pe % SLOTS];
    int in_use = (s->now.high | s->before.high) != 0;
    if (meets(s->now, first, past) || meets(s->before, first, past) || (put && in_use && s->pe != at.pe)) {
        rmai_caf_must(rma_quiet());
        memset(slots, 0, sizeof slots);
    }
    if (!put) return;
    s->pe = at.pe;
    if (!s->now.high || first < s->now.low) s->now.low = first;
    if (past > s->now.high) s->now.high = past;
}

void rmai_caf_synchronized(int pe) {
    struct slot *s = &slots[pe % SLOTS];
    if (s->pe != pe) return;
    s->before = s->now;
    s->now.high = 0;
}

/* ---- one piece ---- */

static void move_foreign(const char *statement, const struct rmai_caf_remote *remote,
                         const struct rmai_caf_local *local, const struct rmai_caf_box *box, size_t elem, int put);

static const struct rmai_caf_box one_element = {.n = 1};

void rmai_caf_write_far(const char *statement, struct rmai_caf_place to, const void *from, size_t len) {
    if (!to.far) {
        const struct rmai_caf_local here = {.base = (char *)(uintptr_t)from};
        move_foreign(statement, &(struct rmai_caf_remote){.at = to}, &here, &one_element, len, 1);
    } else {
        order(to, 0, (ptrdiff_t)len, 1);
        /* Until an image control statement no image may wait for it. */
        rmai_caf_must(to.known && len ? rma_put_within_(to.far, from, len, 1) : rma_put_gathered_(to.far, from, len));
    }
}

void rmai_caf_read_far(const char *statement, void *to, struct rmai_caf_place from, size_t len) {
    if (!from.far) {
        const struct rmai_caf_local here = {.base = to};
        move_foreign(statement, &(struct rmai_caf_remote){.at = from}, &here, &one_element, len, 0);
    } else {
        order(from, 0, (ptrdiff_t)len, 0);
        rmai_caf_must(rma_gptr_get(to, from.far, len));
    }
}

/* ---- boxes ---- */

void rmai_caf_box_packed(const struct rmai_caf_box *box, size_t elem, ptrdiff_t *strides) {
    ptrdiff_t stride = (ptrdiff_t)elem;
    for (int d = 0; d < box->dims; d++) {
        strides[d] = stride;
        stride *= (ptrdiff_t)box->count[d];
    }
}

/* 1 if the elements follow each other without gaps, in their order. */
static int is_packed(const struct rmai_caf_box *box, size_t elem, const ptrdiff_t *strides) {
    ptrdiff_t stride = (ptrdiff_t)elem;
    for (int d = 0; d < box->dims; d++) {
        if (strides[d] != stride && box->count[d] > 1) return 0;
        stride *= (ptrdiff_t)box->count[d];
    }
    return 1;
}

void rmai_caf_hull(const struct rmai_caf_remote *remote, const struct rmai_caf_box *box, size_t elem, ptrdiff_t *low,
                   ptrdiff_t *high) {
    *low = *high = remote->list ? remote->list[0] : 0;
    for (size_t i = 1; remote->list && i < box->n; i++) {
        if (remote->list[i] < *low) *low = remote->list[i];
        if (remote->list[i] > *high) *high = remote->list[i];
    }
    for (int d = 0; d < box->dims && !remote->list; d++) {
        ptrdiff_t last = rmai_caf_distance(1, (ptrdiff_t)box->count[d], remote->stride[d]);
        *(last < 0 ? low : high) += last;
    }
    *high += (ptrdiff_t)elem;
}

/* A row of n elements. The switch is outside of the loops, so that each copies words. */
static void copy_row(char *to, ptrdiff_t ts, const char *from, ptrdiff_t fs, size_t n, size_t elem) {
#define ROW(BYTES)                                                                                                     \
    for (; n > 0; n--, to += ts, from += fs) memcpy(to, from, BYTES);
    if (ts == (ptrdiff_t)elem && fs == (ptrdiff_t)elem) {
        memcpy(to, from, n * elem);
        return;
    }
    switch (elem) {
        case 1: ROW(1) break;
        case 2: ROW(2) break;
        case 4: ROW(4) break;
        case 8: ROW(8) break;
        case 16: ROW(16) break;
        default: ROW(elem)
    }
#undef ROW
}

void rmai_caf_copy(char *to, const ptrdiff_t *to_stride, const char *from, const ptrdiff_t *from_stride,
                   const struct rmai_caf_box *box, size_t elem) {
    const size_t inner = box->dims ? box->count[0] : 1;
    const ptrdiff_t ts = box->dims ? to_stride[0] : 0, fs = box->dims ? from_stride[0] : 0;
    struct rmai_caf_rows w = {.to = to, .from = from};
    if (box->n == 0) return;
    do copy_row(w.to, ts, w.from, fs, inner, elem);
    while (rmai_caf_next_row(&w, box, to_stride, from_stride));
}

/* n elements that are contiguous on this side, and by a list of offsets on the other. */
static void copy_list(char *there, const ptrdiff_t *list, char *here, size_t n, size_t elem, int put) {
#define LIST(BYTES)                                                                                                    \
    if (put)                                                                                                           \
        for (size_t i = 0; i < n; i++) memcpy(there + list[i], here + i * elem, BYTES);                                \
    else                                                                                                               \
        for (size_t i = 0; i < n; i++) memcpy(here + i * elem, there + list[i], BYTES);
    switch (elem) {
        case 4: LIST(4) break;
        case 8: LIST(8) break;
        default: LIST(elem)
    }
#undef LIST
}

/* ---- other nodes, and memory that librma does not know ---- */

/* The bytes of a list's elements as blocks; NULL if the elements follow each other by strides. */
static struct rma_block *blocks_of(const char *statement, const struct rmai_caf_remote *remote, size_t n, size_t elem) {
    if (!remote->list) return NULL;
    struct rma_block *block = rmai_caf_array(statement, n, sizeof *block);
    for (size_t i = 0; i < n; i++) block[i] = (struct rma_block){.offset = remote->list[i], .len = elem};
    return block;
}

static RMAI_COLD void move_foreign(const char *statement, const struct rmai_caf_remote *remote,
                                   const struct rmai_caf_local *local, const struct rmai_caf_box *box, size_t elem,
                                   int put) {
    const uint64_t at = remote->at.foreign;
    const int pe = remote->at.pe;
    struct rma_block *block = blocks_of(statement, remote, box->n, elem);
    int code;
    rma_errors_recorded_ = 1;
    if (block)
        code = put ? rma_put_blocks_at_(statement, pe, at, local->base, block, box->n, NULL, 0)
                   : rma_get_blocks_at_(statement, pe, at, local->base, NULL, 0, block, box->n);
    else
        code = put ? rma_put_section_at_(statement, pe, at, local->base, remote->stride, local->stride, elem, box->dims,
                                         box->count)
                   : rma_get_section_at_(statement, pe, at, local->base, local->stride, remote->stride, elem, box->dims,
                                         box->count);
    rma_errors_recorded_ = 0;
    free(block);
    if (code == RMA_SUCCESS) return;
    rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_ARGUMENT,
                    "%s: memory of image %d, to which a component points: %s", statement, pe + 1, rma_last_error());
}

/* A list whose offsets are multiples of the elements' size is shorter as indices. */
static int move_indexed(const struct rmai_caf_remote *remote, const struct rmai_caf_local *local, size_t n, size_t elem,
                        int put) {
    ptrdiff_t *index = malloc(n * sizeof *index);
    int are_indices = index != NULL;
    for (size_t i = 0; are_indices && i < n; i++) {
        index[i] = remote->list[i] / (ptrdiff_t)elem;
        are_indices = index[i] * (ptrdiff_t)elem == remote->list[i];
    }
    if (are_indices)
        rmai_caf_must(put ? rma_gptr_put_indexed(remote->at.far, local->base, index, elem, n)
                          : rma_gptr_get_indexed(local->base, remote->at.far, index, elem, n));
    free(index);
    return are_indices;
}

static void move_far(const char *statement, const struct rmai_caf_remote *remote, const struct rmai_caf_local *local,
                     const struct rmai_caf_box *box, size_t elem, int put) {
    ptrdiff_t low, high;
    const rma_gptr_t at = remote->at.far;
    rmai_caf_hull(remote, box, elem, &low, &high);
    order(remote->at, low, high, put);
    if (remote->list && move_indexed(remote, local, box->n, elem, put)) return;
    struct rma_block *block = blocks_of(statement, remote, box->n, elem);
    if (block)
        rmai_caf_must(put ? rma_gptr_put_blocks(at, local->base, block, box->n, NULL, 0)
                          : rma_gptr_get_blocks(local->base, at, NULL, 0, block, box->n));
    else
        rmai_caf_must(
            put ? rma_gptr_put_section(at, local->base, remote->stride, local->stride, elem, box->dims, box->count)
                : rma_gptr_get_section(local->base, at, local->stride, remote->stride, elem, box->dims, box->count));
    free(block);
}

/* ---- any box ---- */

static void move_box(const char *statement, const struct rmai_caf_remote *remote, const struct rmai_caf_local *local,
                     const struct rmai_caf_box *box, size_t elem, int put);

/* The elements of a list, by way of an array in which they are contiguous. */
static void move_packed(const char *statement, const struct rmai_caf_remote *remote, const struct rmai_caf_local *local,
                        const struct rmai_caf_box *box, size_t elem, int put) {
    struct rmai_caf_local packed = {.base = rmai_caf_array(statement, box->n, elem)};
    rmai_caf_box_packed(box, elem, packed.stride);
    if (put) rmai_caf_copy(packed.base, packed.stride, local->base, local->stride, box, elem);
    move_box(statement, remote, &packed, box, elem, put);
    if (!put) rmai_caf_copy(local->base, local->stride, packed.base, packed.stride, box, elem);
    free(packed.base);
}

static void move_box(const char *statement, const struct rmai_caf_remote *remote, const struct rmai_caf_local *local,
                     const struct rmai_caf_box *box, size_t elem, int put) {
    char *near = remote->at.near;
    if (box->n == 0 || elem == 0) return;
    const int packed = is_packed(box, elem, local->stride);
    if (remote->list && !packed)
        move_packed(statement, remote, local, box, elem, put);
    else if (!near && !remote->at.far)
        move_foreign(statement, remote, local, box, elem, put);
    else if (remote->list && near)
        copy_list(near, remote->list, local->base, box->n, elem, put);
    else if (packed && !remote->list && is_packed(box, elem, remote->stride))
        put ? rmai_caf_write(statement, remote->at, local->base, box->n * elem)
            : rmai_caf_read(statement, local->base, remote->at, box->n * elem);
    else if (!near)
        move_far(statement, remote, local, box, elem, put);
    else if (put)
        rmai_caf_copy(near, remote->stride, local->base, local->stride, box, elem);
    else
        rmai_caf_copy(local->base, local->stride, near, remote->stride, box, elem);
}

void rmai_caf_put(const char *statement, const struct rmai_caf_remote *to, const struct rmai_caf_local *from,
                  const struct rmai_caf_box *box, size_t elem) {
    move_box(statement, to, from, box, elem, 1);
}

void rmai_caf_get(const char *statement, const struct rmai_caf_local *to, const struct rmai_caf_remote *from,
                  const struct rmai_caf_box *box, size_t elem) {
    move_box(statement, from, to, box, elem, 0);
}

/* ---- one row ---- */

static void move_row(const char *statement, struct rmai_caf_place there, char *here, const struct rmai_caf_row *row,
                     int put) {
    const struct rmai_caf_remote remote = {.at = there, .stride = {row->there}};
    const struct rmai_caf_local local = {.base = here, .stride = {row->here}};
    const struct rmai_caf_box box = {.dims = 1, .n = row->n, .count = {row->n}};
    move_box(statement, &remote, &local, &box, row->elem, put);
}

void rmai_caf_put_steps(const char *statement, struct rmai_caf_place to, char *from, const struct rmai_caf_row *row) {
    if (to.near)
        copy_row(to.near, row->there, from, row->here, row->n, row->elem);
    else
        move_row(statement, to, from, row, 1);
}

void rmai_caf_get_steps(const char *statement, char *to, struct rmai_caf_place from, const struct rmai_caf_row *row) {
    if (from.near)
        copy_row(to, row->here, from.near, row->there, row->n, row->elem);
    else
        move_row(statement, from, to, row, 0);
}
