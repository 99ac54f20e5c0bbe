/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/options.h"

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
    char kind;     /* p: place, f: function, v: variable */
    char *pattern; /* the line's part after the colon */
    char *where;   /* "FILE, line N: "LINE"", for messages */
    size_t number; /* counted from 0 */
    struct suppression *next;
} * suppressions, **last_suppression = &suppressions;

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

static size_t n_suppressions;

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
        if (asprintf(&s->where, "%s, line %d: \"%s\"", path, n, line) < 0) s->where = NULL;
        s->number = n_suppressions++;
        s->next = NULL;
        *last_suppression = s;
        last_suppression = &s->next;
    }
    fclose(f);
}

static int number(const char *text, long least, long most, long *value) {
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return !errno && end != text && !*end && *value >= least && *value <= most;
}

/* 1 for yes, 0 for no, -1 for another word. */
static int yes_or_no(const char *word) {
    if (!strcmp(word, "yes") || !strcmp(word, "1") || !strcmp(word, "on")) return 1;
    return !strcmp(word, "no") || !strcmp(word, "0") || !strcmp(word, "off") ? 0 : -1;
}

int race_options_wanted(void) {
    const char *text = getenv("RMA_RACE");
    char *copy, *rest;
    int wanted = -1;
    if (!text || !(copy = strdup(text))) return 1;
    for (const char *word = strtok_r(copy, ",", &rest); word && wanted < 0; word = strtok_r(NULL, ",", &rest))
        wanted = yes_or_no(word);
    free(copy);
    return wanted != 0;
}

/* The settings that may be given once. */
enum setting { ON, EXITCODE, HISTORY, ATOMICS, HOSTS, SETTINGS };

/* Takes a word's value. Returns its setting, or SETTINGS if it is none. */
static enum setting read_word(const char *word, long *value) {
    if ((*value = yes_or_no(word)) >= 0) return ON;
    if (!strncmp(word, "exitcode=", 9) && number(word + 9, 0, 255, value)) return EXITCODE;
    if (!strncmp(word, "history=", 8) && number(word + 8, HISTORY_LEAST, HISTORY_MOST, value)) return HISTORY;
    if (!strcmp(word, "hosts=nodes")) return HOSTS;
    *value = !strcmp(word, "atomics=specification");
    return *value || !strcmp(word, "atomics=librma") ? ATOMICS : SETTINGS;
}

void race_options_read(struct race_options *o, int pe) {
    long values[SETTINGS] = {[ON] = 1, [EXITCODE] = 66, [HISTORY] = 1024, [ATOMICS] = 1}, value;
    const char *text = getenv("RMA_RACE"), *given[SETTINGS] = {0};
    char *copy = text ? strdup(text) : NULL, *word, *rest;
    for (word = copy ? strtok_r(copy, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
        const enum setting s = read_word(word, &value);
        if (!strncmp(word, "suppressions=", 13)) {
            read_suppressions(word + 13, pe);
        } else if (s == SETTINGS) {
            if (pe == 0)
                race_say("RMA_RACE=%s: \"%s\" is not yes, no, exitcode=0..255, history=%d..%d, atomics=specification, "
                         "atomics=librma, hosts=nodes or suppressions=FILE; ignored",
                         text, word, HISTORY_LEAST, HISTORY_MOST);
        } else if (given[s] && values[s] != value) {
            if (pe == 0) race_say("RMA_RACE=%s: \"%s\" contradicts \"%s\"; ignored", text, word, given[s]);
        } else {
            given[s] = word;
            values[s] = value;
        }
    }
    *o = (struct race_options){.on = values[ON] != 0,
                               .exitcode = (int)values[EXITCODE],
                               .history = (uint32_t)values[HISTORY],
                               .nodes = given[HOSTS] != NULL,
                               .strict_atomics = values[ATOMICS] != 0};
    free(copy);
}

int race_suppressed(const char *const places[2], const char *const functions[2], const char *variable, uint8_t *used) {
    int any = 0;
    for (const struct suppression *s = suppressions; s; s = s->next) {
        const char *const *texts = s->kind == 'p' ? places : functions;
        const int matches = s->kind == 'v' ? !fnmatch(s->pattern, variable, 0)
                                           : !fnmatch(s->pattern, texts[0], 0) || !fnmatch(s->pattern, texts[1], 0);
        if (matches && s->number < RACE_SUPPRESSIONS_MOST) __atomic_store_n(&used[s->number], 1, __ATOMIC_RELAXED);
        any |= matches;
    }
    return any;
}

void race_suppressions_unused(const uint8_t *used) {
    for (const struct suppression *s = suppressions; s; s = s->next)
        if (s->number < RACE_SUPPRESSIONS_MOST && s->where && !__atomic_load_n(&used[s->number], __ATOMIC_RELAXED))
            race_say("%s suppresses nothing", s->where);
}
