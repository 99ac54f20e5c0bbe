/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "trace/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 200 /* addresses on a command line */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Functions of librma's headers only forward: the user knows only their callers. */
static int is_own_header(const char *where) {
    static const char *const own[] = {"shmem.h:", "shmemx.h:", "rma.h:", "rma_typed.h:", "rma_inline.h:"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (!strncmp(where, own[i], strlen(own[i]))) return 1;
    return 0;
}

/* addr2line -a prints the address, and then a function and a place for each function inlined there, innermost first. */
static void read_answers(FILE *p, struct trace_place **asked, int n) {
    char line[4400], function[400] = "";
    int i = -1, found = 0, in_function = 0;
    while (fgets(line, sizeof line, p)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "0x", 2)) {
            i++;
            found = 0;
            in_function = 1;
        } else if (in_function) {
            snprintf(function, sizeof function, "%.*s", (int)sizeof function - 1, line[0] == '?' ? "" : line);
            in_function = 0;
        } else {
            char *end = strstr(line, " (discriminator");
            in_function = 1;
            if (i < 0 || i >= n || (found && !is_own_header(asked[i]->where))) continue;
            if (end) *end = '\0';
            snprintf(asked[i]->function, sizeof asked[i]->function, "%.*s", (int)sizeof asked[i]->function - 1,
                     function);
            if (line[0] == '?' || strstr(line, ":?") || !strcmp(base_name(line), ":0")) continue;
            snprintf(asked[i]->where, sizeof asked[i]->where, "%.*s", (int)sizeof asked[i]->where - 1, base_name(line));
            found = 1;
        }
    }
}

static void ask(const char *file, struct trace_place **asked, int n) {
    char command[4400 + AT_ONCE * 20];
    int at;
    FILE *p;
    if (strchr(file, '\'')) return; /* it would end the word */
    at = snprintf(command, sizeof command, "LD_PRELOAD= addr2line -a -i -f -C -e '%s'", file);
    /* A return address follows its call: its line may be that of the next statement. */
    for (int i = 0; i < n; i++)
        at += snprintf(command + at, sizeof command - (size_t)at, " 0x%llx", (unsigned long long)asked[i]->offset - 1);
    snprintf(command + at, sizeof command - (size_t)at, " 2>/dev/null");
    p = popen(command, "re");
    if (!p) return;
    read_answers(p, asked, n);
    pclose(p);
}

void trace_names(struct trace_record *r) {
    struct trace_place *asked[AT_ONCE];
    char *done = calloc(r->n_places + 1, 1);
    for (uint32_t i = 0; i < r->n_places; i++)
        snprintf(r->places[i].where, sizeof r->places[i].where, "%s+0x%llx", base_name(r->places[i].file),
                 (unsigned long long)r->places[i].offset);
    for (uint32_t i = 0; done && i < r->n_places; i++) {
        int n = 0;
        if (done[i] || !strcmp(r->places[i].file, "?")) continue;
        for (uint32_t k = i; k < r->n_places && n < AT_ONCE; k++)
            if (!done[k] && !strcmp(r->places[k].file, r->places[i].file)) {
                done[k] = 1;
                asked[n++] = &r->places[k];
            }
        ask(r->places[i].file, asked, n);
        if (!done[i]) break;
    }
    free(done);
}
