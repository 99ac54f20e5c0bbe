/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of a coarray's variable, its constant bounds, and the components of its type: from the program's debugging
 * information. gfortran keeps a coarray as a pointer, or as a descriptor that begins with one; so the variable is the
 * one that has the coarray's address. Without that information, the symbol has the name. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "instruments/race/caf.h"
#include "instruments/race/dwarf.h"
#include "instruments/race/job.h"
#include "instruments/race/symbols.h"

/* The array, structure or basic type behind pointers and qualifiers. */
static const struct race_entry *type_behind(const struct race_entries *t, unsigned long number) {
    const struct race_entry *e = race_dwarf_type(t, number);
    for (int steps = 0; e && e->tag == RACE_TAG_POINTER && steps < 16; steps++) e = race_dwarf_type(t, e->type);
    return e;
}

/* Appends "%name(subscripts)" for the component of a structure that has byte `at`, and so on down to an intrinsic
 * type. */
static void name_component(const struct race_entries *t, const struct race_entry *type, size_t at, char *text,
                           size_t room) {
    for (int steps = 0; type && type->tag == RACE_TAG_STRUCTURE && steps < 8; steps++) {
        const struct race_entry *member = NULL;
        size_t size = 0;
        for (const struct race_entry *m = type + 1; m < t->entries + t->n && m->depth > type->depth; m++)
            if (m->tag == RACE_TAG_MEMBER && m->depth == type->depth + 1 && (size_t)m->at <= at &&
                (!member || m->at > member->at))
                member = m;
        if (!member) return;
        at -= (size_t)member->at;
        race_caf_append(text, room, "%%%s", member->name);
        type = type_behind(t, member->type);
        if (!type || type->tag != RACE_TAG_ARRAY) continue;
        if (type->is_descriptor || !(size = race_dwarf_size(t, type->type))) return;
        size_t element = at / size;
        const char *before = "(";
        at %= size;
        for (const struct race_entry *r = race_dwarf_next_range(t, type, type); r;
             r = race_dwarf_next_range(t, type, r)) {
            const size_t extent = race_dwarf_elements(r) ? race_dwarf_elements(r) : 1;
            race_caf_append(text, room, "%s%ld", before, r->lower + (long)(element % extent));
            element /= extent;
            before = ",";
        }
        race_caf_append(text, room, ")");
        type = type_behind(t, type->type);
    }
}

/* The bounds of an array, if they are constants. */
static void read_bounds(const struct race_entries *t, const struct race_entry *array, struct race_caf_named *n) {
    const struct race_entry *r = array;
    if (array->is_descriptor) return;
    while (n->dims < CALLS_DIMS && (r = race_dwarf_next_range(t, array, r)) && r->has_upper) {
        n->lower[n->dims] = r->lower;
        n->upper[n->dims++] = r->upper;
    }
}

/* Whether the variable has the address, and at which byte: a coarray is also a component of a variable. */
static int has_address(const struct race_entry *e, const struct race_entry *type, const void *base, size_t *byte) {
    const uintptr_t at = e->address + race_job.program_bias;
    const size_t size = type && type->tag == RACE_TAG_STRUCTURE && type->size > sizeof base ? type->size : sizeof base;
    if (at - race_job.statics > race_job.statics_len || size > race_job.statics_len - (at - race_job.statics)) return 0;
    for (*byte = 0; *byte + sizeof base <= size; *byte += sizeof base)
        if (!memcmp((const char *)at + *byte, &base, sizeof base)) return 1;
    return 0;
}

struct wanted {
    const void *base;
    size_t at;
    struct race_caf_named *named;
    char *component;
    size_t room;
    int found;
};

static int search(const struct race_entries *t, void *arg) {
    struct wanted *w = arg;
    struct race_caf_named *n = w->named;
    for (int i = 0; i < t->n; i++) {
        const struct race_entry *e = &t->entries[i], *type = race_dwarf_type(t, e->type);
        unsigned long element;
        size_t byte;
        if (e->tag != RACE_TAG_VARIABLE || !e->has_address || !e->name[0] || !strncmp(e->name, "caf_token", 9))
            continue;
        if (!has_address(e, type, w->base, &byte)) continue;
        w->found = 1;
        snprintf(n->name, sizeof n->name, "%s", e->name);
        n->dims = 0;
        n->elem = 0;
        if (type && type->tag == RACE_TAG_STRUCTURE) {
            name_component(t, type, byte, n->name, sizeof n->name);
            return 1;
        }
        type = type_behind(t, e->type);
        if (!type) return 1;
        element = type->number;
        if (type->tag == RACE_TAG_ARRAY) {
            read_bounds(t, type, n);
            element = type->type;
        }
        n->elem = race_dwarf_size(t, element);
        if (n->elem) name_component(t, type_behind(t, element), w->at % n->elem, w->component, w->room);
        return 1;
    }
    return 0;
}

int race_caf_name(const void *base, size_t at, struct race_caf_named *n, char *component, size_t component_room) {
    struct wanted w = {.base = base, .at = at, .named = n, .component = component, .room = component_room};
    component[0] = '\0';
    *n = (struct race_caf_named){.dims = 0};
    race_dwarf_each(search, &w);
    return w.found || race_symbols_variable_of(base, n->name, sizeof n->name);
}
