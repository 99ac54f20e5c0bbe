/* SPDX-License-Identifier: BSD-3-Clause */
/* A datatype is taken apart by the arguments of its constructor, once: an attribute of the type keeps the result, so
 * that it ends with the type. */
#include "config.h"

#include "instruments/race/mpi_types.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/spin.h"

/* ---- predefined types ---- */

static enum race_element class_of(MPI_Datatype type) {
    const MPI_Datatype integers[] = {MPI_CHAR,    MPI_SIGNED_CHAR, MPI_SHORT,        MPI_INT,     MPI_LONG,
                                     MPI_INT8_T,  MPI_INT16_T,     MPI_INT32_T,      MPI_INT64_T, MPI_LONG_LONG,
                                     MPI_INTEGER, MPI_AINT,        MPI_LONG_LONG_INT};
    const MPI_Datatype reals[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION};
    const MPI_Datatype compounds[] = {MPI_FLOAT_INT,
                                      MPI_DOUBLE_INT,
                                      MPI_LONG_INT,
                                      MPI_SHORT_INT,
                                      MPI_2INT,
                                      MPI_LONG_DOUBLE_INT,
                                      MPI_C_FLOAT_COMPLEX,
                                      MPI_C_DOUBLE_COMPLEX,
                                      MPI_C_LONG_DOUBLE_COMPLEX,
                                      MPI_COMPLEX,
                                      MPI_DOUBLE_COMPLEX};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (type == integers[i]) return RACE_INTEGER;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (type == reals[i]) return RACE_REAL;
    for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++)
        if (type == compounds[i]) return RACE_COMPOUND;
    return RACE_NATURAL;
}

/* ---- taking apart ---- */

/* No more blocks than this: what follows is not checked. */
#define BLOCKS_MOST ((size_t)1 << 20)

static void add_block(struct race_datatype *t, struct race_block_of_type b) {
    struct race_block_of_type *last = t->n ? &t->blocks[t->n - 1] : NULL;
    if (!b.len) return;
    t->size += b.len;
    if (last && last->offset + (ptrdiff_t)last->len == b.offset && last->unit == b.unit && last->element == b.element) {
        last->len += b.len;
        return;
    }
    if (t->n == t->room) {
        const size_t room = t->room ? 2 * t->room : 8;
        struct race_block_of_type *more = room <= BLOCKS_MOST ? realloc(t->blocks, room * sizeof *more) : NULL;
        if (!more) return;
        t->blocks = more;
        t->room = room;
    }
    t->blocks[t->n++] = b;
}

/* Adds `count` data of a type, from `offset` on. */
static void add_data(struct race_datatype *t, const struct race_datatype *of, ptrdiff_t offset, size_t count) {
    for (size_t i = 0; of && i < count && t->n < BLOCKS_MOST; i++)
        for (size_t k = 0; k < of->n; k++) {
            struct race_block_of_type b = of->blocks[k];
            b.offset += offset + (ptrdiff_t)i * of->extent;
            add_block(t, b);
        }
}

/* The arguments of a constructor. */
struct contents {
    int combiner, n_ints, n_addresses, n_types;
    int *ints;
    MPI_Aint *addresses;
    MPI_Datatype *types;
};

/* A subarray: rows of its first dimension in memory. */
static void add_subarray(struct race_datatype *t, const struct contents *c, const struct race_datatype *of) {
    const int dims = c->ints[0], *sizes = c->ints + 1, *parts = sizes + dims, *starts = parts + dims;
    const int fortran = c->ints[3 * dims + 1] == MPI_ORDER_FORTRAN, inner = fortran ? 0 : dims - 1;
    int *at = calloc((size_t)dims + 1, sizeof *at), more = dims > 0;
    for (int d = 0; d < dims; d++)
        if (parts[d] <= 0) more = 0;
    while (at && more) {
        ptrdiff_t index = 0;
        for (int k = 0; k < dims; k++) {
            const int d = fortran ? dims - 1 - k : k;
            index = index * sizes[d] + starts[d] + at[d];
        }
        add_data(t, of, index * of->extent, (size_t)parts[inner]);
        more = 0;
        for (int k = 1; k < dims && !more; k++) { /* the next row */
            const int d = fortran ? k : dims - 1 - k;
            more = ++at[d] < parts[d];
            if (!more) at[d] = 0;
        }
    }
    free(at);
}

/* Returns 0 for a constructor that is not known. */
static int add_constructed(struct race_datatype *t, const struct contents *c) {
    const struct race_datatype *of = c->n_types ? race_type_of(c->types[0]) : NULL;
    const int *ints = c->ints;
    if (!of) return 0;
    switch (c->combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED: add_data(t, of, 0, 1); return 1;
        case MPI_COMBINER_CONTIGUOUS: add_data(t, of, 0, (size_t)ints[0]); return 1;
        case MPI_COMBINER_VECTOR:
            for (int i = 0; i < ints[0]; i++) add_data(t, of, (ptrdiff_t)i * ints[2] * of->extent, (size_t)ints[1]);
            return 1;
        case MPI_COMBINER_HVECTOR:
            for (int i = 0; i < ints[0]; i++) add_data(t, of, i * c->addresses[0], (size_t)ints[1]);
            return 1;
        case MPI_COMBINER_INDEXED:
            for (int i = 0; i < ints[0]; i++) add_data(t, of, ints[1 + ints[0] + i] * of->extent, (size_t)ints[1 + i]);
            return 1;
        case MPI_COMBINER_HINDEXED:
            for (int i = 0; i < ints[0]; i++) add_data(t, of, c->addresses[i], (size_t)ints[1 + i]);
            return 1;
        case MPI_COMBINER_INDEXED_BLOCK:
            for (int i = 0; i < ints[0]; i++) add_data(t, of, ints[2 + i] * of->extent, (size_t)ints[1]);
            return 1;
        case MPI_COMBINER_HINDEXED_BLOCK:
            for (int i = 0; i < ints[0]; i++) add_data(t, of, c->addresses[i], (size_t)ints[1]);
            return 1;
        case MPI_COMBINER_STRUCT:
            for (int i = 0; i < ints[0]; i++)
                add_data(t, race_type_of(c->types[i]), c->addresses[i], (size_t)ints[1 + i]);
            return 1;
        case MPI_COMBINER_SUBARRAY: add_subarray(t, c, of); return 1;
        default: return 0;
    }
}

static void free_types(struct contents *c) {
    for (int i = 0; i < c->n_types; i++) {
        int a, b, d, combiner;
        if (PMPI_Type_get_envelope(c->types[i], &a, &b, &d, &combiner) == MPI_SUCCESS && combiner != MPI_COMBINER_NAMED)
            PMPI_Type_free(&c->types[i]);
    }
}

static struct race_datatype *take_apart(MPI_Datatype type) {
    struct race_datatype *t = calloc(1, sizeof *t);
    struct contents c = {0};
    MPI_Aint lb, extent;
    int size = 0, known = 0;
    if (!t) return NULL;
    if (PMPI_Type_get_extent(type, &lb, &extent) != MPI_SUCCESS || PMPI_Type_size(type, &size) != MPI_SUCCESS ||
        PMPI_Type_get_envelope(type, &c.n_ints, &c.n_addresses, &c.n_types, &c.combiner) != MPI_SUCCESS) {
        free(t);
        return NULL;
    }
    t->extent = extent;
    if (c.combiner == MPI_COMBINER_NAMED) {
        add_block(t, (struct race_block_of_type){
                         .len = (size_t)size, .unit = size > 0 ? (uint32_t)size : 1, .element = class_of(type)});
        t->known = 1;
        return t;
    }
    c.ints = calloc((size_t)c.n_ints + 1, sizeof *c.ints);
    c.addresses = calloc((size_t)c.n_addresses + 1, sizeof *c.addresses);
    c.types = calloc((size_t)c.n_types + 1, sizeof(MPI_Datatype));
    if (c.ints && c.addresses && c.types &&
        PMPI_Type_get_contents(type, c.n_ints, c.n_addresses, c.n_types, c.ints, c.addresses, c.types) == MPI_SUCCESS) {
        known = add_constructed(t, &c);
        free_types(&c);
    }
    free(c.ints);
    free(c.addresses);
    free(c.types);
    if (!known) { /* rather miss a race than invent one: no bytes are known */
        t->n = 0;
        t->size = 0;
    }
    t->known = known;
    return t;
}

/* ---- the kept results ---- */

static int keyval = MPI_KEYVAL_INVALID;
static uint32_t keyval_lock;

static int drop(MPI_Datatype type, int key, void *value, void *extra) {
    struct race_datatype *t = value;
    (void)type, (void)key, (void)extra;
    free(t->blocks);
    free(t);
    return MPI_SUCCESS;
}

/* Predefined types are few, and their handles stay valid. */
#define NAMED_MOST 128
static struct {
    MPI_Datatype type;
    struct race_datatype *t;
} named[NAMED_MOST];
static size_t n_named;

static const struct race_datatype *find_named(MPI_Datatype type) {
    const size_t n = __atomic_load_n(&n_named, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < n; i++)
        if (named[i].type == type) return named[i].t;
    return NULL;
}

static int is_named(MPI_Datatype type) {
    int a, b, c, combiner;
    return PMPI_Type_get_envelope(type, &a, &b, &c, &combiner) == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED;
}

const struct race_datatype *race_type_of(MPI_Datatype type) {
    const struct race_datatype *t;
    struct race_datatype *made = NULL;
    int found = 0;
    if (type == MPI_DATATYPE_NULL) return NULL;
    if ((t = find_named(type))) return t;
    race_inside++;
    race_spin_lock(&keyval_lock);
    if (keyval == MPI_KEYVAL_INVALID) PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, drop, &keyval, NULL);
    race_spin_unlock(&keyval_lock);
    if (PMPI_Type_get_attr(type, keyval, &made, &found) != MPI_SUCCESS || !found) {
        made = take_apart(type);
        if (made && is_named(type)) {
            race_spin_lock(&keyval_lock);
            if (n_named < NAMED_MOST) {
                named[n_named].type = type;
                named[n_named].t = made;
                __atomic_store_n(&n_named, n_named + 1, __ATOMIC_RELEASE);
            }
            race_spin_unlock(&keyval_lock);
        } else if (made)
            PMPI_Type_set_attr(type, keyval, made);
    }
    race_inside--;
    return made;
}

void race_type_walk(const struct race_datatype *t, uintptr_t base, size_t count, size_t most, race_type_visit *f,
                    void *arg) {
    if (!t || !t->n) return;
    if (t->n == 1 && t->extent == (ptrdiff_t)t->blocks[0].len) {
        const size_t len = count * t->blocks[0].len;
        if (len && most) f(base + (uintptr_t)t->blocks[0].offset, len < most ? len : most, &t->blocks[0], arg);
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < t->n && most; k++) {
            const struct race_block_of_type *b = &t->blocks[k];
            const size_t len = b->len < most ? b->len : most;
            f(base + (uintptr_t)(b->offset + (ptrdiff_t)i * t->extent), len, b, arg);
            most -= len;
        }
}
