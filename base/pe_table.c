/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/pe_table.h"

#include <stdlib.h>

#define FIRST_ROOM 16

/* Makes room for one more entry. Returns -1 without memory. */
static int grow_table(struct rmai_pe_table *t) {
    unsigned room = t->room ? 2 * t->room : FIRST_ROOM;
    int **entry;
    if (2 * (t->n + 1) <= t->room) return 0;
    entry = calloc(room, sizeof *entry);
    if (!entry) return -1;
    for (unsigned i = 0; i < t->room; i++)
        if (t->entry[i]) *rmai_pe_table_place_(entry, room, *t->entry[i]) = t->entry[i];
    free(t->entry);
    t->entry = entry;
    t->room = room;
    return 0;
}

void *rmai_pe_table_find(struct rmai_pe_table *t, int pe, size_t size) {
    int **place;
    void *entry = rmai_pe_table_get(t, pe);
    if (entry) return entry;
    if (grow_table(t) != 0) return NULL;
    place = rmai_pe_table_place_(t->entry, t->room, pe);
    if ((*place = calloc(1, size)) == NULL) return NULL;
    **place = pe;
    t->n++;
    return *place;
}

void rmai_pe_table_close(struct rmai_pe_table *t) {
    for (unsigned i = 0; i < t->room; i++) free(t->entry[i]);
    free(t->entry);
    *t = (struct rmai_pe_table){0};
}
