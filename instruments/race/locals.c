/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler's unwinder finds the frame of an address. The variable comes from the program's debugging information
 * (DWARF 5, sections 3.3 and 4.1), as readelf prints it: variables whose address a program gives away have a fixed
 * place in the frame, with optimization as without. A tree of entries is printed in preorder, with their depths. */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/locals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include "instruments/race/blocks.h"
#include "instruments/race/job.h"

/* ---- the frame ---- */

struct walk {
    uintptr_t addr;
    struct race_frame frame;
};

/* For each function from the innermost one on: its place, and where its frame begins. */
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *arg) {
    struct walk *w = arg;
    w->frame.to = _Unwind_GetCFA(context);
    if (w->frame.to > w->addr) return _URC_END_OF_STACK;
    w->frame.from = w->frame.to;
    w->frame.pc = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

int race_frame_of(uintptr_t addr, struct race_frame *f) {
    struct walk w = {.addr = addr};
    if (!race_is_on_stack(addr)) return 0;
    _Unwind_Backtrace(visit, &w);
    *f = w.frame;
    return f->pc - race_job.program < race_job.program_end - race_job.program && f->from <= addr && addr < f->to;
}

/* ---- debugging information ---- */

/* A larger program is not searched: it would take seconds. */
#define PROGRAM_MOST ((off_t)64 << 20)

enum tag { OTHER, FUNCTION, VARIABLE, ARRAY, RANGE };
struct entry {
    unsigned long number, type, origin, size, elements; /* numbers of entries; elements: of an array or one range */
    unsigned long low, high;
    long place; /* in the frame */
    int depth, parent, has_place;
    enum tag tag;
    char base; /* what places count from: c: the frame's end, p: the register rbp, s: the stack pointer, or 0 */
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

/* The value of an attribute after its colon. */
static unsigned long value_of(const char *text) { return strtoul(text + strspn(text, " <"), NULL, 0); }

static void read_attribute(struct entry *e, const char *attribute, const char *value) {
    const char *place = strstr(value, "(DW_OP_fbreg: "), *found = value[0] == '(' ? strstr(value, "): ") : NULL;
    if (found) value = found + 3; /* after "(indirect string, offset: 0x3e): " or "(index: 0x0): " */
    if (!strcmp(attribute, "DW_AT_name")) {
        snprintf(e->name, sizeof e->name, "%s", value);
        e->name[strcspn(e->name, " \t")] = '\0';
    } else if (!strcmp(attribute, "DW_AT_low_pc")) {
        e->low = value_of(value);
    } else if (!strcmp(attribute, "DW_AT_high_pc")) {
        e->high = value_of(value);
    } else if (!strcmp(attribute, "DW_AT_type")) {
        e->type = value_of(value);
    } else if (!strcmp(attribute, "DW_AT_abstract_origin") || !strcmp(attribute, "DW_AT_specification")) {
        e->origin = value_of(value);
    } else if (!strcmp(attribute, "DW_AT_byte_size")) {
        e->size = value_of(value);
    } else if (!strcmp(attribute, "DW_AT_upper_bound") && value[0] != '(' && !strstr(value, "block")) {
        e->elements = value_of(value) + 1;
    } else if (!strcmp(attribute, "DW_AT_count")) {
        e->elements = value_of(value);
    } else if (!strcmp(attribute, "DW_AT_location") && place) {
        e->place = strtol(place + strlen("(DW_OP_fbreg: "), NULL, 10);
        e->has_place = 1;
    } else if (!strcmp(attribute, "DW_AT_frame_base")) {
        e->base = strstr(value, "call_frame_cfa") ? 'c' : strstr(value, "rbp") ? 'p' : strstr(value, "rsp") ? 's' : 0;
    }
}

static enum tag tag_of(const char *name) {
    static const struct {
        const char *name;
        enum tag tag;
    } tags[] = {{"subprogram)", FUNCTION}, {"inlined_subroutine)", FUNCTION},
                {"variable)", VARIABLE},   {"formal_parameter)", VARIABLE},
                {"array_type)", ARRAY},    {"subrange_type)", RANGE}};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (!strncmp(name, tags[i].name, strlen(tags[i].name))) return tags[i].tag;
    return OTHER;
}

/* Adds an entry. Returns it, or NULL if memory is exhausted. */
static struct entry *add(struct table *t, int depth, unsigned long number, const char *tag) {
    struct entry *e;
    int parent = t->n - 1;
    if (t->n == t->room) {
        const int room = t->room ? 2 * t->room : 1024;
        struct entry *more = realloc(t->entries, (size_t)room * sizeof *more);
        if (!more) return NULL;
        t->entries = more;
        t->room = room;
    }
    while (parent >= 0 && t->entries[parent].depth >= depth) parent = t->entries[parent].parent;
    e = &t->entries[t->n++];
    *e = (struct entry){.number = number, .depth = depth, .parent = parent, .tag = tag_of(tag)};
    return e;
}

/* The bytes of a type, or 0. An array's ranges follow it. */
static size_t size_of(const struct table *t, unsigned long type) {
    size_t n = 1;
    for (int steps = 0; steps < 32; steps++) {
        const struct entry *e = entry_at(t, type);
        if (!e) return 0;
        if (e->size) return n * e->size;
        for (const struct entry *r = e + 1; e->tag == ARRAY && r < t->entries + t->n && r->depth > e->depth; r++)
            if (r->tag == RANGE) n *= r->elements;
        type = e->type;
    }
    return 0;
}

/* The entry that has the name and type of a concrete one. */
static const struct entry *origin_of(const struct table *t, const struct entry *e) {
    for (int steps = 0; e && e->origin && steps < 8; steps++) {
        const struct entry *next = entry_at(t, e->origin);
        if (!next) break;
        e = next;
    }
    return e;
}

/* Searches the entries of one file of the program. Returns the number of variables that have the address. */
static int search(const struct table *t, uintptr_t addr, const struct race_frame *f, struct race_local *v) {
    const unsigned long pc = f->pc - 1 - race_job.program_bias;
    int found = 0;
    for (int i = 0; i < t->n; i++) {
        const struct entry *e = &t->entries[i], *in = NULL, *named;
        uintptr_t base, at;
        size_t size;
        if (e->tag != VARIABLE || !e->has_place) continue;
        for (int up = e->parent; up >= 0 && !(in && in->base); up = t->entries[up].parent)
            if (t->entries[up].base) in = &t->entries[up];
        if (!in || pc - in->low >= in->high) continue;
        base = in->base == 'c' ? f->to : in->base == 'p' ? f->to - 16 : f->from;
        at = base + (uintptr_t)e->place;
        named = origin_of(t, e);
        size = size_of(t, named->type);
        if (addr - at >= size || !named->name[0]) continue;
        if (found && !strcmp(v->name, named->name)) continue;
        found++;
        *v = (struct race_local){.size = size, .offset = addr - at};
        memcpy(v->name, named->name, sizeof v->name);
        for (int up = e->parent; up >= 0 && !v->function[0]; up = t->entries[up].parent)
            if (t->entries[up].tag == FUNCTION)
                memcpy(v->function, origin_of(t, &t->entries[up])->name, sizeof v->function);
    }
    return found;
}

int race_local_variable(uintptr_t addr, const struct race_frame *f, struct race_local *v) {
    char line[1024], attribute[64];
    struct table t = {0};
    struct entry *last = NULL;
    struct stat st;
    FILE *p;
    int found = 0;
    if (stat("/proc/self/exe", &st) || st.st_size > PROGRAM_MOST) return 0;
    snprintf(line, sizeof line, "readelf -wi /proc/%d/exe 2>/dev/null", (int)getpid());
    if (!(p = popen(line, "r"))) return 0;
    while (fgets(line, sizeof line, p)) {
        unsigned long number;
        int depth, value = 0;
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "  Compilation Unit", 18)) { /* the next file */
            found += found < 2 ? search(&t, addr, f, v) : 0;
            t.n = 0;
            last = NULL;
        } else if (sscanf(line, " <%d><%lx>: Abbrev Number: %*d (DW_TAG_%n", &depth, &number, &value) == 2 && value) {
            last = add(&t, depth, number, line + value);
        } else if (last && sscanf(line, " <%lx> %63[A-Za-z0-9_] : %n", &number, attribute, &value) == 2 && value) {
            read_attribute(last, attribute, line + value);
        }
    }
    pclose(p);
    found += found < 2 ? search(&t, addr, f, v) : 0;
    free(t.entries);
    return found == 1;
}
