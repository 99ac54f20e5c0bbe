/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's transfers of sections of coarrays. Descriptors become boxes, vector subscripts become lists of offsets,
 * and elements of different types or kinds are converted in a temporary array on this image. */
#include "config.h"

#include "interfaces/caf/gfortran.h"
#include "interfaces/caf/team.h"

#include <stdlib.h>
#include <string.h>

ptrdiff_t rmai_caf_span_of(const struct descriptor *d) {
    ptrdiff_t offset = 0;
    if (__builtin_expect(d->span <= (ptrdiff_t)d->elem_len, 1)) return (ptrdiff_t)d->elem_len;
    for (int i = 0; i < d->rank; i++) offset -= d->dim[i].lower * d->dim[i].stride;
    return offset == d->offset ? d->span : (ptrdiff_t)d->elem_len;
}

void rmai_caf_box_cut(struct rmai_caf_box *box, size_t n) {
    size_t first = 1;
    if (__builtin_expect(box->n == n, 1)) return;
    for (int i = 0; i < box->dims; i++) {
        if ((first *= box->count[i]) != n) continue;
        box->dims = i + 1;
        box->n = n;
        return;
    }
}

void rmai_caf_box_of(const struct descriptor *d, struct rmai_caf_box *box, ptrdiff_t *strides) {
    ptrdiff_t span = rmai_caf_span_of(d);
    box->dims = 0;
    box->n = 1;
    for (int i = 0; i < d->rank; i++) {
        rmai_caf_box_add(box, d->dim[i].upper - d->dim[i].lower + 1);
        strides[i] = d->dim[i].stride * span;
    }
}

ptrdiff_t rmai_caf_vector_value(const void *values, int kind, ptrdiff_t i) {
    switch (kind) {
        case 1: return ((const int8_t *)values)[i];
        case 2: return ((const int16_t *)values)[i];
        case 4: return ((const int32_t *)values)[i];
        case 8: return (ptrdiff_t)((const int64_t *)values)[i];
        default: return (ptrdiff_t)((const __int128 *)values)[i];
    }
}

/* ---- assignments with conversion ---- */

#define HERE_BYTES 1024 /* temporary arrays up to this size are on the stack */

static RMAI_COLD void no_conversion(struct rmai_caf_result r, const char *statement, struct rmai_caf_type to,
                                    struct rmai_caf_type from) {
    rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: type %d of kind %d cannot be assigned to type %d of kind %d",
                    statement, from.type, from.kind, to.type, to.kind);
}

void rmai_caf_assign_to(struct rmai_caf_result r, const char *statement, const struct rmai_caf_remote *to,
                        struct rmai_caf_type to_type, const struct rmai_caf_local *from, struct rmai_caf_type from_type,
                        const struct rmai_caf_box *box, int overlap) {
    int same = rmai_caf_same_type(to_type, from_type);
    if (same && !overlap) {
        rmai_caf_put(statement, to, from, box, to_type.elem);
        rmai_caf_done(r);
        return;
    }
    char here[HERE_BYTES] __attribute__((aligned(16)));
    size_t bytes = box->n * to_type.elem;
    struct rmai_caf_local packed = {.base = bytes <= sizeof here ? here : rmai_caf_memory(statement, bytes)};
    rmai_caf_box_packed(box, to_type.elem, packed.stride);
    int possible = 1;
    if (same)
        rmai_caf_copy(packed.base, packed.stride, from->base, from->stride, box, to_type.elem);
    else
        possible = rmai_caf_convert(packed.base, packed.stride, to_type, from->base, from->stride, from_type, box);
    if (possible) rmai_caf_put(statement, to, &packed, box, to_type.elem);
    if (packed.base != here) free(packed.base);
    if (possible)
        rmai_caf_done(r);
    else
        no_conversion(r, statement, to_type, from_type);
}

void rmai_caf_assign_from(struct rmai_caf_result r, const char *statement, const struct rmai_caf_local *to,
                          struct rmai_caf_type to_type, const struct rmai_caf_remote *from,
                          struct rmai_caf_type from_type, const struct rmai_caf_box *box, int overlap) {
    int same = rmai_caf_same_type(to_type, from_type);
    if (same && !overlap) {
        rmai_caf_get(statement, to, from, box, to_type.elem);
        rmai_caf_done(r);
        return;
    }
    char here[HERE_BYTES] __attribute__((aligned(16)));
    size_t bytes = box->n * from_type.elem;
    struct rmai_caf_local packed = {.base = bytes <= sizeof here ? here : rmai_caf_memory(statement, bytes)};
    rmai_caf_box_packed(box, from_type.elem, packed.stride);
    rmai_caf_get(statement, &packed, from, box, from_type.elem);
    int possible = 1;
    if (same)
        rmai_caf_copy(to->base, to->stride, packed.base, packed.stride, box, to_type.elem);
    else
        possible = rmai_caf_convert(to->base, to->stride, to_type, packed.base, packed.stride, from_type, box);
    if (packed.base != here) free(packed.base);
    if (possible)
        rmai_caf_done(r);
    else
        no_conversion(r, statement, to_type, from_type);
}

/* ---- sections of coarrays ---- */

#define LIST_HERE 256 /* longer lists of offsets are on the heap */

/* One side of a transfer that is on some image. */
struct section {
    struct rmai_caf_remote remote;
    struct rmai_caf_box box;
    ptrdiff_t here[LIST_HERE];
};

/* The subscripts of one dimension, in order. */
struct subscripts {
    const struct vector *vector; /* or NULL: n subscripts from first on */
    ptrdiff_t n, first, step;    /* of a vector: the place of the first subscript, and 1 or -1 */
};

/* gfortran divides the number of a vector's subscripts by the stride with which they follow each other in memory, and
 * does not pass on the stride. What is left of it is the sign: 1, 0 and -1 can be told. A vector without subscripts is
 * then like a triplet. It is one whose lower bound is the address of the vector or 0, and the upper one its kind; a
 * triplet with these that begins or ends outside of the coarray would be a mistake. The lower bounds of all dimensions
 * are at byte `offset` of the coarray. */
static struct subscripts read_subscripts(const struct vector *v, ptrdiff_t lower, ptrdiff_t stride,
                                         const struct rmai_caf_coarray *c, size_t offset) {
    const ptrdiff_t n = (ptrdiff_t)v->n, first = v->u.triplet.lower, step = v->u.triplet.stride;
    if (n > 0) return (struct subscripts){.vector = v, .n = n, .step = 1};
    if (n < 0) return (struct subscripts){.vector = v, .n = -n, .step = -1};
    const __int128 count = step ? ((__int128)v->u.triplet.upper - first + step) / step : 0;
    const ptrdiff_t all = (ptrdiff_t)count, last = (ptrdiff_t)(first + (count - 1) * step);
    const int kind = v->u.v.kind, is_kind = kind == 1 || kind == 2 || kind == 4 || kind == 8 || kind == 16;
    if (is_kind && (is_address(v->u.v.values) || first == 0) &&
        (step != (int32_t)step || !rmai_caf_holds(c, offset + (size_t)rmai_caf_distance(lower, first, stride), 1) ||
         !rmai_caf_holds(c, offset + (size_t)rmai_caf_distance(lower, last, stride), 1)))
        return (struct subscripts){0};
    return (struct subscripts){.n = all, .first = first, .step = step};
}

static ptrdiff_t subscript(const struct subscripts *s, size_t i) {
    const ptrdiff_t at = (ptrdiff_t)i * s->step;
    return s->vector ? rmai_caf_vector_value(s->vector->u.v.values, s->vector->u.v.kind, at) : s->first + at;
}

/* DO for the type of a vector's integers; those of a rare kind are taken one by one. */
#define WITH_TYPE(KIND, DO, OTHERWISE)                                                                                 \
    switch (KIND) {                                                                                                    \
        case 4: DO(int32_t) break;                                                                                     \
        case 8: DO(int64_t) break;                                                                                     \
        default: OTHERWISE                                                                                             \
    }

/* The least and the greatest of the subscripts, of which there are some. */
static void find_range(const struct subscripts *s, ptrdiff_t *least, ptrdiff_t *most) {
    const ptrdiff_t first = subscript(s, 0), last = subscript(s, (size_t)s->n - 1);
    ptrdiff_t low = first < last ? first : last, high = first < last ? last : first;
#define RANGE_OF(T)                                                                                                    \
    {                                                                                                                  \
        const T *value = s->vector->u.v.values;                                                                        \
        for (ptrdiff_t k = 1; k < s->n - 1; k++) {                                                                     \
            const ptrdiff_t one = value[k * s->step];                                                                  \
            low = one < low ? one : low;                                                                               \
            high = one > high ? one : high;                                                                            \
        }                                                                                                              \
    }
    if (s->vector)
        WITH_TYPE(
            s->vector->u.v.kind, RANGE_OF, for (size_t k = 1; k + 1 < (size_t)s->n; k++) {
                const ptrdiff_t one = subscript(s, k);
                low = one < low ? one : low;
                high = one > high ? one : high;
            })
    *least = low;
    *most = high;
}

/* The offsets of the elements of one dimension. */
static void place_row(const struct subscripts *s, ptrdiff_t lower, ptrdiff_t stride, ptrdiff_t *list) {
#define PLACES_OF(T)                                                                                                   \
    {                                                                                                                  \
        const T *value = s->vector->u.v.values;                                                                        \
        for (ptrdiff_t k = 0; k < s->n; k++) list[k] = (value[k * s->step] - lower) * stride;                          \
    }
    WITH_TYPE(s->vector ? s->vector->u.v.kind : 0, PLACES_OF,
              for (size_t k = 0; k < (size_t)s->n; k++) list[k] = (subscript(s, k) - lower) * stride;)
}

/* Reads the subscripts of all dimensions, which count from the lower bounds of d, and makes the box of their elements.
 * Writes in which bytes the elements lie, as rmai_caf_hull does, if there are any. */
static void read_vector(struct section *s, const struct rmai_caf_coarray *c, size_t offset, const struct descriptor *d,
                        const struct vector *vector, struct subscripts *of, ptrdiff_t *low, ptrdiff_t *high) {
    s->box.dims = 0;
    s->box.n = 1;
    *low = 0, *high = (ptrdiff_t)d->elem_len;
    for (int i = 0; i < d->rank; i++) {
        const ptrdiff_t stride = s->remote.stride[i];
        of[i] = read_subscripts(&vector[i], d->dim[i].lower, stride, c, offset);
        rmai_caf_box_add(&s->box, of[i].n);
        if (of[i].n <= 0) continue;
        ptrdiff_t least, most;
        find_range(&of[i], &least, &most);
        const ptrdiff_t a = rmai_caf_distance(d->dim[i].lower, least, stride),
                        b = rmai_caf_distance(d->dim[i].lower, most, stride);
        *low += a < b ? a : b;
        *high += a < b ? b : a;
    }
}

/* The list of offsets of these elements, which all lie in the coarray. */
static void list_elements(struct section *s, const struct descriptor *d, const struct subscripts *of) {
    const struct rmai_caf_box *box = &s->box;
    s->remote.list = s->here;
    if (box->n > LIST_HERE) s->remote.list = rmai_caf_array("vector subscript", box->n, sizeof *s->remote.list);
    s->remote.list[0] = 0;
    if (box->n == 0 || box->dims == 0) return;
    place_row(&of[0], d->dim[0].lower, s->remote.stride[0], s->remote.list);
    size_t filled = box->count[0], block = filled;
    /* The elements of the first i dimensions are listed already; each index of the next one repeats them. */
    for (int i = 1; i < box->dims; i++, block = filled) {
        filled = block * box->count[i];
        for (size_t k = box->count[i]; k-- > 0;) {
            const ptrdiff_t offset = (subscript(&of[i], k) - d->dim[i].lower) * s->remote.stride[i];
            for (size_t e = 0; e < block; e++) s->remote.list[k * block + e] = s->remote.list[e] + offset;
        }
    }
}

static void close_section(struct section *s) {
    if (s->remote.list && s->remote.list != s->here) free(s->remote.list);
}

/* An offset that is far off is not a subscript that is wrong: gfortran passes the address of a temporary variable in
 * two cases, and what that has is lost. */
static RMAI_COLD int outside(struct rmai_caf_result r, const char *statement, const struct rmai_caf_coarray *c,
                             const struct descriptor *d, size_t low, size_t high) {
    const int far_off = low - ((size_t)1 << 40) < -((size_t)2 << 40);
    const char *why = "";
    if (far_off && d->type == RMAI_CAF_COMPLEX && d->rank == 0)
        why = "; gfortran makes a copy of a complex scalar coarray: use an array of one element";
    else if (far_off && d->rank > 0)
        why = "; gfortran loses a vector subscript of a coarray in an expression: assign to a variable first";
    rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: bytes %td to %td are outside of the coarray, which has %zu bytes%s",
                    statement, (ptrdiff_t)low, (ptrdiff_t)(high - 1), c->size, why);
    return 0;
}

/* Returns 0 after it has reported an error. */
static int open_section(struct section *s, struct rmai_caf_result r, const char *statement, caf_token c, size_t offset,
                        int image, const struct rmai_caf_team *team, const struct descriptor *d,
                        const struct vector *vector) {
    int pe;
    if (__builtin_expect(!c, 0)) { /* then the compiler does not know its cobounds, and image is any number */
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: the coarray is not allocated", statement);
        return 0;
    }
    if ((pe = rmai_caf_pe(r, statement, team, image)) < 0 || has_failed(r, statement, pe)) return 0;
    s->remote.list = NULL;
    rmai_caf_box_of(d, &s->box, s->remote.stride);
    struct subscripts of[RMAI_CAF_DIMS];
    ptrdiff_t low = 0, high = 0;
    if (vector)
        read_vector(s, c, offset, d, vector, of, &low, &high);
    else if (s->box.n > 0)
        rmai_caf_hull(&s->remote, &s->box, d->elem_len, &low, &high);
    if (__builtin_expect(s->box.n > 0 && !rmai_caf_holds(c, offset + (size_t)low, (size_t)(high - low)), 0))
        return outside(r, statement, c, d, offset + (size_t)low, offset + (size_t)high);
    if (vector) list_elements(s, d, of);
    s->remote.at = rmai_caf_place(c, offset, pe);
    return 1;
}

int rmai_caf_conform(struct rmai_caf_result r, const char *statement, size_t from, size_t to) {
    if (__builtin_expect(from == to, 1)) return 1;
    rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: %zu elements are assigned to %zu", statement, from, to);
    return 0;
}

/* Fills in *local for the other side of the transfer, on this image. Its n-th element belongs to the n-th element of
 * the section. A scalar serves all elements. Returns 0 after it has reported that the two do not conform: the program
 * is wrong, or the compiler has passed on a part of a vector subscript only. put: 1 if the section is assigned to. */
static int open_local(struct rmai_caf_local *local, struct rmai_caf_result r, const char *statement,
                      const struct descriptor *d, struct section *s, int put) {
    struct rmai_caf_box mine;
    local->base = d->base;
    if (d->rank == 0) {
        memset(local->stride, 0, sizeof local->stride);
        return put || rmai_caf_conform(r, statement, s->box.n, 1);
    }
    rmai_caf_box_of(d, &mine, local->stride);
    rmai_caf_box_cut(&mine, s->box.n);
    if (!put && s->box.dims == 0) { /* one element for all of dest */
        s->box = mine;
        memset(s->remote.stride, 0, sizeof s->remote.stride);
        return 1;
    }
    if (!rmai_caf_conform(r, statement, put ? mine.n : s->box.n, put ? s->box.n : mine.n)) return 0;
    /* A list has the elements in order, so any shape of as many elements walks it. */
    if (s->remote.list) s->box = mine;
    return 1;
}

/* ---- rows of coarrays ---- */

/* The most frequent transfers, whose time counts: elements of one type and kind, one of them or one dimension. Returns
 * 0, with nothing reported, if this is no such transfer or there is anything to report. */
static inline int open_row(struct rmai_caf_row *row, struct rmai_caf_place *place, caf_token c, size_t offset,
                           int image, const struct rmai_caf_team *team, const struct descriptor *remote,
                           const struct descriptor *local, const struct vector *vector, int one_kind, int overlap) {
    ptrdiff_t last = 0;
    if (vector || remote->rank > 1 || local->rank != remote->rank || local->type != remote->type ||
        local->elem_len != remote->elem_len || !one_kind || !c || rmai_caf.self->gone ||
        (unsigned)image - 1u >= (unsigned)team->n)
        return 0;
    const int pe = team->pes[image - 1];
    *row = (struct rmai_caf_row){.n = 1, .elem = remote->elem_len};
    if (remote->rank > 0) {
        const ptrdiff_t n = remote->dim[0].upper - remote->dim[0].lower + 1;
        if (n <= 0 || n != local->dim[0].upper - local->dim[0].lower + 1 || (overlap && pe == rmai_caf.me)) return 0;
        row->n = (size_t)n;
        row->there = remote->dim[0].stride * rmai_caf_span_of(remote);
        row->here = local->dim[0].stride * rmai_caf_span_of(local);
        last = rmai_caf_distance(1, n, row->there);
    }
    if (!rmai_caf_holds(c, offset + (size_t)(last < 0 ? last : 0), row->elem + (size_t)(last < 0 ? -last : last)))
        return 0;
    *place = rmai_caf_place(c, offset, pe);
    return 1;
}

void _gfortran_caf_send(caf_token token, size_t offset, int image, struct descriptor *dest, struct vector *dest_vector,
                        struct descriptor *source, int dest_kind, int source_kind, bool overlap, int *stat,
                        caf_team *team) {
    static const char statement[] = "assignment to a coarray of another image";
    const struct rmai_caf_team *in = __builtin_expect(team != NULL, 0) ? *team : rmai_caf.team;
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct rmai_caf_row row;
    struct rmai_caf_place place;
    if (open_row(&row, &place, token, offset, image, in, dest, source, dest_vector, dest_kind == source_kind,
                 overlap)) {
        rmai_caf_put_row(statement, place, source->base, &row);
        rmai_caf_done(r);
        return;
    }
    struct section s;
    struct rmai_caf_local local;
    if (!open_section(&s, r, statement, token, offset, image, in, dest, dest_vector)) return;
    if (open_local(&local, r, statement, source, &s, 1))
        rmai_caf_assign_to(r, statement, &s.remote, rmai_caf_type_of(dest, dest_kind), &local,
                           rmai_caf_type_of(source, source_kind), &s.box, overlap && s.remote.at.pe == rmai_caf.me);
    close_section(&s);
}

void _gfortran_caf_get(caf_token token, size_t offset, int image, struct descriptor *source,
                       struct vector *source_vector, struct descriptor *dest, int source_kind, int dest_kind,
                       bool overlap, int *stat) {
    static const char statement[] = "reference to a coarray of another image";
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct rmai_caf_row row;
    struct rmai_caf_place place;
    if (open_row(&row, &place, token, offset, image, rmai_caf.team, source, dest, source_vector,
                 dest_kind == source_kind, overlap)) {
        rmai_caf_get_row(statement, dest->base, place, &row);
        rmai_caf_done(r);
        return;
    }
    struct section s;
    struct rmai_caf_local local;
    if (!open_section(&s, r, statement, token, offset, image, rmai_caf.team, source, source_vector)) return;
    if (open_local(&local, r, statement, dest, &s, 0))
        rmai_caf_assign_from(r, statement, &local, rmai_caf_type_of(dest, dest_kind), &s.remote,
                             rmai_caf_type_of(source, source_kind), &s.box, overlap && s.remote.at.pe == rmai_caf.me);
    close_section(&s);
}

void _gfortran_caf_sendget(caf_token dest_token, size_t dest_offset, int dest_image, struct descriptor *dest,
                           struct vector *dest_vector, caf_token source_token, size_t source_offset, int source_image,
                           struct descriptor *source, struct vector *source_vector, int dest_kind, int source_kind,
                           bool overlap, int *stat) {
    static const char statement[] = "assignment between coarrays of other images";
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct section to, from;
    struct rmai_caf_local packed;
    (void)overlap; /* the elements pass through this image */
    if (!open_section(&from, r, statement, source_token, source_offset, source_image, rmai_caf.team, source,
                      source_vector))
        return;
    if (open_section(&to, r, statement, dest_token, dest_offset, dest_image, rmai_caf.team, dest, dest_vector)) {
        if (from.box.dims > 0 && !rmai_caf_conform(r, statement, from.box.n, to.box.n)) {
            close_section(&to);
            close_section(&from);
            return;
        }
        struct rmai_caf_type type = rmai_caf_type_of(source, source_kind);
        packed.base = rmai_caf_array(statement, from.box.n, type.elem);
        rmai_caf_box_packed(&from.box, type.elem, packed.stride);
        rmai_caf_get(statement, &packed, &from.remote, &from.box, type.elem);
        if (from.box.dims == 0)
            memset(packed.stride, 0, sizeof packed.stride);
        else
            rmai_caf_box_packed(&to.box, type.elem, packed.stride);
        rmai_caf_assign_to(r, statement, &to.remote, rmai_caf_type_of(dest, dest_kind), &packed, type, &to.box, 0);
        free(packed.base);
        close_section(&to);
    }
    close_section(&from);
}
