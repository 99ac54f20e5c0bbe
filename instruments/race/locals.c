/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler's unwinder finds the frame of an address. The variable comes from the program's debugging information:
 * variables whose address a program gives away have a fixed place in the frame, with optimization as without. */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/locals.h"

#include <string.h>
#include <unwind.h>

#include "instruments/race/blocks.h"
#include "instruments/race/dwarf.h"
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

/* The entry that has the name and type of a concrete one. */
static const struct race_entry *origin_of(const struct race_entries *t, const struct race_entry *e) {
    for (int steps = 0; e && e->origin && steps < 8; steps++) {
        const struct race_entry *next = race_dwarf_entry(t, e->origin);
        if (!next) break;
        e = next;
    }
    return e;
}

struct wanted {
    uintptr_t addr;
    const struct race_frame *frame;
    struct race_local *variable;
    int found; /* how many variables have the address */
};

static int search(const struct race_entries *t, void *arg) {
    struct wanted *w = arg;
    const struct race_frame *f = w->frame;
    const unsigned long pc = f->pc - 1 - race_job.program_bias;
    struct race_local *v = w->variable;
    for (int i = 0; i < t->n; i++) {
        const struct race_entry *e = &t->entries[i], *in = NULL, *named;
        uintptr_t base, at;
        size_t size;
        if (e->tag != RACE_TAG_VARIABLE || !e->has_place) continue;
        for (int up = e->parent; up >= 0 && !(in && in->base); up = t->entries[up].parent)
            if (t->entries[up].base) in = &t->entries[up];
        if (!in || pc - in->low >= in->high) continue;
        base = in->base == 'c' ? f->to : in->base == 'p' ? f->to - 16 : f->from;
        at = base + (uintptr_t)e->place;
        named = origin_of(t, e);
        size = race_dwarf_size(t, named->type);
        if (w->addr - at >= size || !named->name[0]) continue;
        if (w->found && !strcmp(v->name, named->name)) continue;
        w->found++;
        *v = (struct race_local){.size = size, .offset = w->addr - at};
        memcpy(v->name, named->name, sizeof v->name);
        for (int up = e->parent; up >= 0 && !v->function[0]; up = t->entries[up].parent)
            if (t->entries[up].tag == RACE_TAG_FUNCTION)
                memcpy(v->function, origin_of(t, &t->entries[up])->name, sizeof v->function);
    }
    return w->found > 1;
}

int race_local_variable(uintptr_t addr, const struct race_frame *f, struct race_local *v) {
    struct wanted w = {.addr = addr, .frame = f, .variable = v};
    race_dwarf_each(search, &w);
    return w.found == 1;
}
