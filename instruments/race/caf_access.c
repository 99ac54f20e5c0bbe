/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that gfortran's transfers access: sections by descriptors and vector subscripts, and chains of references
 * to components (interfaces/caf has the same for its transfers, with the reasons of what looks odd here). What the
 * library refuses is not recorded: places outside of the coarray, components that are not allocated. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/caf.h"
#include "instruments/race/calls.h"
#include "instruments/race/clock.h"
#include "instruments/race/contexts.h"
#include "instruments/race/job.h"
#include "instruments/race/native.h"
#include "instruments/race/places.h"
#include "instruments/race/spin.h"

static struct race_who image_who(void) {
    return (struct race_who){.epoch = race_now, .clock = race_me->clock, .own = race_own()};
}

/* ---- the elements of a box ---- */

/* Strides are in bytes. A dimension with a vector subscript has a list of offsets instead. */
struct box {
    int dims;
    size_t count[CALLS_DIMS];
    ptrdiff_t stride[CALLS_DIMS];
    ptrdiff_t *list[CALLS_DIMS];
};

static void add_dimension(struct box *b, ptrdiff_t count, ptrdiff_t stride, ptrdiff_t *list) {
    if (b->dims == CALLS_DIMS) return;
    b->count[b->dims] = count > 0 ? (size_t)count : 0;
    b->stride[b->dims] = stride;
    b->list[b->dims++] = list;
}

static void free_lists(struct box *b) {
    for (int d = 0; d < b->dims; d++) free(b->list[d]);
}

static ptrdiff_t span_of(const struct descriptor *d) {
    ptrdiff_t offset = 0;
    if (d->span <= (ptrdiff_t)d->elem_len) return (ptrdiff_t)d->elem_len;
    for (int i = 0; i < d->rank; i++) offset -= d->dim[i].lower * d->dim[i].stride;
    return offset == d->offset ? d->span : (ptrdiff_t)d->elem_len;
}

static void box_of(const struct descriptor *d, struct box *b) {
    const ptrdiff_t span = span_of(d);
    b->dims = 0;
    for (int i = 0; i < d->rank; i++)
        add_dimension(b, d->dim[i].upper - d->dim[i].lower + 1, d->dim[i].stride * span, NULL);
}

/* Calls f for each run of contiguous bytes of the box's elements, with the offset from the first element. */
typedef void on_run(void *to, ptrdiff_t offset, size_t len);
static void each_run(const struct box *b, size_t elem, on_run *f, void *to) {
    size_t at[CALLS_DIMS] = {0}, len = elem;
    int first = 0;
    for (int d = 0; d < b->dims; d++)
        if (!b->count[d]) return;
    while (first < b->dims && !b->list[first] && (b->stride[first] == (ptrdiff_t)len || b->count[first] == 1))
        len *= b->count[first++];
    for (;;) {
        ptrdiff_t offset = 0;
        int d = first;
        for (int i = first; i < b->dims; i++)
            offset += b->list[i] ? b->list[i][at[i]] : (ptrdiff_t)at[i] * b->stride[i];
        f(to, offset, len);
        while (d < b->dims && ++at[d] == b->count[d]) at[d++] = 0;
        if (d >= b->dims) return;
    }
}

/* ---- what is recorded ---- */

struct far {
    int pe, write;
    uint64_t at;          /* the first element, in the PE's space, */
    uint64_t first, size; /* and the memory that the elements must not leave */
    uint32_t place;
    struct race_who who;
};

static void far_run(void *to, ptrdiff_t offset, size_t len) {
    const struct far *f = to;
    const uint64_t at = f->at + (uint64_t)offset;
    struct race_cell *cells;
    if (at - f->first > f->size || len > f->size - (at - f->first)) return;
    if ((cells = race_cells_at(at, len, f->pe)))
        race_range(cells, race_job.space + at, len, f->pe, RACE_PLAIN, f->write, f->place, &f->who);
}

struct near {
    const char *base;
    int write;
    uint32_t place;
    struct race_who who;
};

static void near_run(void *to, ptrdiff_t offset, size_t len) {
    const struct near *n = to;
    race_local(n->base + offset, len, RACE_PLAIN, n->write, n->place, &n->who);
}

void race_caf_near(const struct race_call *c, const struct descriptor *d, int write) {
    struct near n;
    struct box b;
    if (!race_watches() || !d || !d->base || d->rank < 0 || d->rank > CALLS_DIMS) return;
    n = (struct near){.base = d->base, .write = write, .who = image_who()};
    n.place = race_call_place(c->pc, c->name);
    box_of(d, &b);
    each_run(&b, d->elem_len, near_run, &n);
}

void race_caf_bytes(const struct race_call *c, const void *p, size_t len, int write) {
    const struct race_who who = image_who();
    race_local(p, len, RACE_PLAIN, write, race_call_place(c->pc, c->name), &who);
}

/* gfortran leaves parts of some of these descriptors undefined: only elements of a coarray are recorded. */
void race_caf_collective(const struct race_call *c, const struct descriptor *d, int write) {
    struct far f = {.pe = race_job.my_pe, .write = write};
    const struct race_coarray *a;
    size_t at = 0;
    struct box b;
    if (!race_watches() || !d || !d->base || d->rank < 0 || d->rank > CALLS_DIMS || d->version) return;
    f.at = (uintptr_t)d->base - race_job.space;
    if (f.at >= race_job.stride) return;
    a = race_coarray_at(f.pe, f.at, &at);
    if (a) {
        f.first = f.at - at;
        f.size = a->size;
    } else { /* a component */
        f.size = race_job.stride;
        if (span_of(d) != (ptrdiff_t)d->elem_len) return;
    }
    f.who = image_who();
    f.place = race_call_place(c->pc, c->name);
    box_of(d, &b);
    each_run(&b, d->elem_len, far_run, &f);
}

/* ---- sections ---- */

static ptrdiff_t value_of(const void *values, int kind, ptrdiff_t i) {
    switch (kind) {
        case 1: return ((const int8_t *)values)[i];
        case 2: return ((const int16_t *)values)[i];
        case 4: return ((const int32_t *)values)[i];
        default: return (ptrdiff_t)((const int64_t *)values)[i];
    }
}

/* The offsets that a vector subscript selects, from `lower` on. gfortran passes a negative number for a vector that is
 * walked backwards. NULL: there is no memory. */
static ptrdiff_t *list_of(const void *values, int kind, ptrdiff_t n, ptrdiff_t lower, ptrdiff_t stride) {
    const ptrdiff_t count = n < 0 ? -n : n, step = n < 0 ? -1 : 1;
    ptrdiff_t *list = count < (ptrdiff_t)1 << 32 ? malloc((size_t)count * sizeof *list) : NULL;
    for (ptrdiff_t i = 0; list && i < count; i++) list[i] = (value_of(values, kind, i * step) - lower) * stride;
    return list;
}

static void box_of_vectors(const struct descriptor *d, const struct vector *v, struct box *b, ptrdiff_t *begin) {
    const ptrdiff_t span = span_of(d);
    b->dims = 0;
    *begin = 0;
    for (int i = 0; i < d->rank; i++) {
        const ptrdiff_t stride = d->dim[i].stride * span, n = (ptrdiff_t)v[i].n, step = v[i].u.triplet.stride;
        const ptrdiff_t first = v[i].u.triplet.lower, upper = v[i].u.triplet.upper;
        ptrdiff_t *list;
        if (n) {
            list = list_of(v[i].u.v.values, v[i].u.v.kind, n, d->dim[i].lower, stride);
            add_dimension(b, list ? n < 0 ? -n : n : 0, 0, list);
        } else {
            /* A vector without elements looks like a triplet with any bounds. */
            const int makes_sense = step && step == (int32_t)step && first == (int32_t)first && upper == (int32_t)upper;
            if (makes_sense) *begin += (first - d->dim[i].lower) * stride;
            add_dimension(b, makes_sense ? (upper - first + step) / step : 0, step * stride, NULL);
        }
    }
}

/* ---- chains of references ---- */

/* Where a chain has led: a byte of PE pe's space; tracked 0: other memory of that process. */
struct place {
    uint64_t at, first, size;
    int tracked;
};

/* An address of PE pe's process. */
static struct place place_of(int pe, uint64_t address) {
    uint64_t offset = address - race_job.header->spaces[pe];
    struct place p = {.size = race_job.stride, .tracked = 1};
    p.at = offset;
    if (offset < race_job.stride) return p;
    offset = address - race_job.header->statics[pe]; /* a pointer's target */
    p.at = race_job.second + offset;
    p.tracked = race_job.second_len && offset < race_job.second_len;
    return p;
}

/* Reads bytes of PE pe's memory. */
static int peek(int pe, uint64_t at, void *to, size_t len) {
    if (at > race_job.stride || len > race_job.stride - at) return 0;
    if (race_job.space_of[pe]) {
        memcpy(to, (const char *)race_job.space_of[pe] + at, len);
        return 1;
    }
    race_inside++;
    const int code = prma_gptr_get(to, (rma_gptr_t)pe << RMA_GPTR_BITS_ | at, len);
    race_inside--;
    return code == RMA_SUCCESS;
}

/* One dimension of an array reference (gfortran_refs.c of interfaces/caf). Returns 0 for what the library refuses. */
static int take_dimension(struct place *p, struct box *b, const struct reference *ref, int i, struct dimension bounds,
                          ptrdiff_t stride, int known) {
    const int mode = ref->u.a.mode[i];
    const ptrdiff_t lower = bounds.lower, upper = bounds.upper;
    ptrdiff_t start = ref->u.a.dim[i].s.start, end = ref->u.a.dim[i].s.end, step = ref->u.a.dim[i].s.stride, count;
    if (mode == MODE_VECTOR) {
        const ptrdiff_t n = (ptrdiff_t)ref->u.a.dim[i].v.n;
        ptrdiff_t *list = list_of(ref->u.a.dim[i].v.values, ref->u.a.dim[i].v.kind, n, lower, stride);
        add_dimension(b, list ? n : 0, 0, list);
        return 1;
    }
    if (mode == MODE_SINGLE) end = start, step = 1;
    if (mode == MODE_FULL && known) start = lower, end = upper;
    if (mode == MODE_OPEN_END) end = upper;
    if (mode == MODE_OPEN_START) start = lower;
    if (step == 0) step = 1;
    count = (end - start + step) / step;
    if (count > 0) {
        const ptrdiff_t last = start + (count - 1) * step;
        if (known && (start < lower || start > upper || last < lower || last > upper)) return 0;
        p->at += (uint64_t)((start - lower) * stride);
    }
    if (mode != MODE_SINGLE) add_dimension(b, count, step * stride, NULL);
    return 1;
}

static int count_dimensions(const struct reference *ref) {
    int n = 0;
    while (n < CALLS_DIMS && ref->u.a.mode[n] != MODE_NONE) n++;
    return n;
}

static int take_array(struct place *p, struct box *b, const struct reference *ref, const struct descriptor *d) {
    const ptrdiff_t span = span_of(d);
    for (int i = 0; i < count_dimensions(ref); i++)
        if (!take_dimension(p, b, ref, i, d->dim[i], d->dim[i].stride * span, 1)) return 0;
    return 1;
}

static int take_static_array(struct place *p, struct box *b, const struct reference *ref) {
    for (int i = 0; i < count_dimensions(ref); i++)
        if (!take_dimension(p, b, ref, i, (struct dimension){.lower = 0}, (ptrdiff_t)ref->item_size, 0)) return 0;
    return 1;
}

/* Follows the chain, and records the reads of the pointers on the way. Returns 0 if it leads to no memory that is
 * watched. */
static int follow(const struct race_coarray *a, const struct reference *ref, struct far *f, struct box *b,
                  size_t *elem) {
    struct place p = {.at = f->first, .first = f->first, .size = a->size, .tracked = 1};
    const struct descriptor *known = a->shape.d.base ? &a->shape.d : NULL;
    struct any_shape array;
    b->dims = 0;
    for (; ref; ref = ref->next) {
        *elem = ref->item_size;
        if (ref->type == REFERENCE_ARRAY) {
            if (!known || !take_array(&p, b, ref, known)) return 0;
            known = NULL;
            continue;
        }
        if (ref->type == REFERENCE_STATIC_ARRAY) {
            if (!take_static_array(&p, b, ref)) return 0;
            continue;
        }
        p.at += (uint64_t)ref->u.c.offset;
        known = NULL;
        if (!ref->u.c.token_offset) continue;
        const int is_array = ref->next && ref->next->type == REFERENCE_ARRAY;
        const size_t len =
            is_array ? sizeof array.d + (size_t)count_dimensions(ref->next) * sizeof array.dim[0] : sizeof array.d.base;
        if (!p.tracked || !peek(f->pe, p.at, &array, len) || !array.d.base) return 0;
        struct far pointer = *f;
        pointer.at = p.at, pointer.first = p.first, pointer.size = p.size, pointer.write = 0;
        far_run(&pointer, 0, sizeof array.d.base);
        p = place_of(f->pe, (uint64_t)(uintptr_t)array.d.base);
        if (!is_array) continue;
        array.d.rank = (signed char)count_dimensions(ref->next);
        known = &array.d;
    }
    f->at = p.at, f->first = p.first, f->size = p.size;
    return p.tracked;
}

void race_caf_far(const struct race_call *c, const struct race_part *part, int write) {
    const struct race_coarray *a = race_coarray_of(part->token);
    struct far f = {.pe = race_caf_pe(part->image, part->team), .write = write};
    struct box b = {.dims = 0};
    ptrdiff_t begin = 0;
    size_t elem = 0;
    if (!race_watches() || !a || f.pe < 0) return;
    f.first = race_coarray_offset(a, f.pe);
    if (f.first == UINT64_MAX) return;
    f.size = a->size;
    f.who = image_who();
    f.place = race_call_place(c->pc, c->name);
    if (!part->section) {
        if (follow(a, part->refs, &f, &b, &elem)) each_run(&b, elem, far_run, &f);
    } else if (part->section->rank >= 0 && part->section->rank <= CALLS_DIMS) {
        if (part->vector)
            box_of_vectors(part->section, part->vector, &b, &begin);
        else
            box_of(part->section, &b);
        f.at = f.first + part->offset + (uint64_t)begin;
        each_run(&b, part->section->elem_len, far_run, &f);
    }
    free_lists(&b);
}

/* ---- atomic subroutines ---- */

static struct race_cell *atom_of(caf_token token, size_t offset, int image, size_t len, struct race_where *where) {
    const struct race_coarray *a = race_coarray_of(token);
    const int pe = race_caf_pe(image, NULL);
    uint64_t first;
    if (!race_watches() || !a || pe < 0 || (first = race_coarray_offset(a, pe)) == UINT64_MAX) return NULL;
    if (offset > a->size || len > a->size - offset || ((first + offset) & 7) + len > 8) return NULL;
    *where = (struct race_where){.addr = race_job.space + first + offset, .pe = pe};
    return race_cells_at(first + offset, len, pe);
}

void race_caf_atomic(const struct race_call *c, caf_token token, size_t offset, int image, size_t len, int write) {
    RACE_HELD;
    struct race_who who;
    struct race_where where;
    struct race_cell *cell = atom_of(token, offset, image, len, &where);
    if (!cell) return;
    who = image_who();
    if (write) {
        const struct race_operation op = race_caf_telling();
        race_log(race_me->actor, race_me->count, &op);
    }
    race_access(cell, race_mask(where.addr, len), RACE_ATOMIC, write, race_call_place(c->pc, c->name), &who, where);
}

void race_caf_atomic_read(caf_token token, size_t offset, int image, size_t len) {
    struct race_where where;
    struct race_cell *cell = atom_of(token, offset, image, len, &where);
    if (cell) race_caf_learn(cell, race_mask(where.addr, len));
}
