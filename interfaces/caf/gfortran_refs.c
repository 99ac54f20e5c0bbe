/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's transfers along a chain of references: a component of a coarray, an element of an array in it, and so on.
 * follow_chain() begins at the coarray on the other image, and each reference moves the place. At an allocatable or
 * pointer component it reads the component's descriptor, or pointer, from the other image; it contains an address of
 * that image's process. At most one reference of a chain selects more than one element, and no pointer follows it (the
 * standard forbids both): so the elements at the end of a chain are a box. */
#include "config.h"

#include "interfaces/caf/gfortran.h"
#include "interfaces/caf/team.h"

#include <stdlib.h>
#include <string.h>

/* Where a chain has led. The memory that it has entered last is the coarray, or a component with memory of its own. */
struct chain {
    const char *statement;
    struct rmai_caf_result r;
    struct rmai_caf_remote remote;
    struct rmai_caf_box box;
    size_t at, size;                  /* the place in that memory, and the memory's bytes; SIZE_MAX: not known */
    size_t elem;                      /* bytes of an element */
    int associated;                   /* 0: a component of the chain is not allocated or not associated */
    ptrdiff_t *values[RMAI_CAF_DIMS]; /* offsets of a vector subscript, or NULL */
};

static RMAI_COLD int out_of_bounds(struct chain *c, ptrdiff_t index, ptrdiff_t lower, ptrdiff_t upper) {
    rmai_caf_report(c->r, RMAI_CAF_STAT_ARGUMENT, "%s: index %td of an array on image %d is outside %td:%td",
                    c->statement, index, c->remote.at.pe + 1, lower, upper);
    return 0;
}

static void close_chain(struct chain *c) {
    for (int i = 0; i < c->box.dims; i++)
        if (c->values[i]) free(c->values[i]);
    if (c->remote.list) free(c->remote.list);
}

static RMAI_COLD int beyond_memory(struct chain *c, ptrdiff_t low, ptrdiff_t high) {
    rmai_caf_report(c->r, RMAI_CAF_STAT_ARGUMENT,
                    "%s: bytes %td to %td are outside of the memory on image %d, which has %zu bytes", c->statement,
                    (ptrdiff_t)c->at + low, (ptrdiff_t)c->at + high - 1, c->remote.at.pe + 1, c->size);
    return 0;
}

static void advance_chain(struct chain *c, ptrdiff_t bytes) {
    c->remote.at = rmai_caf_place_at(c->remote.at, bytes);
    c->at += (size_t)bytes;
}

/* Appends a dimension to the box. */
static int add_dimension(struct chain *c, ptrdiff_t count, ptrdiff_t stride) {
    int d = rmai_caf_box_add(&c->box, count);
    c->remote.stride[d] = stride;
    c->values[d] = NULL;
    return d;
}

/* One dimension of an array reference. The array has the bounds lower:upper there, if known, and `stride` bytes from
 * one element to the next. */
static int take_dimension(struct chain *c, const struct reference *ref, int i, ptrdiff_t lower, ptrdiff_t upper,
                          ptrdiff_t stride, int bounds) {
    int mode = ref->u.a.mode[i];
    ptrdiff_t start = ref->u.a.dim[i].s.start, end = ref->u.a.dim[i].s.end, step = ref->u.a.dim[i].s.stride;
    if (mode == MODE_VECTOR) {
        size_t n = ref->u.a.dim[i].v.n;
        int d = add_dimension(c, (ptrdiff_t)n, 0);
        c->values[d] = rmai_caf_array(c->statement, n, sizeof *c->values[d]);
        for (size_t k = 0; k < n; k++) {
            ptrdiff_t index = rmai_caf_vector_value(ref->u.a.dim[i].v.values, ref->u.a.dim[i].v.kind, (ptrdiff_t)k);
            if (bounds && (index < lower || index > upper)) return out_of_bounds(c, index, lower, upper);
            c->values[d][k] = rmai_caf_distance(lower, index, stride);
        }
        return 1;
    }
    switch (mode) {
        case MODE_SINGLE: end = start, step = 1; break;
        case MODE_FULL:
            if (bounds) start = lower, end = upper;
            if (step == 0) step = 1;
            break;
        case MODE_OPEN_END: end = upper; break;
        case MODE_OPEN_START: start = lower; break;
        default: break;
    }
    if (step == 0) step = 1;
    ptrdiff_t count = (end - start + step) / step;
    if (count > 0 && bounds) {
        ptrdiff_t last = start + (count - 1) * step;
        if (start < lower || start > upper) return out_of_bounds(c, start, lower, upper);
        if (last < lower || last > upper) return out_of_bounds(c, last, lower, upper);
    }
    if (count > 0) advance_chain(c, rmai_caf_distance(lower, start, stride));
    if (mode != MODE_SINGLE) add_dimension(c, count, step * stride);
    return 1;
}

static int take_array(struct chain *c, const struct reference *ref, const struct descriptor *d) {
    ptrdiff_t span = rmai_caf_span_of(d);
    for (int i = 0; i < RMAI_CAF_DIMS && ref->u.a.mode[i] != MODE_NONE; i++)
        if (!take_dimension(c, ref, i, d->dim[i].lower, d->dim[i].upper, d->dim[i].stride * span, 1)) return 0;
    return 1;
}

/* An array without a descriptor: the compiler has subtracted the lower bounds, and counts strides in elements. */
static int take_static_array(struct chain *c, const struct reference *ref) {
    for (int i = 0; i < RMAI_CAF_DIMS && ref->u.a.mode[i] != MODE_NONE; i++)
        if (!take_dimension(c, ref, i, 0, 0, (ptrdiff_t)ref->item_size, 0)) return 0;
    return 1;
}

static int count_dimensions(const struct reference *ref) {
    int n = 0;
    while (n < RMAI_CAF_DIMS && ref->u.a.mode[n] != MODE_NONE) n++;
    return n;
}

/* Vector subscripts: the offsets of all elements, in order. */
static void list_chain_elements(struct chain *c) {
    int any = 0;
    for (int d = 0; d < c->box.dims; d++) any |= c->values[d] != NULL;
    if (!any || c->box.n == 0) return;
    ptrdiff_t *list = rmai_caf_array(c->statement, c->box.n, sizeof *list);
    size_t at[RMAI_CAF_DIMS] = {0};
    for (size_t i = 0; i < c->box.n; i++) {
        list[i] = 0;
        for (int d = 0; d < c->box.dims; d++)
            list[i] += c->values[d] ? c->values[d][at[d]] : (ptrdiff_t)at[d] * c->remote.stride[d];
        for (int d = 0; d < c->box.dims && ++at[d] == c->box.count[d]; d++) at[d] = 0;
    }
    c->remote.list = list;
}

/* 1 if the elements of the box, each with elem bytes, lie in the memory that the chain has entered last; 0 after it has
 * reported that they do not. */
static int inside(struct chain *c, size_t elem) {
    ptrdiff_t low, high;
    if (c->size == SIZE_MAX || (c->box.dims == 0 && c->at <= c->size && elem <= c->size - c->at)) return 1;
    rmai_caf_hull(&c->remote, &c->box, elem, &low, &high);
    const size_t first = c->at + (size_t)low, len = (size_t)(high - low);
    return (first <= c->size && len <= c->size - first) || beyond_memory(c, low, high);
}

/* Follows the chain of references from coarray `token` on image, and fills in *c; the caller then calls close_chain.
 * query: 1 if the caller only asks whether the components are allocated or associated (c->associated). Returns 0 after
 * it has reported an error. */
static int follow_chain(struct chain *c, struct rmai_caf_result r, const char *statement, caf_token token, int image,
                        const struct reference *ref, int query) {
    struct any_descriptor array;
    const struct descriptor *known = NULL; /* of the array at the place, if it has one */
    c->remote.list = NULL;
    c->statement = statement;
    c->r = r;
    c->box.dims = 0;
    c->box.n = 1;
    c->elem = 0;
    c->associated = 1;
    c->at = 0;
    if (!token) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: the coarray is not allocated", statement);
        return 0;
    }
    int pe = rmai_caf_pe(r, statement, rmai_caf.team, image);
    if (pe < 0 || has_failed(r, statement, pe)) return 0;
    c->remote.at = rmai_caf_place(token, 0, pe);
    c->size = token->size;
    if (token->variable) known = rmai_caf_variable_shape(token);
    for (; ref; ref = ref->next) {
        c->elem = ref->item_size;
        if (ref->type == REFERENCE_ARRAY) {
            if (!known) {
                rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: the bounds of an array on image %d are not known",
                                statement, pe + 1);
                return 0;
            }
            if (!take_array(c, ref, known)) return 0;
            known = NULL;
            continue;
        }
        if (ref->type == REFERENCE_STATIC_ARRAY) {
            if (!take_static_array(c, ref)) return 0;
            continue;
        }
        advance_chain(c, ref->u.c.offset);
        known = NULL;
        if (!ref->u.c.token_offset) continue;
        /* The descriptor of an array, or the pointer to a scalar: both begin with the address. */
        int is_array = ref->next && ref->next->type == REFERENCE_ARRAY;
        size_t len =
            is_array ? sizeof array.d + (size_t)count_dimensions(ref->next) * sizeof array.dim[0] : sizeof array.d.base;
        if (!inside(c, len)) return 0;
        rmai_caf_read(statement, &array, c->remote.at, len);
        if (!array.d.base) {
            c->associated = 0;
            if (query) return 1;
            rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: a component on image %d is not allocated or not associated",
                            statement, pe + 1);
            return 0;
        }
        c->remote.at = rmai_caf_place_of(pe, (uint64_t)(uintptr_t)array.d.base);
        c->at = 0;
        c->size = SIZE_MAX; /* a bound of an array is checked, and the compiler knows the type of a scalar */
        if (!is_array) continue;
        array.d.rank = (signed char)count_dimensions(ref->next);
        known = &array.d;
    }
    if (query) return 1;
    list_chain_elements(c);
    return c->box.n == 0 || inside(c, c->elem);
}

/* ---- the calls ---- */

void _gfortran_caf_send_by_ref(caf_token token, int image, struct descriptor *source, struct reference *refs,
                               int dest_kind, int source_kind, bool overlap, bool reallocatable, int *stat,
                               int dest_type) {
    static const char statement[] = "assignment to a component of a coarray of another image";
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct chain c;
    struct rmai_caf_local local = {.base = source->base};
    (void)reallocatable; /* the shape of an object on another image cannot change (F2018, 10.2.1.2) */
    if (follow_chain(&c, r, statement, token, image, refs, 0)) {
        struct rmai_caf_box mine;
        rmai_caf_box_of(source, &mine, local.stride);
        rmai_caf_box_cut(&mine, c.box.n);
        if (source->rank == 0) memset(local.stride, 0, sizeof local.stride);
        struct rmai_caf_type type = {.type = dest_type, .kind = dest_kind, .elem = c.elem};
        if (source->rank == 0 || rmai_caf_conform(r, statement, mine.n, c.box.n))
            rmai_caf_assign_to(r, statement, &c.remote, type, &local, rmai_caf_type_of(source, source_kind), &c.box,
                               overlap && c.remote.at.pe == rmai_caf.me);
    }
    close_chain(&c);
}

/* Gives dest, which is allocatable, the shape of the box. */
static void reallocate(struct descriptor *dest, const struct chain *c) {
    ptrdiff_t stride = 1;
    free(dest->base);
    if (!dest->elem_len) dest->elem_len = c->elem;
    dest->base = rmai_caf_array(c->statement, c->box.n, dest->elem_len);
    dest->span = (ptrdiff_t)dest->elem_len;
    dest->offset = 0;
    for (int d = 0; d < c->box.dims; d++) {
        dest->dim[d] = (struct dimension){.stride = stride, .lower = 1, .upper = (ptrdiff_t)c->box.count[d]};
        dest->offset -= stride;
        stride *= (ptrdiff_t)c->box.count[d];
    }
}

static int same_shape(const struct rmai_caf_box *a, const struct rmai_caf_box *b) {
    for (int d = 0; d < a->dims && d < b->dims; d++)
        if (a->count[d] != b->count[d]) return 0;
    return a->dims == b->dims;
}

void _gfortran_caf_get_by_ref(caf_token token, int image, struct descriptor *dest, struct reference *refs,
                              int dest_kind, int source_kind, bool overlap, bool reallocatable, int *stat,
                              int source_type) {
    static const char statement[] = "reference to a component of a coarray of another image";
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct chain c;
    if (follow_chain(&c, r, statement, token, image, refs, 0)) {
        struct rmai_caf_box mine;
        struct rmai_caf_local local;
        rmai_caf_box_of(dest, &mine, local.stride);
        if (dest->rank > 0 && reallocatable && (!dest->base || !same_shape(&mine, &c.box))) {
            reallocate(dest, &c);
            rmai_caf_box_of(dest, &mine, local.stride);
        } else if (!dest->base) {
            dest->base = rmai_caf_memory(statement, c.elem);
        }
        local.base = dest->base;
        struct rmai_caf_type type = {.type = source_type, .kind = source_kind, .elem = c.elem};
        const struct rmai_caf_box *box = &c.box;
        if (c.box.dims == 0 && dest->rank > 0) { /* one element for all of dest */
            box = &mine;
            memset(c.remote.stride, 0, sizeof c.remote.stride);
        }
        if (rmai_caf_conform(r, statement, box->n, mine.n))
            rmai_caf_assign_from(r, statement, &local, rmai_caf_type_of(dest, dest_kind), &c.remote, type, box,
                                 overlap && c.remote.at.pe == rmai_caf.me);
    }
    close_chain(&c);
}

void _gfortran_caf_sendget_by_ref(caf_token dest_token, int dest_image, struct reference *dest_refs,
                                  caf_token source_token, int source_image, struct reference *source_refs,
                                  int dest_kind, int source_kind, bool overlap, int *dest_stat, int *source_stat,
                                  int dest_type, int source_type) {
    static const char statement[] = "assignment between components of coarrays of other images";
    struct rmai_caf_result from_r = result_at(source_stat, NULL, 0), to_r = result_at(dest_stat, NULL, 0);
    struct chain from, to;
    (void)overlap; /* the elements pass through this image */
    if (!follow_chain(&from, from_r, statement, source_token, source_image, source_refs, 0)) {
        close_chain(&from);
        return;
    }
    if (follow_chain(&to, to_r, statement, dest_token, dest_image, dest_refs, 0)) {
        struct rmai_caf_type type = {.type = source_type, .kind = source_kind, .elem = from.elem};
        struct rmai_caf_type to_type = {.type = dest_type, .kind = dest_kind, .elem = to.elem};
        struct rmai_caf_local packed = {.base = rmai_caf_array(statement, from.box.n, from.elem)};
        rmai_caf_box_packed(&from.box, from.elem, packed.stride);
        rmai_caf_get(statement, &packed, &from.remote, &from.box, from.elem);
        rmai_caf_done(from_r);
        if (from.box.dims == 0 || rmai_caf_conform(to_r, statement, from.box.n, to.box.n)) {
            if (from.box.dims > 0)
                rmai_caf_box_packed(&to.box, from.elem, packed.stride);
            else
                memset(packed.stride, 0, sizeof packed.stride);
            rmai_caf_assign_to(to_r, statement, &to.remote, to_type, &packed, type, &to.box, 0);
        }
        free(packed.base);
    }
    close_chain(&to);
    close_chain(&from);
}

int _gfortran_caf_is_present(caf_token token, int image, struct reference *refs) {
    struct chain c;
    int present =
        follow_chain(&c, RMAI_CAF_NO_RESULT, "ALLOCATED of a component on another image", token, image, refs, 1) &&
        c.associated;
    close_chain(&c);
    return present;
}
