/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections 2, 3.3, 4.1 and 5 of DWARF 5 define the entries. readelf prints a line for each, with its depth, its number
 * and its tag, and one for each attribute. */
#include "config.h"

#include "instruments/race/dwarf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM_MOST ((off_t)64 << 20)

const struct race_entry *race_dwarf_entry(const struct race_entries *t, unsigned long number) {
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

/* A chain of types that is longer than this is a circle. */
#define STEPS_MOST 32

const struct race_entry *race_dwarf_type(const struct race_entries *t, unsigned long number) {
    const struct race_entry *e = race_dwarf_entry(t, number);
    for (int steps = 0; e && e->tag == RACE_TAG_OTHER && e->type && steps < STEPS_MOST; steps++)
        e = race_dwarf_entry(t, e->type);
    return e;
}

const struct race_entry *race_dwarf_next_range(const struct race_entries *t, const struct race_entry *array,
                                               const struct race_entry *r) {
    for (r++; r < t->entries + t->n && r->depth > array->depth; r++)
        if (r->tag == RACE_TAG_RANGE) return r;
    return NULL;
}

size_t race_dwarf_elements(const struct race_entry *range) {
    if (!range->has_upper) return range->count;
    return range->upper >= range->lower ? (size_t)(range->upper - range->lower + 1) : 0;
}

size_t race_dwarf_size(const struct race_entries *t, unsigned long type) {
    size_t n = 1;
    for (int steps = 0; steps < STEPS_MOST; steps++) {
        const struct race_entry *e = race_dwarf_entry(t, type), *r = e;
        if (!e || e->is_descriptor) return 0;
        if (e->size) return n * e->size;
        while (e->tag == RACE_TAG_ARRAY && (r = race_dwarf_next_range(t, e, r))) n *= race_dwarf_elements(r);
        type = e->type;
    }
    return 0;
}

/* ---- what readelf prints ---- */

/* Of a bound that is the value of a variable, readelf prints the variable's number or an expression. */
static int is_number(const char *value) { return !strchr(value, '<') && !strstr(value, "block"); }

static unsigned long number_of(const char *value) { return strtoul(value + strspn(value, " <"), NULL, 0); }

/* The value after "(indirect string, offset: 0x3e): ", "(index: 0x0): ", or by later versions "(data1) ". */
static const char *after_form(const char *value) {
    const char *end;
    while (value[0] == '(' && (end = strchr(value, ')'))) value = end + 1 + strspn(end + 1, ": ");
    return value;
}

static void read_place(struct race_entry *e, const char *value) {
    static const char global[] = "(DW_OP_addr: ", local[] = "(DW_OP_fbreg: ";
    const char *found;
    if ((found = strstr(value, global))) {
        e->address = strtoul(found + strlen(global), NULL, 16);
        e->has_address = 1;
    } else if ((found = strstr(value, local))) {
        e->place = strtol(found + strlen(local), NULL, 10);
        e->has_place = 1;
    }
}

static void read_attribute(struct race_entries *t, struct race_entry *e, const char *attribute, const char *value) {
    value = after_form(value);
    if (!strcmp(attribute, "DW_AT_name")) {
        snprintf(e->name, sizeof e->name, "%s", value);
        e->name[strcspn(e->name, " \t")] = '\0';
    } else if (!strcmp(attribute, "DW_AT_language")) {
        t->first = strstr(value, "Fortran") != NULL;
    } else if (!strcmp(attribute, "DW_AT_low_pc")) {
        e->low = number_of(value);
    } else if (!strcmp(attribute, "DW_AT_high_pc")) {
        e->high = number_of(value);
    } else if (!strcmp(attribute, "DW_AT_type")) {
        e->type = number_of(value);
    } else if (!strcmp(attribute, "DW_AT_abstract_origin") || !strcmp(attribute, "DW_AT_specification")) {
        e->origin = number_of(value);
    } else if (!strcmp(attribute, "DW_AT_byte_size")) {
        e->size = number_of(value);
    } else if (!strcmp(attribute, "DW_AT_lower_bound") && is_number(value)) {
        e->lower = strtol(value, NULL, 0);
    } else if (!strcmp(attribute, "DW_AT_upper_bound") && is_number(value)) {
        e->upper = strtol(value, NULL, 0);
        e->has_upper = 1;
    } else if (!strcmp(attribute, "DW_AT_count") && is_number(value)) {
        e->count = number_of(value);
    } else if (!strcmp(attribute, "DW_AT_data_member_location") && is_number(value)) {
        e->at = strtol(value, NULL, 0);
    } else if (!strcmp(attribute, "DW_AT_data_location")) {
        e->is_descriptor = 1;
    } else if (!strcmp(attribute, "DW_AT_location")) {
        read_place(e, value);
    } else if (!strcmp(attribute, "DW_AT_frame_base")) {
        e->base = strstr(value, "call_frame_cfa") ? 'c' : strstr(value, "rbp") ? 'p' : strstr(value, "rsp") ? 's' : 0;
    }
}

static enum race_tag tag_of(const char *name) {
    static const struct {
        const char *name;
        enum race_tag tag;
    } tags[] = {{"subprogram)", RACE_TAG_FUNCTION},      {"inlined_subroutine)", RACE_TAG_FUNCTION},
                {"variable)", RACE_TAG_VARIABLE},        {"formal_parameter)", RACE_TAG_VARIABLE},
                {"pointer_type)", RACE_TAG_POINTER},     {"reference_type)", RACE_TAG_POINTER},
                {"array_type)", RACE_TAG_ARRAY},         {"subrange_type)", RACE_TAG_RANGE},
                {"structure_type)", RACE_TAG_STRUCTURE}, {"member)", RACE_TAG_MEMBER}};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (!strncmp(name, tags[i].name, strlen(tags[i].name))) return tags[i].tag;
    return RACE_TAG_OTHER;
}

/* Adds an entry. Returns it, or NULL if memory is exhausted. */
static struct race_entry *add(struct race_entries *t, int depth, unsigned long number, const char *tag) {
    struct race_entry *e;
    int parent = t->n - 1;
    if (t->n == t->room) {
        const int room = t->room ? 2 * t->room : 1024;
        struct race_entry *more = realloc(t->entries, (size_t)room * sizeof *more);
        if (!more) return NULL;
        t->entries = more;
        t->room = room;
    }
    while (parent >= 0 && t->entries[parent].depth >= depth) parent = t->entries[parent].parent;
    e = &t->entries[t->n++];
    *e = (struct race_entry){.number = number, .lower = t->first, .depth = depth, .parent = parent, .tag = tag_of(tag)};
    return e;
}

void race_dwarf_each(int (*search)(const struct race_entries *t, void *arg), void *arg) {
    char line[1024], attribute[64];
    struct race_entries t = {0};
    struct race_entry *last = NULL;
    struct stat st;
    FILE *p;
    int ended = 0;
    if (stat("/proc/self/exe", &st) || st.st_size > PROGRAM_MOST) return;
    snprintf(line, sizeof line, "readelf -wi /proc/%d/exe 2>/dev/null", (int)getpid());
    if (!(p = popen(line, "r"))) return;
    while (fgets(line, sizeof line, p)) {
        unsigned long number;
        int depth, value = 0;
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "  Compilation Unit", 18)) { /* the next file */
            if (!ended) ended = search(&t, arg);
            t.n = 0;
            last = NULL;
        } else if (sscanf(line, " <%d><%lx>: Abbrev Number: %*d (DW_TAG_%n", &depth, &number, &value) == 2 && value) {
            last = add(&t, depth, number, line + value);
        } else if (last && sscanf(line, " <%lx> %63[A-Za-z0-9_] : %n", &number, attribute, &value) == 2 && value) {
            read_attribute(&t, last, attribute, line + value);
        }
    }
    pclose(p);
    if (!ended) search(&t, arg);
    free(t.entries);
}
