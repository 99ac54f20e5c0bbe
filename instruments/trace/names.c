/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/trace/names.h"

#include <stdio.h>
#include <string.h>

#include "base/lines.h"

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A return address follows its call: its line may be that of the next statement. */
static void name_place(struct trace_place *p) {
    const struct rmai_line l = rmai_lines_find(p->file, p->offset - 1);
    p->has_line = l.where[0] != '\0';
    if (p->has_line)
        snprintf(p->where, sizeof p->where, "%s", l.where);
    else
        snprintf(p->where, sizeof p->where, "%s+0x%llx", base_name(p->file), (unsigned long long)p->offset);
    snprintf(p->function, sizeof p->function, "%s", l.function);
}

/* Of one file after the other: the reader keeps the last file open. */
void trace_names(struct trace_record *r) {
    for (uint32_t i = 0; i < r->n_places; i++) {
        if (r->places[i].where[0]) continue;
        for (uint32_t k = i; k < r->n_places; k++)
            if (!r->places[k].where[0] && !strcmp(r->places[k].file, r->places[i].file)) name_place(&r->places[k]);
    }
}
