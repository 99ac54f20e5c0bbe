/* SPDX-License-Identifier: BSD-3-Clause */
/* docs/performance.md says how the table's numbers were measured. */
#include "config.h"

#include "base/choice.h"
#include "base/size.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum unit { BYTES, PES };

struct row {
    const char *name; /* family:algorithm */
    enum unit unit;
    size_t from[RMAI_SHAPES];
    const char *help;
};

#define K(n) ((size_t)(n) << 10)

static const struct row choice_table[RMAI_WAYS] = {
    [RMAI_BROADCAST_DIRECT] = {"broadcast:direct",
                               BYTES,
                               {K(4), K(4), K(16)},
                               "from the root's own buffer; below: staged"},
    [RMAI_FCOLLECT_DIRECT] = {"fcollect:direct",
                              BYTES,
                              {K(1), K(1), K(8)},
                              "from the peers' own buffers; below: staged"},
    [RMAI_COLLECT_DIRECT] = {"collect:direct", BYTES, {K(1), K(1), K(8)}, "from the peers' own buffers; below: staged"},
    [RMAI_ALLTOALL_DIRECT] = {"alltoall:direct",
                              BYTES,
                              {K(2), K(2), K(8)},
                              "from the peers' own buffers; below: staged"},
    [RMAI_REDUCE_SHARE] = {"reduce:share",
                           BYTES,
                           {K(2), K(2), K(8)},
                           "each PE does its share for all; below: all do all, staged"},
    [RMAI_SCAN_SHARE] = {"scan:share",
                         BYTES,
                         {K(2), K(2), K(8)},
                         "each PE does its share for all; below: each its own, staged"},
    [RMAI_MEET_TREE] = {"meet:tree", PES, {RMAI_NEVER, 9, RMAI_NEVER}, "by a tree; below: all hear all"},
    [RMAI_MEET_COUNTER] = {"meet:counter",
                           PES,
                           {RMAI_NEVER, RMAI_NEVER, 2},
                           "by one counter, where PEs should be woken once"},
};

/* Reads the threshold in [text, text + len), such as "8k" or "never". Returns 0, or -1. */
static int parse_threshold(const char *text, size_t len, size_t *from) {
    char word[32];
    if (len == 0 || len >= sizeof word) return -1;
    memcpy(word, text, len);
    word[len] = 0;
    if (strcasecmp(word, "never") == 0) {
        *from = RMAI_NEVER;
        return 0;
    }
    return strchr(word, '%') ? -1 : rmai_parse_size(word, 0, from);
}

static int set_choice(struct rmai_choice *c, const char *text, size_t len) {
    const char *equals = memchr(text, '=', len);
    size_t name = equals ? (size_t)(equals - text) : len, from;
    if (!equals || parse_threshold(equals + 1, len - name - 1, &from) != 0) return -1;
    for (int way = 0; way < RMAI_WAYS; way++) {
        if (strlen(choice_table[way].name) != name || strncasecmp(choice_table[way].name, text, name) != 0) continue;
        for (int shape = 0; shape < RMAI_SHAPES; shape++) c->from[way][shape] = from;
        return 0;
    }
    return -1;
}

int rmai_choice_set(struct rmai_choice *c, const char *text, const char **bad, size_t *len) {
    for (int way = 0; way < RMAI_WAYS; way++)
        memcpy(c->from[way], choice_table[way].from, sizeof choice_table[way].from);
    if (strcasecmp(text, "auto") == 0) return 0;
    for (const char *p = text;; p += *len + 1) {
        while (isspace((unsigned char)*p)) p++;
        *len = strcspn(p, ",");
        *bad = p;
        if (set_choice(c, p, *len) != 0) return -1;
        if (!p[*len]) return 0;
    }
}

static void threshold_text(char buf[24], enum unit unit, size_t from) {
    if (from == RMAI_NEVER)
        strcpy(buf, "never");
    else if (unit == BYTES)
        rmai_format_size(buf, from);
    else
        snprintf(buf, 24, "%u PEs", (unsigned)from);
}

void rmai_choice_print(const struct rmai_choice *c, void (*put)(void *out, const char *line), void *out) {
    char line[320], from[RMAI_SHAPES][24]; /* longer than any help */
    snprintf(line, sizeof line, "%-17s %-8s %-8s %-8s", "taken from", "2 PEs", "more", "crowded");
    put(out, line);
    for (int way = 0; way < RMAI_WAYS; way++) {
        for (int shape = 0; shape < RMAI_SHAPES; shape++)
            threshold_text(from[shape], choice_table[way].unit, c->from[way][shape]);
        snprintf(line, sizeof line, "%-17s %-8s %-8s %-8s %s", choice_table[way].name, from[RMAI_PAIR],
                 from[RMAI_ROOMY], from[RMAI_CROWDED], choice_table[way].help);
        put(out, line);
    }
}
