/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mpi/types.h"
#include "mpi/state.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct rmai_datatype *_Atomic rmai_datatype_cache[RMAI_DATATYPE_CACHE];

/* Recursive, because MPI may call forget_type while a thread describes another type. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int keyval = MPI_KEYVAL_INVALID;
static struct rmai_datatype *unused; /* structs of types that were freed */

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

static int is_leaf(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

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

struct contents {
    int n_i, n_a, n_d;
    int *i;
    MPI_Aint *a;
    MPI_Datatype *d;
};

static void describe_subarray(const struct contents *c, const struct rmai_datatype *child, struct list *l) {
    const int dims = c->i[0], *sizes = c->i + 1, *subsizes = sizes + dims, *starts = subsizes + dims;
    const int fortran = c->i[1 + 3 * dims] == MPI_ORDER_FORTRAN;
    ptrdiff_t stride[64], at = 0, step = child->extent;
    int index[64] = {0}, order[64]; /* order[0] varies fastest */
    if (dims > 64) {
        l->failed = 1;
        return;
    }
    for (int k = 0; k < dims; k++) {
        order[k] = fortran ? k : dims - 1 - k;
        stride[k] = step;
        step *= sizes[order[k]];
        at += starts[order[k]] * stride[k];
        if (subsizes[order[k]] == 0) return;
    }
    for (int k = 0; k < dims && !l->failed;) {
        repeat(l, child, at, (size_t)subsizes[order[0]], stride[0]);
        for (k = 1; k < dims; k++) {
            at += stride[k];
            if (++index[k] < subsizes[order[k]]) break;
            at -= stride[k] * index[k];
            index[k] = 0;
        }
    }
}

/* Finds the bytes of a type in the order of its type map by MPI_Pack of a buffer whose bytes contain their own
 * positions. It is for types that are too intricate to take apart. */
#define PACK_MOST ((ptrdiff_t)1 << 28)
static void describe_by_packing(const struct rmai_datatype *t, struct list *l) {
    const size_t room = (size_t)(t->true_ub - t->true_lb);
    unsigned char *from = NULL, *to[4] = {NULL};
    int at, ok = t->true_ub - t->true_lb <= PACK_MOST && t->size <= INT_MAX;
    if (ok) from = malloc(room + 1);
    ok = ok && from;
    for (int k = 0; k < 4 && ok; k++) {
        to[k] = malloc(t->size + 1);
        ok = to[k] != NULL;
        for (size_t i = 0; i < room; i++) from[i] = (unsigned char)(i >> (8 * k));
        at = 0;
        ok = ok && PMPI_Pack((char *)((uintptr_t)from - (uintptr_t)t->true_lb), 1, t->handle, to[k], (int)t->size, &at,
                             MPI_COMM_SELF) == MPI_SUCCESS;
    }
    for (size_t i = 0; i < t->size && ok && !l->failed; i++)
        append(l,
               t->true_lb +
                   (ptrdiff_t)(to[0][i] | (size_t)to[1][i] << 8 | (size_t)to[2][i] << 16 | (size_t)to[3][i] << 24),
               1);
    if (!ok) l->failed = 1;
    free(from);
    for (int k = 0; k < 4; k++) free(to[k]);
}

static int describe(MPI_Datatype handle, struct rmai_datatype *t, struct list *l);
static void compress(struct rmai_datatype *t, struct list *l);

static void free_contents(struct contents *c) {
    for (int k = 0; k < c->n_d; k++) {
        int n_i, n_a, n_d, combiner = MPI_COMBINER_NAMED;
        if (PMPI_Type_get_envelope(c->d[k], &n_i, &n_a, &n_d, &combiner) == MPI_SUCCESS && !is_leaf(combiner))
            PMPI_Type_free(&c->d[k]);
    }
    free(c->i);
    free(c->a);
    free(c->d);
}

static void describe_derived(struct rmai_datatype *t, int combiner, const struct contents *c, struct list *l) {
    struct rmai_datatype child;
    const int *i = c->i;
    const MPI_Aint *a = c->a;
    struct list part = {0};
    if (combiner == MPI_COMBINER_DARRAY || combiner == MPI_COMBINER_STRUCT) {
        for (int k = 0; k < c->n_d && !l->failed; k++) {
            memset(&part, 0, sizeof part);
            if (!describe(c->d[k], &child, &part)) {
                l->failed = 1;
                return;
            }
            if (combiner != MPI_COMBINER_STRUCT || i[1 + k] > 0) take_element(t, &child);
            if (combiner == MPI_COMBINER_STRUCT) repeat(l, &child, a[k], (size_t)i[1 + k], child.extent);
            free(child.blocks);
        }
        if (combiner == MPI_COMBINER_DARRAY) describe_by_packing(t, l);
        return;
    }
    if (c->n_d != 1 || !describe(c->d[0], &child, &part)) {
        l->failed = 1;
        return;
    }
    take_element(t, &child);
    switch (combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED: repeat(l, &child, 0, 1, child.extent); break;
        case MPI_COMBINER_CONTIGUOUS: repeat(l, &child, 0, (size_t)i[0], child.extent); break;
        case MPI_COMBINER_VECTOR:
            for (int k = 0; k < i[0]; k++)
                repeat(l, &child, k * (ptrdiff_t)i[2] * child.extent, (size_t)i[1], child.extent);
            break;
        case MPI_COMBINER_HVECTOR:
            for (int k = 0; k < i[0]; k++) repeat(l, &child, k * a[0], (size_t)i[1], child.extent);
            break;
        case MPI_COMBINER_INDEXED:
            for (int k = 0; k < i[0]; k++)
                repeat(l, &child, i[1 + i[0] + k] * child.extent, (size_t)i[1 + k], child.extent);
            break;
        case MPI_COMBINER_HINDEXED:
            for (int k = 0; k < i[0]; k++) repeat(l, &child, a[k], (size_t)i[1 + k], child.extent);
            break;
        case MPI_COMBINER_INDEXED_BLOCK:
            for (int k = 0; k < i[0]; k++) repeat(l, &child, i[2 + k] * child.extent, (size_t)i[1], child.extent);
            break;
        case MPI_COMBINER_HINDEXED_BLOCK:
            for (int k = 0; k < i[0]; k++) repeat(l, &child, a[k], (size_t)i[1], child.extent);
            break;
        case MPI_COMBINER_SUBARRAY: describe_subarray(c, &child, l); break;
        default: describe_by_packing(t, l);
    }
    free(child.blocks);
}

/* Fills in *t for a type; the caller frees t->blocks. Returns 0 if handle is no type, or memory is exhausted. */
static int describe(MPI_Datatype handle, struct rmai_datatype *t, struct list *l) {
    struct contents c = {0};
    MPI_Count size;
    MPI_Aint lb, extent, true_lb, true_extent;
    int combiner, ok;
    memset(t, 0, sizeof *t);
    t->handle = handle;
    if (PMPI_Type_size_x(handle, &size) != MPI_SUCCESS || PMPI_Type_get_extent(handle, &lb, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(handle, &true_lb, &true_extent) != MPI_SUCCESS ||
        PMPI_Type_get_envelope(handle, &c.n_i, &c.n_a, &c.n_d, &combiner) != MPI_SUCCESS)
        return 0;
    t->size = (size_t)size;
    t->extent = extent;
    t->true_lb = true_lb;
    t->true_ub = true_lb + true_extent;
    if (is_leaf(combiner)) {
        describe_leaf(t, combiner, l);
    } else {
        c.i = malloc(((size_t)c.n_i + 1) * sizeof *c.i);
        c.a = malloc(((size_t)c.n_a + 1) * sizeof *c.a);
        c.d = malloc(((size_t)c.n_d + 1) * sizeof *c.d);
        ok = c.i && c.a && c.d && PMPI_Type_get_contents(handle, c.n_i, c.n_a, c.n_d, c.i, c.a, c.d) == MPI_SUCCESS;
        if (!ok) c.n_d = 0;
        if (ok)
            describe_derived(t, combiner, &c, l);
        else
            l->failed = 1;
        free_contents(&c);
    }
    if (l->failed) {
        free(l->blocks);
        return 0;
    }
    for (size_t k = 0; k < l->n; k++) t->places |= (size_t)l->blocks[k].offset;
    compress(t, l);
    t->single = t->plain && t->element && t->size == t->element->size;
    return 1;
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
static void compress(struct rmai_datatype *t, struct list *l) {
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

/* ---- types that are kept ---- */

/* MPI calls this when a type is freed: another type may get its handle. */
static int forget_type(MPI_Datatype handle, int key, void *type, void *extra) {
    struct rmai_datatype *t = type, *expected = t;
    (void)key, (void)extra;
    pthread_mutex_lock(&mutex);
    atomic_compare_exchange_strong(&rmai_datatype_cache[rmai_datatype_place(handle)], &expected, NULL);
    free(t->blocks);
    t->blocks = NULL;
    t->handle = MPI_DATATYPE_NULL;
    t->next = unused;
    unused = t;
    pthread_mutex_unlock(&mutex);
    return MPI_SUCCESS;
}

/* 1 if the handle is a committed type: MPI returns an error otherwise. */
static int is_type(MPI_Datatype handle) {
    char from[8] = {0}, to[8];
    int at = 0;
    return PMPI_Pack(from, 0, handle, to, sizeof to, &at, rmai_win_self) == MPI_SUCCESS;
}

static struct rmai_datatype *find_type(MPI_Datatype handle) {
    struct rmai_datatype *t = NULL, found;
    struct list l = {0};
    int has = 0;
    if (keyval == MPI_KEYVAL_INVALID &&
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_type, &keyval, NULL) != MPI_SUCCESS)
        return NULL;
    if (PMPI_Type_get_attr(handle, keyval, &t, &has) == MPI_SUCCESS && has) return t;
    if (!describe(handle, &found, &l)) return NULL;
    t = unused;
    if (t)
        unused = t->next;
    else
        t = malloc(sizeof *t);
    if (t) *t = found;
    if (t && PMPI_Type_set_attr(handle, keyval, t) == MPI_SUCCESS) return t;
    free(found.blocks);
    free(t);
    return NULL;
}

struct rmai_datatype *rmai_datatype_slow(MPI_Datatype handle) {
    struct rmai_datatype *t;
    if (handle == MPI_DATATYPE_NULL || !is_type(handle)) return NULL;
    pthread_mutex_lock(&mutex);
    t = find_type(handle);
    if (t) atomic_store_explicit(&rmai_datatype_cache[rmai_datatype_place(handle)], t, memory_order_release);
    pthread_mutex_unlock(&mutex);
    return t;
}
