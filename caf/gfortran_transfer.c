/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's transfers of sections of coarrays: descriptors become boxes, vector subscripts become lists of offsets,
 * and elements of different types or kinds are converted in a temporary array on this image. */
#include "config.h"

#include "caf/gfortran.h"
#include "caf/team.h"

#include <stdlib.h>
#include <string.h>

void rmai_caf_box_of(const struct descriptor *d, struct rmai_caf_box *box, ptrdiff_t *strides) {
    ptrdiff_t span = d->span ? d->span : (ptrdiff_t)d->elem_len;
    box->dims = d->rank;
    box->n = 1;
    for (int i = 0; i < d->rank; i++) {
        ptrdiff_t count = d->dim[i].upper - d->dim[i].lower + 1;
        box->count[i] = count > 0 ? (size_t)count : 0;
        box->n *= box->count[i];
        strides[i] = d->dim[i].stride * span;
    }
}

ptrdiff_t rmai_caf_vector_value(const void *values, int kind, size_t i) {
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

/* The list of offsets of elements that vector subscripts select. Subscripts count from the lower bounds of d. */
static void list_elements(struct section *s, const struct descriptor *d, const struct vector *vector) {
    struct rmai_caf_box *box = &s->box;
    box->n = 1;
    for (int i = 0; i < box->dims; i++) {
        ptrdiff_t n = (ptrdiff_t)vector[i].n;
        if (!n)
            n = (vector[i].u.triplet.upper - vector[i].u.triplet.lower + vector[i].u.triplet.stride) /
                vector[i].u.triplet.stride;
        box->count[i] = n > 0 ? (size_t)n : 0;
        box->n *= box->count[i];
    }
    s->remote.list = s->here;
    if (box->n > LIST_HERE) s->remote.list = rmai_caf_memory("vector subscript", box->n * sizeof *s->remote.list);
    size_t filled = 1, block = 1;
    s->remote.list[0] = 0;
    /* The elements of the first i dimensions are listed already; each index of the next one repeats them. */
    for (int i = 0; i < box->dims; i++, block = filled) {
        filled = block * box->count[i];
        for (size_t k = box->count[i]; k-- > 0;) {
            ptrdiff_t index = vector[i].n ? rmai_caf_vector_value(vector[i].u.v.values, vector[i].u.v.kind, k)
                                          : vector[i].u.triplet.lower + (ptrdiff_t)k * vector[i].u.triplet.stride;
            ptrdiff_t offset = (index - d->dim[i].lower) * s->remote.stride[i];
            for (size_t e = 0; e < block; e++) s->remote.list[k * block + e] = s->remote.list[e] + offset;
        }
    }
}

static void close_section(struct section *s) {
    if (s->remote.list && s->remote.list != s->here) free(s->remote.list);
}

static RMAI_COLD int outside(struct rmai_caf_result r, const char *statement, const struct rmai_caf_coarray *c,
                             ptrdiff_t low, ptrdiff_t high) {
    rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: bytes %td to %td are outside of the coarray, which has %zu bytes",
                    statement, low, high - 1, c->size);
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
    ptrdiff_t low = (ptrdiff_t)offset, high = low + (ptrdiff_t)d->elem_len;
    if (vector) {
        list_elements(s, d, vector);
        ptrdiff_t least = 0, most = 0;
        for (size_t i = 0; i < s->box.n; i++) {
            if (s->remote.list[i] < least) least = s->remote.list[i];
            if (s->remote.list[i] > most) most = s->remote.list[i];
        }
        low += least, high += most;
    } else {
        for (int i = 0; i < s->box.dims && s->box.n; i++) {
            ptrdiff_t last = s->remote.stride[i] * ((ptrdiff_t)s->box.count[i] - 1);
            if (last < 0)
                low += last;
            else
                high += last;
        }
    }
    if (__builtin_expect((low < 0 || (size_t)high > c->size) && s->box.n > 0, 0)) {
        close_section(s);
        return outside(r, statement, c, low, high);
    }
    s->remote.at = rmai_caf_place(c, offset, pe);
    return 1;
}

/* Fills in *local for the other side of the transfer, on this image. Its n-th element belongs to the n-th element of
 * the section, but its shape may lack dimensions of one element. A scalar serves all elements. */
static void open_local(struct rmai_caf_local *local, const struct descriptor *d, struct section *s) {
    struct rmai_caf_box mine;
    local->base = d->base;
    if (d->rank == 0) {
        memset(local->stride, 0, sizeof local->stride);
        return;
    }
    rmai_caf_box_of(d, &mine, local->stride);
    /* A list has the elements in order, so any shape of as many elements walks it. */
    if (s->remote.list) s->box = mine;
}

/* Scalars of one type and kind: the most frequent transfers, whose time counts. */
static inline int is_scalar(const struct descriptor *a, const struct descriptor *b, int a_kind, int b_kind,
                            const struct vector *vector) {
    return !vector && a->rank == 0 && b->rank == 0 && a->type == b->type && a->elem_len == b->elem_len &&
           a_kind == b_kind;
}

void _gfortran_caf_send(caf_token token, size_t offset, int image, struct descriptor *dest, struct vector *dest_vector,
                        struct descriptor *source, int dest_kind, int source_kind, bool overlap, int *stat,
                        caf_team *team) {
    static const char statement[] = "assignment to a coarray of another image";
    const struct rmai_caf_team *in = __builtin_expect(team != NULL, 0) ? *team : rmai_caf.team;
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    if (is_scalar(dest, source, dest_kind, source_kind, dest_vector) && token && !rmai_caf.self->gone &&
        offset + dest->elem_len <= token->size) {
        int pe = rmai_caf_pe(r, statement, in, image);
        if (pe < 0) return;
        rmai_caf_write(statement, rmai_caf_place(token, offset, pe), source->base, dest->elem_len);
        rmai_caf_done(r);
        return;
    }
    struct section s;
    struct rmai_caf_local local;
    if (!open_section(&s, r, statement, token, offset, image, in, dest, dest_vector)) return;
    open_local(&local, source, &s);
    rmai_caf_assign_to(r, statement, &s.remote, rmai_caf_type_of(dest, dest_kind), &local,
                       rmai_caf_type_of(source, source_kind), &s.box, overlap && s.remote.at.pe == rmai_caf.me);
    close_section(&s);
}

void _gfortran_caf_get(caf_token token, size_t offset, int image, struct descriptor *source,
                       struct vector *source_vector, struct descriptor *dest, int source_kind, int dest_kind,
                       bool overlap, int *stat) {
    static const char statement[] = "reference to a coarray of another image";
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    if (is_scalar(dest, source, dest_kind, source_kind, source_vector) && token && !rmai_caf.self->gone &&
        offset + source->elem_len <= token->size) {
        int pe = rmai_caf_pe(r, statement, rmai_caf.team, image);
        if (pe < 0) return;
        rmai_caf_read(statement, dest->base, rmai_caf_place(token, offset, pe), source->elem_len);
        rmai_caf_done(r);
        return;
    }
    struct section s;
    struct rmai_caf_local local;
    if (!open_section(&s, r, statement, token, offset, image, rmai_caf.team, source, source_vector)) return;
    open_local(&local, dest, &s);
    if (s.box.dims == 0 && dest->rank > 0) { /* one element for all of dest */
        rmai_caf_box_of(dest, &s.box, local.stride);
        memset(s.remote.stride, 0, sizeof s.remote.stride);
    }
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
        struct rmai_caf_type type = rmai_caf_type_of(source, source_kind);
        packed.base = rmai_caf_memory(statement, from.box.n * type.elem);
        rmai_caf_box_packed(&from.box, type.elem, packed.stride);
        rmai_caf_get(statement, &packed, &from.remote, &from.box, type.elem);
        if (from.box.n == 1)
            memset(packed.stride, 0, sizeof packed.stride);
        else
            rmai_caf_box_packed(&to.box, type.elem, packed.stride);
        rmai_caf_assign_to(r, statement, &to.remote, rmai_caf_type_of(dest, dest_kind), &packed, type, &to.box, 0);
        free(packed.base);
        close_section(&to);
    }
    close_section(&from);
}
