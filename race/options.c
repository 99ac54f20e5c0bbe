/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "race/options.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HISTORY_LEAST 16
#define HISTORY_MOST  (1 << 20)

static struct suppression {
    char kind; /* p: place, f: function, v: variable */
    char *pattern;
    struct suppression *next;
} * suppressions;

void race_say(const char *format, ...) {
    char text[4096];
    int n, at = snprintf(text, sizeof text, "librma race: ");
    va_list args;
    va_start(args, format);
    n = vsnprintf(text + at, sizeof text - (size_t)at - 1, format, args);
    va_end(args);
    if (n < 0) return;
    at += n < (int)sizeof text - at - 2 ? n : (int)sizeof text - at - 2;
    text[at++] = '\n';
    while (write(STDERR_FILENO, text, (size_t)at) < 0 && errno == EINTR) continue;
}

static void read_suppressions(const char *path, int pe) {
    static const char *const kinds[] = {"place:", "function:", "variable:"};
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f) {
        if (pe == 0) race_say("RMA_RACE=suppressions=%s: %s; nothing is suppressed", path, strerror(errno));
        return;
    }
    for (int n = 1; fgets(line, sizeof line, f); n++) {
        struct suppression *s;
        size_t k;
        line[strcspn(line, "\r\n")] = '\0';
        if (!line[0] || line[0] == '#') continue;
        for (k = 0; k < 3 && strncmp(line, kinds[k], strlen(kinds[k])); k++) continue;
        if (k == 3) {
            if (pe == 0)
                race_say("%s, line %d: \"%s\" does not begin with place:, function: or variable:", path, n, line);
            continue;
        }
        s = malloc(sizeof *s);
        if (!s) break;
        s->kind = kinds[k][0];
        s->pattern = strdup(line + strlen(kinds[k]));
        s->next = suppressions;
        suppressions = s;
    }
    fclose(f);
}

static int number(const char *text, long least, long most, long *value) {
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return !errno && end != text && !*end && *value >= least && *value <= most;
}

static int is_no(const char *word) { return !strcmp(word, "no") || !strcmp(word, "0") || !strcmp(word, "off"); }

int race_options_wanted(void) {
    const char *text = getenv("RMA_RACE");
    char *copy, *rest;
    int wanted = 1;
    if (!text || !(copy = strdup(text))) return 1;
    for (const char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (is_no(word)) wanted = 0;
    free(copy);
    return wanted;
}

void race_options_read(struct race_options *o, int pe) {
    const char *text = getenv("RMA_RACE");
    char *copy, *word, *rest;
    long value;
    *o = (struct race_options){.on = 1, .exitcode = 66, .history = 1024};
    if (!text || !(copy = strdup(text))) return;
    for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (!strcmp(word, "yes") || !strcmp(word, "1") || !strcmp(word, "on")) continue;
        if (is_no(word))
            o->on = 0;
        else if (!strncmp(word, "exitcode=", 9) && number(word + 9, 0, 255, &value))
            o->exitcode = (int)value;
        else if (!strncmp(word, "history=", 8) && number(word + 8, HISTORY_LEAST, HISTORY_MOST, &value))
            o->history = (uint32_t)value;
        else if (!strncmp(word, "suppressions=", 13))
            read_suppressions(o->suppressions = strdup(word + 13), pe);
        else if (pe == 0)
            race_say(
                "RMA_RACE=%s: \"%s\" is not yes, no, exitcode=0..255, history=%d..%d or suppressions=FILE; ignored",
                text, word, HISTORY_LEAST, HISTORY_MOST);
    }
    free(copy);
}

int race_suppressed(const char *const places[2], const char *const functions[2], const char *variable) {
    for (const struct suppression *s = suppressions; s; s = s->next) {
        const char *const *texts = s->kind == 'p' ? places : functions;
        if (s->kind == 'v' && !fnmatch(s->pattern, variable, 0)) return 1;
        for (int i = 0; i < 2 && s->kind != 'v'; i++)
            if (!fnmatch(s->pattern, texts[i], 0)) return 1;
    }
    return 0;
}
