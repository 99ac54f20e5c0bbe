/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers. Where load and store reach the other image, they copy at once. Between nodes they are puts and gets of
 * librma, which may overtake each other on the way to one image. But Fortran orders the statements of an image. So this
 * module records the puts under way, as ranges of bytes for each of a few images, and a transfer that meets such a
 * range first completes the puts.
 *
 * A pointer component may point to memory that librma does not know. On a node the kernel copies from and to it. */
#include "config.h"

#include "caf/move.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* ---- puts under way to other nodes ---- */

#define SLOTS 16

struct range {
    rma_gptr_t low, high; /* empty if high is 0 */
};

/* The ranges of the puts to an image: since the last synchronization with it, and between that and the one before. When
 * this image synchronizes with another one for the second time, the other one has seen the first synchronization, and
 * the puts before that are complete. */
static struct slot {
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

/* ---- memory that librma does not know ---- */

static RMAI_COLD void copy_by_kernel(const char *statement, struct rmai_caf_place at, void *here, size_t len, int put) {
    struct iovec local = {.iov_base = here, .iov_len = len};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)at.foreign, .iov_len = len};
    if (at.pe == rmai_caf.me) {
        memmove(put ? remote.iov_base : here, put ? here : remote.iov_base, len);
        return;
    }
    if (!at.foreign) {
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_ARGUMENT,
                        "%s: a component on image %d is not allocated or not associated", statement, at.pe + 1);
    } else if (!rma_on_node(at.pe)) {
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_ARGUMENT,
                        "%s: a pointer component on image %d points to memory that is no coarray nor allocated in one, "
                        "and the image is on another node",
                        statement, at.pe + 1);
    } else {
        pid_t pid = (pid_t)rma_g_uint64(&rmai_caf.self->pid, at.pe);
        ssize_t done =
            put ? process_vm_writev(pid, &local, 1, &remote, 1, 0) : process_vm_readv(pid, &local, 1, &remote, 1, 0);
        if (done == (ssize_t)len) return;
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_ARGUMENT,
                        "%s: %zu bytes at %p of image %d, to which a component points, cannot be copied: %s", statement,
                        len, remote.iov_base, at.pe + 1, strerror(errno));
    }
}

/* ---- one piece ---- */

static inline void copy_short(char *to, const char *from, size_t len) {
    switch (len) {
        case 4: memcpy(to, from, 4); break;
        case 8: memcpy(to, from, 8); break;
        default: memmove(to, from, len);
    }
}

void rmai_caf_write(const char *statement, struct rmai_caf_place to, const void *from, size_t len) {
    if (__builtin_expect(to.near != NULL, 1)) {
        copy_short(to.near, from, len);
    } else if (!to.far) {
        copy_by_kernel(statement, to, (void *)(uintptr_t)from, len, 1);
    } else {
        order(to, 0, (ptrdiff_t)len, 1);
        /* Until an image control statement no image may wait for it. */
        rmai_caf_must(rma_put_gathered_(to.far, from, len));
    }
}

void rmai_caf_read(const char *statement, void *to, struct rmai_caf_place from, size_t len) {
    if (__builtin_expect(from.near != NULL, 1)) {
        copy_short(to, from.near, len);
    } else if (!from.far) {
        copy_by_kernel(statement, from, to, len, 0);
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
    size_t inner = box->dims ? box->count[0] : 1, at[RMAI_CAF_DIMS] = {0};
    ptrdiff_t ts = box->dims ? to_stride[0] : 0, fs = box->dims ? from_stride[0] : 0;
    if (box->n == 0) return;
    for (;;) {
        copy_row(to, ts, from, fs, inner, elem);
        int d = 1;
        for (; d < box->dims; d++) {
            to += to_stride[d], from += from_stride[d];
            if (++at[d] < box->count[d]) break;
            to -= to_stride[d] * (ptrdiff_t)box->count[d], from -= from_stride[d] * (ptrdiff_t)box->count[d];
            at[d] = 0;
        }
        if (d >= box->dims) return;
    }
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

/* Calls visit for each element, with its offset on both sides: for lists, and for memory that librma does not know. */
struct walk {
    const char *statement;
    struct rmai_caf_place at;
    char *here;
    size_t elem;
    int put;
};

static void visit(const struct walk *w, ptrdiff_t there, ptrdiff_t here) {
    if (w->put)
        rmai_caf_write(w->statement, rmai_caf_place_at(w->at, there), w->here + here, w->elem);
    else
        rmai_caf_read(w->statement, w->here + here, rmai_caf_place_at(w->at, there), w->elem);
}

static void walk_box(const struct walk *w, const struct rmai_caf_remote *remote, const ptrdiff_t *local_stride,
                     const struct rmai_caf_box *box) {
    size_t at[RMAI_CAF_DIMS] = {0};
    ptrdiff_t there = 0, here = 0;
    for (size_t i = 0; i < box->n; i++) {
        visit(w, remote->list ? remote->list[i] : there, here);
        for (int d = 0; d < box->dims; d++) {
            here += local_stride[d], there += remote->stride[d];
            if (++at[d] < box->count[d]) break;
            here -= local_stride[d] * (ptrdiff_t)box->count[d], there -= remote->stride[d] * (ptrdiff_t)box->count[d];
            at[d] = 0;
        }
    }
}

/* A list of elements of an image of another node, in one call of librma. Returns 0 where it has no such call: the list
 * is no multiple of the elements' size, or the elements here are not contiguous. */
static ptrdiff_t *indices_of(const struct rmai_caf_remote *remote, const ptrdiff_t *local_stride,
                             const struct rmai_caf_box *box, size_t elem) {
    if (!is_packed(box, elem, local_stride)) return NULL;
    ptrdiff_t *index = malloc(box->n * sizeof *index);
    for (size_t i = 0; index && i < box->n; i++) {
        index[i] = remote->list[i] / (ptrdiff_t)elem;
        if (index[i] * (ptrdiff_t)elem == remote->list[i]) continue;
        free(index);
        return NULL;
    }
    return index;
}

static int get_list(const struct rmai_caf_remote *from, const struct rmai_caf_local *to, const struct rmai_caf_box *box,
                    size_t elem) {
    ptrdiff_t low, high, *index = indices_of(from, to->stride, box, elem);
    if (!index) return 0;
    rmai_caf_hull(from, box, elem, &low, &high);
    order(from->at, low, high, 0);
    rmai_caf_must(rma_gptr_get_indexed(to->base, from->at.far, index, elem, box->n));
    free(index);
    return 1;
}

static int put_list(const struct rmai_caf_remote *to, const struct rmai_caf_local *from, const struct rmai_caf_box *box,
                    size_t elem) {
    ptrdiff_t low, high, *index = indices_of(to, from->stride, box, elem);
    if (!index) return 0;
    rmai_caf_hull(to, box, elem, &low, &high);
    order(to->at, low, high, 1);
    rmai_caf_must(rma_gptr_put_indexed(to->at.far, from->base, index, elem, box->n));
    free(index);
    return 1;
}

void rmai_caf_put(const char *statement, const struct rmai_caf_remote *to, const struct rmai_caf_local *from,
                  const struct rmai_caf_box *box, size_t elem) {
    ptrdiff_t low, high;
    if (box->n == 0) return;
    if (to->list && to->at.near && is_packed(box, elem, from->stride)) {
        copy_list(to->at.near, to->list, from->base, box->n, elem, 1);
    } else if (to->list && to->at.far && !to->at.near && put_list(to, from, box, elem)) {
        return;
    } else if (to->list || (!to->at.near && !to->at.far)) {
        struct walk w = {.statement = statement, .at = to->at, .here = from->base, .elem = elem, .put = 1};
        walk_box(&w, to, from->stride, box);
    } else if (is_packed(box, elem, to->stride) && is_packed(box, elem, from->stride)) {
        rmai_caf_write(statement, to->at, from->base, box->n * elem);
    } else if (to->at.near) {
        rmai_caf_copy(to->at.near, to->stride, from->base, from->stride, box, elem);
    } else {
        rmai_caf_hull(to, box, elem, &low, &high);
        order(to->at, low, high, 1);
        rmai_caf_must(
            rma_gptr_put_section(to->at.far, from->base, to->stride, from->stride, elem, box->dims, box->count));
    }
}

void rmai_caf_get(const char *statement, const struct rmai_caf_local *to, const struct rmai_caf_remote *from,
                  const struct rmai_caf_box *box, size_t elem) {
    ptrdiff_t low, high;
    if (box->n == 0) return;
    if (from->list && from->at.near && is_packed(box, elem, to->stride)) {
        copy_list(from->at.near, from->list, to->base, box->n, elem, 0);
    } else if (from->list && from->at.far && !from->at.near && get_list(from, to, box, elem)) {
        return;
    } else if (from->list || (!from->at.near && !from->at.far)) {
        struct walk w = {.statement = statement, .at = from->at, .here = to->base, .elem = elem};
        walk_box(&w, from, to->stride, box);
    } else if (is_packed(box, elem, from->stride) && is_packed(box, elem, to->stride)) {
        rmai_caf_read(statement, to->base, from->at, box->n * elem);
    } else if (from->at.near) {
        rmai_caf_copy(to->base, to->stride, from->at.near, from->stride, box, elem);
    } else {
        rmai_caf_hull(from, box, elem, &low, &high);
        order(from->at, low, high, 0);
        rmai_caf_must(
            rma_gptr_get_section(to->base, from->at.far, to->stride, from->stride, elem, box->dims, box->count));
    }
}
