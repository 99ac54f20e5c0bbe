/* SPDX-License-Identifier: BSD-3-Clause */
/* A datatype is described by the list of its blocks, in the order of its type map (MPI-4.0, section 5.1), which then
 * becomes a section if its blocks form one. */
#include "config.h"

#include "interfaces/mpi/describe.h"
#include "interfaces/mpi/contents.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of blocks ---- */

struct list {
    struct rma_block *blocks;
    size_t n, room;
    int failed; /* no memory */
};

static void append(struct list *l, ptrdiff_t offset, size_t len) {
    if (len == 0) return;
    if (l->n && l->blocks[l->n - 1].offset + (ptrdiff_t)l->blocks[l->n - 1].len == offset) {
        l->blocks[l->n - 1].len += len;
        return;
    }
    if (l->n == l->room) {
        const size_t room = l->room ? 2 * l->room : 16;
        struct rma_block *blocks = realloc(l->blocks, room * sizeof *blocks);
        if (!blocks) {
            l->failed = 1;
            return;
        }
        l->blocks = blocks;
        l->room = room;
    }
    l->blocks[l->n++] = (struct rma_block){offset, len};
}

/* `count` copies of child, the first at `at`, the others `stride` further each. */
static void repeat(struct list *l, const struct rmai_datatype *child, ptrdiff_t at, size_t count, ptrdiff_t stride) {
    if (child->plain && stride == child->extent) {
        append(l, at, count * child->size);
        return;
    }
    for (size_t i = 0; i < count && !l->failed; i++, at += stride) {
        struct rma_block *blocks;
        size_t n;
        if (child->plain) {
            append(l, at, child->size);
        } else if (rmai_datatype_blocks(child, 1, &blocks, &n)) {
            for (size_t k = 0; k < n; k++) append(l, at + blocks[k].offset, blocks[k].len);
            free(blocks);
        } else {
            l->failed = 1;
        }
    }
}

static void append_section(struct list *l, const struct rmai_section *s, int dim, ptrdiff_t at) {
    if (dim == s->dims) {
        append(l, at, s->elem);
        return;
    }
    for (size_t i = 0; i < s->count[dim] && !l->failed; i++, at += s->stride[dim]) append_section(l, s, dim + 1, at);
}

int rmai_datatype_section(const struct rmai_datatype *t, size_t count, struct rmai_section *s) {
    if (t->dims < 0) return 0;
    s->start = t->start;
    s->elem = t->elem;
    s->dims = 0;
    if (t->plain) {
        s->elem = t->size * count;
        return 1;
    }
    if (count != 1) {
        s->count[0] = count;
        s->stride[0] = t->extent;
        s->dims = 1;
    }
    memcpy(s->count + s->dims, t->count, (size_t)t->dims * sizeof *t->count);
    memcpy(s->stride + s->dims, t->stride, (size_t)t->dims * sizeof *t->stride);
    s->dims += t->dims;
    return 1;
}

int rmai_datatype_blocks(const struct rmai_datatype *t, size_t count, struct rma_block **blocks, size_t *n) {
    struct list l = {0};
    struct rmai_section s;
    if (rmai_datatype_section(t, count, &s)) {
        append_section(&l, &s, 0, s.start);
    } else {
        for (size_t i = 0; i < count && !l.failed; i++)
            for (size_t k = 0; k < t->n; k++)
                append(&l, (ptrdiff_t)i * t->extent + t->blocks[k].offset, t->blocks[k].len);
    }
    if (l.failed) free(l.blocks);
    *blocks = l.failed ? NULL : l.blocks;
    *n = l.n;
    return !l.failed;
}

/* ---- predefined types ---- */

static void describe_leaf(struct rmai_datatype *t, int combiner, struct list *l) {
    const struct rmai_element *e = rmai_element_of(t->handle, combiner, t->size);
    t->element = e;
    t->mixed = !e;
    t->predefined = 1;
    if (e && e->gap_at) {
        append(l, 0, e->gap_at);
        append(l, (ptrdiff_t)e->index, t->size - e->gap_at);
    } else {
        append(l, 0, t->size);
    }
}

/* ---- derived types ---- */

/* All elements of a type are of one predefined type, or the type is mixed. */
static void take_element(struct rmai_datatype *t, const struct rmai_datatype *child) {
    if (child->size == 0) return;
    if (!t->element && !t->mixed)
        t->element = child->element;
    else if (t->element != child->element)
        t->element = NULL;
    t->mixed = !t->element;
}

/* One dimension of the part of an array that a process has: its j-th element there is number
 * first + j / block * step + j % block of the whole. */
struct axis {
    MPI_Count whole, n, first, block, step;
};
#define AXES_MOST 64

/* The part of an array: order[0] is the dimension that varies fastest. */
static void describe_part(const struct axis *axes, const int *order, int dims, const struct rmai_datatype *child,
                          struct list *l) {
    ptrdiff_t stride[AXES_MOST], step = child->extent;
    MPI_Count index[AXES_MOST] = {0};
    for (int k = 0; k < dims; k++) {
        stride[k] = step;
        step *= axes[order[k]].whole;
        if (axes[order[k]].n == 0) return;
    }
    for (int k = 0; k < dims && !l->failed;) {
        const struct axis *fast = &axes[order[0]];
        ptrdiff_t at = 0;
        for (k = 1; k < dims; k++) {
            const struct axis *x = &axes[order[k]];
            at += (x->first + index[k] / x->block * x->step + index[k] % x->block) * stride[k];
        }
        for (MPI_Count j = 0; j < fast->n; j += fast->block)
            repeat(l, child, at + (fast->first + j / fast->block * fast->step) * stride[0],
                   (size_t)(fast->n - j < fast->block ? fast->n - j : fast->block), stride[0]);
        for (k = 1; k < dims; k++) {
            if (++index[k] < axes[order[k]].n) break;
            index[k] = 0;
        }
    }
}

static void describe_array(struct axis *axes, int dims, MPI_Count array_order, const struct rmai_datatype *child,
                           struct list *l) {
    int order[AXES_MOST];
    for (int k = 0; k < dims; k++) order[k] = array_order == MPI_ORDER_FORTRAN ? k : dims - 1 - k;
    describe_part(axes, order, dims, child, l);
}

static void describe_subarray(const MPI_Count *v, const struct rmai_datatype *child, struct list *l) {
    const int dims = (int)v[0];
    struct axis axes[AXES_MOST];
    if (dims > AXES_MOST) {
        l->failed = 1;
        return;
    }
    for (int k = 0; k < dims; k++) {
        const MPI_Count n = v[1 + dims + k];
        axes[k] = (struct axis){v[1 + k], n, v[1 + 2 * dims + k], n, 0};
    }
    describe_array(axes, dims, v[1 + 3 * dims], child, l);
}

/* The part of process `place` of `processes` in one dimension of a distributed array (MPI-4.0, section 5.1.4). */
static struct axis distributed(MPI_Count whole, MPI_Count how, MPI_Count arg, MPI_Count processes, MPI_Count place) {
    MPI_Count block, step, full, rest;
    if (how == MPI_DISTRIBUTE_NONE) return (struct axis){whole, whole, 0, whole, 0};
    block = arg != MPI_DISTRIBUTE_DFLT_DARG ? arg
            : how == MPI_DISTRIBUTE_CYCLIC  ? 1
                                            : (whole + processes - 1) / processes;
    step = block * processes;
    full = whole / step; /* blocks that each process has; then one more, which may be short, if the array reaches it */
    rest = whole - full * step - place * block;
    rest = rest < 0 ? 0 : rest > block ? block : rest;
    return (struct axis){whole, full * block + rest, place * block, block, step};
}

static void describe_darray(const MPI_Count *v, const struct rmai_datatype *child, struct list *l) {
    const MPI_Count *whole = v + 3, *how, *args, *processes;
    const int dims = (int)v[2];
    struct axis axes[AXES_MOST];
    MPI_Count rank = v[1], others = v[0];
    if (dims > AXES_MOST) {
        l->failed = 1;
        return;
    }
    how = whole + dims;
    args = how + dims;
    processes = args + dims;
    for (int k = 0; k < dims; k++) { /* processes are numbered in C's order, whatever that of the array is */
        others /= processes[k];
        axes[k] = distributed(whole[k], how[k], args[k], processes[k], rank / others);
        rank %= others;
    }
    describe_array(axes, dims, processes[dims], child, l);
}

static int describe_type(MPI_Datatype handle, struct rmai_datatype *t, struct list *l);
static void compress_list(struct rmai_datatype *t, struct list *l);

static void describe_struct(struct rmai_datatype *t, const struct rmai_contents *c, struct list *l) {
    for (int k = 0; k < c->n_types && !l->failed; k++) {
        struct rmai_datatype child;
        struct list part = {0};
        if (!describe_type(c->types[k], &child, &part)) {
            l->failed = 1;
            return;
        }
        if (c->numbers[1 + k] > 0) take_element(t, &child);
        repeat(l, &child, c->addresses[k], (size_t)c->numbers[1 + k], child.extent);
        free(child.blocks);
    }
}

static void describe_derived(struct rmai_datatype *t, const struct rmai_contents *c, struct list *l) {
    const MPI_Count *v = c->numbers, *a = c->addresses;
    struct rmai_datatype child;
    struct list part = {0};
    if (c->combiner == MPI_COMBINER_STRUCT) {
        describe_struct(t, c, l);
        return;
    }
    if (c->n_types != 1 || !describe_type(c->types[0], &child, &part)) {
        l->failed = 1;
        return;
    }
    take_element(t, &child);
    switch (c->combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED: repeat(l, &child, 0, 1, child.extent); break;
        case MPI_COMBINER_CONTIGUOUS: repeat(l, &child, 0, (size_t)v[0], child.extent); break;
        case MPI_COMBINER_VECTOR:
            for (MPI_Count k = 0; k < v[0]; k++) repeat(l, &child, k * v[2] * child.extent, (size_t)v[1], child.extent);
            break;
        case MPI_COMBINER_HVECTOR:
            for (MPI_Count k = 0; k < v[0]; k++) repeat(l, &child, k * a[0], (size_t)v[1], child.extent);
            break;
        case MPI_COMBINER_INDEXED:
            for (MPI_Count k = 0; k < v[0]; k++)
                repeat(l, &child, v[1 + v[0] + k] * child.extent, (size_t)v[1 + k], child.extent);
            break;
        case MPI_COMBINER_HINDEXED:
            for (MPI_Count k = 0; k < v[0]; k++) repeat(l, &child, a[k], (size_t)v[1 + k], child.extent);
            break;
        case MPI_COMBINER_INDEXED_BLOCK:
            for (MPI_Count k = 0; k < v[0]; k++) repeat(l, &child, v[2 + k] * child.extent, (size_t)v[1], child.extent);
            break;
        case MPI_COMBINER_HINDEXED_BLOCK:
            for (MPI_Count k = 0; k < v[0]; k++) repeat(l, &child, a[k], (size_t)v[1], child.extent);
            break;
        case MPI_COMBINER_SUBARRAY: describe_subarray(v, &child, l); break;
        case MPI_COMBINER_DARRAY: describe_darray(v, &child, l); break;
        default: l->failed = 1;
    }
    free(child.blocks);
}

/* MPI's own bounds may include parts of the type that have no data. */
static void find_bounds(struct rmai_datatype *t, const struct list *l) {
    for (size_t k = 0; k < l->n; k++) {
        const ptrdiff_t from = l->blocks[k].offset, to = from + (ptrdiff_t)l->blocks[k].len;
        t->places |= (size_t)from;
        if (k == 0 || from < t->true_lb) t->true_lb = from;
        if (k == 0 || to > t->true_ub) t->true_ub = to;
    }
}

static int describe_type(MPI_Datatype handle, struct rmai_datatype *t, struct list *l) {
    struct rmai_contents c;
    MPI_Count size;
    MPI_Aint lb, extent;
    memset(t, 0, sizeof *t);
    t->handle = handle;
    if (PMPI_Type_size_x(handle, &size) != MPI_SUCCESS || PMPI_Type_get_extent(handle, &lb, &extent) != MPI_SUCCESS ||
        !rmai_contents_read(handle, &c))
        return 0;
    t->size = (size_t)size;
    t->extent = extent;
    if (rmai_is_predefined(c.combiner))
        describe_leaf(t, c.combiner, l);
    else
        describe_derived(t, &c, l);
    rmai_contents_free(&c);
    if (l->failed) {
        free(l->blocks);
        return 0;
    }
    find_bounds(t, l);
    compress_list(t, l);
    t->single = t->plain && t->element && t->size == t->element->size;
    return 1;
}

int rmai_datatype_describe(MPI_Datatype handle, struct rmai_datatype *t) {
    struct list l = {0};
    return describe_type(handle, t, &l);
}

/* ---- sections ---- */

/* Returns how many of every `every`-th offset, from the first on, are at equal distances. */
static size_t progression(const struct rma_block *b, size_t n, size_t every) {
    const ptrdiff_t step = b[every].offset - b[0].offset;
    size_t i = 2;
    while (i < n && b[i * every].offset - b[(i - 1) * every].offset == step) i++;
    return i;
}

/* 1 if all rows of `row` blocks have the shape of the first one. */
static int rows_equal(const struct rma_block *b, size_t n, size_t row, size_t every, ptrdiff_t step) {
    for (size_t r = 0; r < n; r += row)
        for (size_t i = 1; i < row; i++)
            if (b[(r + i) * every].offset - b[(r + i - 1) * every].offset != step) return 0;
    return 1;
}

/* Replaces the list by a section, if the blocks form one. */
static void compress_list(struct rmai_datatype *t, struct list *l) {
    const struct rma_block *b = l->blocks;
    size_t n = l->n, every = 1, count[RMAI_DATATYPE_DIMS];
    ptrdiff_t stride[RMAI_DATATYPE_DIMS];
    int dims = 0;
    t->blocks = l->blocks;
    t->n = l->n;
    t->dims = -1;
    if (n == 0) {
        t->dims = 0;
        t->plain = t->extent == 0;
        return;
    }
    for (size_t i = 1; i < n; i++)
        if (b[i].len != b[0].len) return;
    /* The fastest dimension first. */
    while (n > 1) {
        const size_t row = progression(b, n, every);
        const ptrdiff_t step = b[every].offset - b[0].offset;
        if (dims == RMAI_DATATYPE_DIMS || n % row != 0 || !rows_equal(b, n, row, every, step)) return;
        count[dims] = row;
        stride[dims++] = step;
        n /= row;
        every *= row;
    }
    for (int k = 0; k < dims; k++) {
        t->count[k] = count[dims - 1 - k];
        t->stride[k] = stride[dims - 1 - k];
    }
    t->dims = dims;
    t->start = b[0].offset;
    t->elem = b[0].len;
    t->plain = dims == 0 && t->start == 0 && t->extent == (ptrdiff_t)t->elem;
    free(l->blocks);
    t->blocks = NULL;
    t->n = 0;
}
