/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers between images: boxes of elements, contiguous or with strides, or elements by a list. */
#ifndef RMAI_CAF_MOVE_H
#define RMAI_CAF_MOVE_H

#include "interfaces/caf/coarray.h"
#include "interfaces/caf/core.h"

#include <string.h>

#define RMAI_CAF_DIMS 15

/* The shape of a transfer: how many elements it has in each dimension. Each side has strides in bytes, which may be
 * negative, or 0 on the side that is read. */
struct rmai_caf_box {
    int dims;
    size_t n; /* of all elements */
    size_t count[RMAI_CAF_DIMS];
};

/* The elements of this image. */
struct rmai_caf_local {
    char *base;
    ptrdiff_t stride[RMAI_CAF_DIMS];
};

/* The elements of some image: by strides, or by a list of n offsets in bytes. */
struct rmai_caf_remote {
    struct rmai_caf_place at;
    ptrdiff_t stride[RMAI_CAF_DIMS];
    ptrdiff_t *list;
};

/* What an element is, as gfortran numbers types. */
enum rmai_caf_kind_of_type {
    RMAI_CAF_INTEGER = 1,
    RMAI_CAF_LOGICAL = 2,
    RMAI_CAF_REAL = 3,
    RMAI_CAF_COMPLEX = 4,
    RMAI_CAF_DERIVED = 5,
    RMAI_CAF_CHARACTER = 6
};
struct rmai_caf_type {
    int type, kind;
    size_t elem; /* bytes */
};

/* rmai_caf_box_add appends a dimension to a box, which is {.n = 1} at first. An empty dimension may have a count below
 * 0. A number of elements that does not fit counts as SIZE_MAX. */
static inline int rmai_caf_box_add(struct rmai_caf_box *box, ptrdiff_t count) {
    box->count[box->dims] = count > 0 ? (size_t)count : 0;
    if (__builtin_mul_overflow(box->n, box->count[box->dims], &box->n)) box->n = SIZE_MAX;
    return box->dims++;
}

/* rmai_caf_distance returns the bytes between two elements of a dimension with this stride. A distance that no memory
 * has becomes one of 2^58 bytes, so that sums of distances do not wrap. */
static inline ptrdiff_t rmai_caf_distance(ptrdiff_t from, ptrdiff_t to, ptrdiff_t stride) {
    const ptrdiff_t most = (ptrdiff_t)1 << 58;
    __extension__ const __int128 bytes = (__extension__(__int128) to - from) * stride;
    return bytes > most ? most : bytes < -most ? -most : (ptrdiff_t)bytes;
}

/* rmai_caf_hull writes the range of bytes, from the first element on, in which the elements of a box lie that is not
 * empty: [*low, *high). */
void rmai_caf_hull(const struct rmai_caf_remote *remote, const struct rmai_caf_box *box, size_t elem, ptrdiff_t *low,
                   ptrdiff_t *high);

/* rmai_caf_box_packed makes `strides` those of a contiguous array of elem bytes with the shape of box. */
void rmai_caf_box_packed(const struct rmai_caf_box *box, size_t elem, ptrdiff_t *strides);

/* rmai_caf_put and rmai_caf_get move the elements of box, which have elem bytes, to and from an image. A put is
 * complete after the next synchronization; puts and gets of this image to the same bytes take effect in their order. */
void rmai_caf_put(const char *statement, const struct rmai_caf_remote *to, const struct rmai_caf_local *from,
                  const struct rmai_caf_box *box, size_t elem);
void rmai_caf_get(const char *statement, const struct rmai_caf_local *to, const struct rmai_caf_remote *from,
                  const struct rmai_caf_box *box, size_t elem);

/* rmai_caf_read and rmai_caf_write move len bytes between here and a place. */
void rmai_caf_read_far(const char *statement, void *to, struct rmai_caf_place from, size_t len);
void rmai_caf_write_far(const char *statement, struct rmai_caf_place to, const void *from, size_t len);

static inline void rmai_caf_copy_short(char *to, const char *from, size_t len) {
    switch (len) {
        case 4: memcpy(to, from, 4); break;
        case 8: memcpy(to, from, 8); break;
        default: memmove(to, from, len);
    }
}

static inline void rmai_caf_write(const char *statement, struct rmai_caf_place to, const void *from, size_t len) {
    if (__builtin_expect(to.near != NULL, 1))
        rmai_caf_copy_short(to.near, from, len);
    else
        rmai_caf_write_far(statement, to, from, len);
}

static inline void rmai_caf_read(const char *statement, void *to, struct rmai_caf_place from, size_t len) {
    if (__builtin_expect(from.near != NULL, 1))
        rmai_caf_copy_short(to, from.near, len);
    else
        rmai_caf_read_far(statement, to, from, len);
}

/* rmai_caf_put_row and rmai_caf_get_row do the same for one dimension of n > 0 elements. The place and the address are
 * those of the first one; the strides count bytes. */
struct rmai_caf_row {
    size_t n, elem;
    ptrdiff_t there, here;
};
void rmai_caf_put_steps(const char *statement, struct rmai_caf_place to, char *from, const struct rmai_caf_row *row);
void rmai_caf_get_steps(const char *statement, char *to, struct rmai_caf_place from, const struct rmai_caf_row *row);

static inline int rmai_caf_row_is_packed(const struct rmai_caf_row *row) {
    const ptrdiff_t elem = (ptrdiff_t)row->elem;
    return row->n == 1 || (row->there == elem && row->here == elem);
}

static inline void rmai_caf_put_row(const char *statement, struct rmai_caf_place to, char *from,
                                    const struct rmai_caf_row *row) {
    if (rmai_caf_row_is_packed(row))
        rmai_caf_write(statement, to, from, row->n * row->elem);
    else
        rmai_caf_put_steps(statement, to, from, row);
}

static inline void rmai_caf_get_row(const char *statement, char *to, struct rmai_caf_place from,
                                    const struct rmai_caf_row *row) {
    if (rmai_caf_row_is_packed(row))
        rmai_caf_read(statement, to, from, row->n * row->elem);
    else
        rmai_caf_get_steps(statement, to, from, row);
}

/* rmai_caf_synchronized: this image has executed SYNC IMAGES with the one on pe. */
void rmai_caf_synchronized(int pe);

/* A walk through the rows of a box, which are its first dimension, on two sides of this process. Begin with the address
 * of the first element on each side. rmai_caf_next_row goes to the next row, and returns 0 after the last one. */
struct rmai_caf_rows {
    char *to;
    const char *from;
    size_t at[RMAI_CAF_DIMS];
};
static inline int rmai_caf_next_row(struct rmai_caf_rows *w, const struct rmai_caf_box *box, const ptrdiff_t *to_stride,
                                    const ptrdiff_t *from_stride) {
    for (int d = 1; d < box->dims; d++) {
        w->to += to_stride[d], w->from += from_stride[d];
        if (++w->at[d] < box->count[d]) return 1;
        w->to -= to_stride[d] * (ptrdiff_t)box->count[d], w->from -= from_stride[d] * (ptrdiff_t)box->count[d];
        w->at[d] = 0;
    }
    return 0;
}

/* rmai_caf_copy copies between two places of this process; the elements must not overlap. */
void rmai_caf_copy(char *to, const ptrdiff_t *to_stride, const char *from, const ptrdiff_t *from_stride,
                   const struct rmai_caf_box *box, size_t elem);

/* rmai_caf_same_type: 1 if elements need no conversion. rmai_caf_convert assigns each element of from to one of to,
 * with the conversion of Fortran's assignment. Returns 0 if there is none between the two types. */
static inline int rmai_caf_same_type(struct rmai_caf_type a, struct rmai_caf_type b) {
    return a.type == b.type && a.elem == b.elem && (a.kind == b.kind || a.type == RMAI_CAF_DERIVED);
}
int rmai_caf_convert(char *to, const ptrdiff_t *to_stride, struct rmai_caf_type to_type, const char *from,
                     const ptrdiff_t *from_stride, struct rmai_caf_type from_type, const struct rmai_caf_box *box);

#endif
