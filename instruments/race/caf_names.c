/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of a coarray's variable, its constant bounds, and the components of its type: from the program's debugging
 * information, as readelf prints it. gfortran keeps a coarray as a pointer, or as a descriptor that begins with one; so
 * the variable is the one that has the coarray's address. Without readelf, the symbol has the name. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instruments/race/caf.h"
#include "instruments/race/job.h"
#include "instruments/race/symbols.h"

/* A larger program is not searched: it would take seconds. */
#define PROGRAM_MOST ((off_t)64 << 20)

enum tag { OTHER, VARIABLE, POINTER, ARRAY, RANGE, STRUCTURE, MEMBER };
struct entry {
    unsigned long number, type, size, address;
    long lower, upper, at; /* of a range; where a member is */
    int depth, has_upper, has_address, is_descriptor;
    enum tag tag;
    char name[64];
};
struct table {
    struct entry *entries;
    int n, room;
};

static const struct entry *entry_at(const struct table *t, unsigned long number) {
    int from = 0, to = t->n;
    while (from < to) {
        const int middle = (from + to) / 2;
        if (t->entries[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    return number && from < t->n && t->entries[from].number == number ? &t->entries[from] : NULL;
}

static void read_attribute(struct entry *e, const char *attribute, const char *value) {
    const char *address = strstr(value, "(DW_OP_addr: "), *found = value[0] == '(' ? strstr(value, "): ") : NULL;
    const int is_number = !strstr(value, "block") && !strchr(value, '<');
    if (found) value = found + 3; /* after "(indirect string, offset: 0x3e): " */
    if (!strcmp(attribute, "DW_AT_name")) {
        snprintf(e->name, sizeof e->name, "%s", value);
        e->name[strcspn(e->name, " \t")] = '\0';
    } else if (!strcmp(attribute, "DW_AT_type")) {
        e->type = strtoul(value + strspn(value, " <"), NULL, 0);
    } else if (!strcmp(attribute, "DW_AT_byte_size")) {
        e->size = strtoul(value, NULL, 0);
    } else if (!strcmp(attribute, "DW_AT_lower_bound") && is_number) {
        e->lower = strtol(value, NULL, 0);
    } else if (!strcmp(attribute, "DW_AT_upper_bound") && is_number) {
        e->upper = strtol(value, NULL, 0);
        e->has_upper = 1;
    } else if (!strcmp(attribute, "DW_AT_data_member_location") && is_number) {
        e->at = strtol(value, NULL, 0);
    } else if (!strcmp(attribute, "DW_AT_data_location")) {
        e->is_descriptor = 1;
    } else if (!strcmp(attribute, "DW_AT_location") && address) {
        e->address = strtoul(address + strlen("(DW_OP_addr: "), NULL, 16);
        e->has_address = 1;
    }
}

static enum tag tag_of(const char *name) {
    static const struct {
        const char *name;
        enum tag tag;
    } tags[] = {{"variable)", VARIABLE}, {"pointer_type)", POINTER}, {"reference_type)", POINTER},
                {"array_type)", ARRAY},  {"subrange_type)", RANGE},  {"structure_type)", STRUCTURE},
                {"member)", MEMBER}};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (!strncmp(name, tags[i].name, strlen(tags[i].name))) return tags[i].tag;
    return OTHER;
}

static struct entry *add(struct table *t, int depth, unsigned long number, const char *tag) {
    if (t->n == t->room) {
        const int room = t->room ? 2 * t->room : 1024;
        struct entry *more = realloc(t->entries, (size_t)room * sizeof *more);
        if (!more) return NULL;
        t->entries = more;
        t->room = room;
    }
    t->entries[t->n] = (struct entry){.number = number, .depth = depth, .lower = 1, .tag = tag_of(tag)};
    return &t->entries[t->n++];
}

/* The type behind qualifiers. */
static const struct entry *type_of(const struct table *t, unsigned long number) {
    const struct entry *e = entry_at(t, number);
    for (int steps = 0; e && e->tag == OTHER && e->type && steps < 16; steps++) e = entry_at(t, e->type);
    return e;
}

/* The array, structure or basic type behind pointers and qualifiers. */
static const struct entry *type_behind(const struct table *t, unsigned long number) {
    const struct entry *e = type_of(t, number);
    for (int steps = 0; e && e->tag == POINTER && steps < 16; steps++) e = type_of(t, e->type);
    return e;
}

/* The next range of an array after `r`, or NULL. */
static const struct entry *next_range(const struct table *t, const struct entry *array, const struct entry *r) {
    for (r++; r < t->entries + t->n && r->depth > array->depth; r++)
        if (r->tag == RANGE) return r;
    return NULL;
}

static size_t size_of(const struct table *t, const struct entry *type) {
    size_t n = 1;
    if (!type) return 0;
    if (type->tag != ARRAY) return type->size;
    if (type->is_descriptor) return 0;
    for (const struct entry *r = next_range(t, type, type); r; r = next_range(t, type, r))
        n *= r->has_upper && r->upper >= r->lower ? (size_t)(r->upper - r->lower + 1) : 0;
    return n * size_of(t, type_behind(t, type->type));
}

/* Appends to a text. */
static void append(char *text, size_t room, const char *what) {
    const size_t used = strlen(text);
    if (used < room) snprintf(text + used, room - used, "%s", what);
}

/* Appends "%name(subscripts)" for the component of a structure that has byte `at`, and so on down to an intrinsic
 * type. */
static void name_component(const struct table *t, const struct entry *type, size_t at, char *text, size_t room) {
    char part[96];
    for (int steps = 0; type && type->tag == STRUCTURE && steps < 8; steps++) {
        const struct entry *member = NULL;
        size_t size = 0;
        for (const struct entry *m = type + 1; m < t->entries + t->n && m->depth > type->depth; m++)
            if (m->tag == MEMBER && m->depth == type->depth + 1 && (size_t)m->at <= at &&
                (!member || m->at > member->at))
                member = m;
        if (!member) return;
        at -= (size_t)member->at;
        snprintf(part, sizeof part, "%%%s", member->name);
        append(text, room, part);
        type = type_behind(t, member->type);
        if (!type || type->tag != ARRAY) continue;
        if (type->is_descriptor || !(size = size_of(t, type_behind(t, type->type)))) return;
        size_t element = at / size;
        const char *before = "(";
        at %= size;
        for (const struct entry *r = next_range(t, type, type); r; r = next_range(t, type, r)) {
            const size_t extent = r->has_upper && r->upper >= r->lower ? (size_t)(r->upper - r->lower + 1) : 1;
            snprintf(part, sizeof part, "%s%ld", before, r->lower + (long)(element % extent));
            append(text, room, part);
            element /= extent;
            before = ",";
        }
        append(text, room, ")");
        type = type_behind(t, type->type);
    }
}

/* The bounds of an array, if they are constants, and its elements' type. */
static const struct entry *read_array(const struct table *t, const struct entry *type, struct race_caf_named *n) {
    for (const struct entry *r = next_range(t, type, type); r && n->dims < CALLS_DIMS; r = next_range(t, type, r)) {
        if (!r->has_upper) break;
        n->lower[n->dims] = r->lower;
        n->upper[n->dims++] = r->upper;
    }
    if (type->is_descriptor) n->dims = 0;
    return type_behind(t, type->type);
}

/* Whether the variable has the address, and at which byte: a coarray is also a component of a variable. */
static int has_address(const struct entry *e, const struct entry *type, const void *base, size_t *byte) {
    const uintptr_t at = e->address + race_job.program_bias;
    const size_t size = type && type->tag == STRUCTURE && type->size > sizeof base ? type->size : sizeof base;
    if (at - race_job.statics > race_job.statics_len || size > race_job.statics_len - (at - race_job.statics)) return 0;
    for (*byte = 0; *byte + sizeof base <= size; *byte += sizeof base)
        if (!memcmp((const char *)at + *byte, &base, sizeof base)) return 1;
    return 0;
}

/* Searches the entries of one file of the program. */
static int search(const struct table *t, const void *base, size_t at, struct race_caf_named *n, char *component,
                  size_t room) {
    for (int i = 0; i < t->n; i++) {
        const struct entry *e = &t->entries[i], *type = type_of(t, e->type);
        size_t byte;
        if (e->tag != VARIABLE || !e->has_address || !e->name[0] || !strncmp(e->name, "caf_token", 9)) continue;
        if (!has_address(e, type, base, &byte)) continue;
        snprintf(n->name, sizeof n->name, "%s", e->name);
        n->dims = 0;
        n->elem = 0;
        if (type && type->tag == STRUCTURE) {
            name_component(t, type, byte, n->name, sizeof n->name);
            return 1;
        }
        type = type_behind(t, e->type);
        if (type && type->tag == ARRAY) type = read_array(t, type, n);
        n->elem = size_of(t, type);
        if (type && n->elem) name_component(t, type, at % n->elem, component, room);
        return 1;
    }
    return 0;
}

int race_caf_name(const void *base, size_t at, struct race_caf_named *n, char *component, size_t component_room) {
    char line[1024], attribute[64];
    struct table t = {0};
    struct entry *last = NULL;
    struct stat st;
    FILE *p;
    int found = 0;
    component[0] = '\0';
    *n = (struct race_caf_named){.dims = 0};
    if (stat("/proc/self/exe", &st) || st.st_size > PROGRAM_MOST)
        return race_symbols_variable_of(base, n->name, sizeof n->name);
    snprintf(line, sizeof line, "readelf -wi /proc/%d/exe 2>/dev/null", (int)getpid());
    p = popen(line, "r");
    while (p && fgets(line, sizeof line, p)) {
        unsigned long number;
        int depth, value = 0;
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "  Compilation Unit", 18)) { /* the next file */
            if (!found) found = search(&t, base, at, n, component, component_room);
            t.n = 0;
            last = NULL;
        } else if (sscanf(line, " <%d><%lx>: Abbrev Number: %*d (DW_TAG_%n", &depth, &number, &value) == 2 && value) {
            last = add(&t, depth, number, line + value);
        } else if (last && sscanf(line, " <%lx> %63[A-Za-z0-9_] : %n", &number, attribute, &value) == 2 && value) {
            read_attribute(last, attribute, line + value);
        }
    }
    if (p) pclose(p);
    if (!found) found = search(&t, base, at, n, component, component_room);
    free(t.entries);
    return found ? found : race_symbols_variable_of(base, n->name, sizeof n->name);
}
