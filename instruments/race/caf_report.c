/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of coarray programs: images instead of PEs, the element of a coarray, and Fortran's statements. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "instruments/race/blocks.h"
#include "instruments/race/caf.h"
#include "instruments/race/job.h"
#include "instruments/race/options.h"
#include "instruments/race/symbols.h"

/* ---- the variable ---- */

void race_caf_append(char *text, size_t room, const char *format, ...) {
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    if (used < room) vsnprintf(text + used, room - used, format, args);
    va_end(args);
}

/* Appends the subscripts of an element, counted from 0 in array element order. */
static void append_subscripts(char *text, size_t room, size_t element, int dims, const ptrdiff_t *lower,
                              const ptrdiff_t *upper) {
    for (int i = 0; i < dims; i++) {
        const size_t extent = upper[i] >= lower[i] ? (size_t)(upper[i] - lower[i] + 1) : 1;
        const ptrdiff_t subscript = lower[i] + (ptrdiff_t)(i == dims - 1 ? element : element % extent);
        race_caf_append(text, room, "%s%td", i ? "," : "(", subscript);
        element /= extent;
    }
    if (dims) race_caf_append(text, room, ")");
}

static int bounds_of(const struct descriptor *d, ptrdiff_t *lower, ptrdiff_t *upper) {
    for (int i = 0; i < d->rank; i++) lower[i] = d->dim[i].lower, upper[i] = d->dim[i].upper;
    return d->rank;
}

/* "a(5)[2]%i" for byte `at` of a coarray on PE pe. */
static void name_coarray(const struct race_coarray *a, int pe, size_t at, char *text, size_t room, char *name,
                         size_t name_room) {
    ptrdiff_t lower[CALLS_DIMS] = {0}, upper[CALLS_DIMS] = {0};
    char component[200], where[256], function[256];
    struct race_caf_named n;
    const size_t size = a->elem ? a->elem : 1;
    const struct descriptor *d = a->shape.d.base ? &a->shape.d : NULL;
    int dims = 0;
    text[0] = '\0';
    if (race_caf_name(a->base, at, &n, component, sizeof component)) {
        snprintf(name, name_room, "%s", n.name);
        race_caf_append(text, room, "%s", n.name);
        if (d)
            dims = bounds_of(d, lower, upper);
        else if ((dims = n.dims))
            memcpy(lower, n.lower, sizeof lower), memcpy(upper, n.upper, sizeof upper);
        append_subscripts(text, room, at / size, dims, lower, upper);
        race_caf_append(text, room, "[%d]%s", pe + 1, component);
        if (!dims && a->size > size) race_caf_append(text, room, ", element %zu of %zu", at / size + 1, a->size / size);
        return;
    }
    race_symbols_place(a->place, where, sizeof where, function, sizeof function);
    snprintf(text, room, "a coarray on image %d, allocated at %s, element ", pe + 1, where);
    if (d)
        append_subscripts(text, room, at / size, bounds_of(d, lower, upper), lower, upper);
    else
        race_caf_append(text, room, "%zu of %zu", at / size + 1, a->size / size);
}

/* The memory of a component: the coarray that has its address, and where. Larger coarrays are not searched. */
#define SEARCHED_MOST ((size_t)4 << 20)
static const struct race_coarray *owner_of(int pe, uint64_t block, size_t *at) {
    const uint64_t address = race_job.header->spaces[pe] + block;
    const char *space = (const char *)race_job.space_of[pe];
    const struct race_coarray *a = NULL;
    while (space && (a = race_coarray_next(a))) {
        const uint64_t first = race_coarray_offset(a, pe);
        for (size_t i = 0; first != UINT64_MAX && a->size <= SEARCHED_MOST && i + 8 <= a->size; i += 8)
            if (!memcmp(space + first + i, &address, sizeof address)) {
                *at = i;
                return a;
            }
    }
    return NULL;
}

static void name_component_memory(const struct race_block *b, int pe, uint64_t offset, char *text, size_t room,
                                  char *name, size_t name_room) {
    char where[256], function[256];
    size_t at;
    const struct race_coarray *a = owner_of(pe, b->offset, &at);
    struct any_shape d;
    if (!a) {
        race_symbols_place(b->place, where, sizeof where, function, sizeof function);
        snprintf(text, room, "a component on image %d, allocated at %s, byte %llu of %llu", pe + 1, where,
                 (unsigned long long)(offset - b->offset + 1), (unsigned long long)b->size);
        return;
    }
    name_coarray(a, pe, at, text, room, name, name_room);
    memset(&d, 0, sizeof d);
    memcpy(&d, (const char *)race_job.space_of[pe] + race_coarray_offset(a, pe) + at,
           a->size - at < sizeof d ? a->size - at : sizeof d);
    if (d.d.rank > 0 && d.d.rank <= CALLS_DIMS && d.d.elem_len && d.d.version == 0) {
        ptrdiff_t lower[CALLS_DIMS], upper[CALLS_DIMS];
        append_subscripts(text, room, (size_t)(offset - b->offset) / d.d.elem_len, bounds_of(&d.d, lower, upper), lower,
                          upper);
    }
}

static int variable_at(struct race_where where, char *text, size_t room, char *name, size_t name_room) {
    const struct race_coarray *a;
    const struct race_block *b;
    uint64_t offset = where.addr - race_job.space;
    size_t at;
    if (where.pe < 0) return 0;
    if (offset >= race_job.stride) offset = (where.addr - race_job.spaces) % race_job.stride;
    if ((a = race_coarray_at(where.pe, offset, &at))) {
        name_coarray(a, where.pe, at, text, room, name, name_room);
        return 1;
    }
    if (!(b = race_block_of(where.pe, offset)) || b->kind != RACE_LOCAL) return 0;
    name_component_memory(b, where.pe, offset, text, room, name, name_room);
    return 1;
}

/* ---- the two accesses ---- */

static int writes(const struct race_side *s) { return s->what != RACE_READS; }
static int is_collective(const char *call) { return !strncmp(call, "CO_", 3); }

/* "put to", "local load of", "local load by memcpy of". */
static void word_kind(const struct race_side *s, char *text, size_t room) {
    const int puts = !strcmp(s->call, "put"), gets = !strcmp(s->call, "get");
    if ((puts && writes(s)) || (gets && !writes(s)))
        snprintf(text, room, puts ? "put to" : "get of");
    else if (race_is_atomic(s) || is_collective(s->call))
        snprintf(text, room, "%s of", s->call);
    else if (puts || gets)
        snprintf(text, room, puts ? "local load, as what a put sends, of" : "local store, by a get, to");
    else
        snprintf(text, room, "local %s%s%s %s", writes(s) ? "store" : "load", s->call[0] ? " by " : "", s->call,
                 writes(s) ? "to" : "of");
}

static void word_order(const struct race_side *now, const struct race_side *old, char *text, size_t room) {
    const int a = race_pe_number(old->pe < now->pe ? old->pe : now->pe);
    const int b = race_pe_number(old->pe < now->pe ? now->pe : old->pe);
    char both[96];
    snprintf(both, sizeof both, "SYNC ALL between the two, or SYNC IMAGES of images %d and %d with each other", a, b);
    if (race_is_atomic(now) != race_is_atomic(old))
        snprintf(text, room, "%s, or atomic subroutines for both (Fortran 2018, 11.6.2, 11.6.3, 16.5)", both);
    else if (is_collective(now->call) || is_collective(old->call))
        snprintf(text, room, "%s; a collective subroutine orders no segments (Fortran 2018, 11.6.1, 11.6.3, 16.6)",
                 both);
    else if (writes(now) && writes(old))
        snprintf(text, room, "%s, or LOCK or CRITICAL around each (Fortran 2018, 11.6.2 to 11.6.4, 11.6.10, 11.1.6)",
                 both);
    else
        snprintf(text, room, "%s (Fortran 2018, 11.6.2 to 11.6.4)", both);
}

static void say_race(const struct race_side *old, const struct race_side *now, const char *memory, size_t bytes) {
    char kind[96], old_kind[96], advice[256];
    word_kind(now, kind, sizeof kind);
    word_kind(old, old_kind, sizeof old_kind);
    word_order(now, old, advice, sizeof advice);
    race_say("image %d: %s %s (%zu byte%s)\n"
             "    at %s%s%s\n"
             "  image %d: %s it at %s%s%s, in a segment that is not ordered with this one\n"
             "  what would order them: %s",
             race_pe_number(now->pe), kind, memory, bytes, bytes == 1 ? "" : "s", now->place,
             now->function[0] ? " in " : "", now->function, race_pe_number(old->pe), old_kind, old->place,
             old->function[0] ? " in " : "", old->function, advice);
}

const struct race_wording race_caf_wording = {.pe = "image", .first = 1, .memory = variable_at, .say = say_race};
