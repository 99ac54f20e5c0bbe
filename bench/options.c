/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c: reads options by table. It does not use getopt_long, whose messages go to stderr on every PE, and which
 * leaves the check of values, most of the work, to each program. */
#include "options.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ERROR_SIZE  BENCH_ERROR_SIZE
#define TYPED_SIZE  64
#define HELP_COLUMN 33 /* where --help describes the options */

/* Parse all of [text, end) as a number in min..max, with a binary suffix if it is a size. */
static bool read_number(const char *text, const char *end, bool is_size, long min, long max, long *value) {
    long v = 0, unit = 1;
    const char *p = text;
    for (; p < end && isdigit((unsigned char)*p); p++) {
        v = v * 10 + (*p - '0');
        if (v > max) return false;
    }
    if (p == text) return false;
    if (is_size && p < end) {
        int suffix = tolower((unsigned char)*p);
        unit = suffix == 'k' ? 1L << 10 : suffix == 'm' ? 1L << 20 : suffix == 'g' ? 1L << 30 : 1;
        if (unit > 1) p++;
    }
    if (p < end || v > max / unit || v * unit < min) return false;
    *value = v * unit;
    return true;
}

static bool read_sizes(const char *text, long min, long max, struct bench_sizes *sizes) {
    const char *colon = strchr(text, ':');
    const char *second = colon ? colon + 1 : text;
    long from = min, to;
    if (colon && !read_number(text, colon, true, min, max, &from)) return false;
    if (!read_number(second, second + strlen(second), true, from, max, &to)) return false;
    *sizes = (struct bench_sizes){(size_t)from, (size_t)to};
    return true;
}

static bool read_word(const char *text, const char *words, int *value) {
    size_t len = strlen(text);
    for (int i = 0;; i++) {
        size_t word = strcspn(words, "|");
        if (len == word && memcmp(text, words, len) == 0) {
            *value = i;
            return true;
        }
        if (words[word] == '\0') return false;
        words += word + 1;
    }
}

static int read_value(const struct bench_option *o, const char *typed, const char *text, char *error) {
    switch (o->kind) {
        case BENCH_FLAG:
        case BENCH_OUTPUT: break;
        case BENCH_COUNT:
            if (read_number(text, text + strlen(text), false, o->min, o->max, o->value)) return 0;
            snprintf(error, ERROR_SIZE, "option %s: '%.64s' is not a number in %ld..%ld", typed, text, o->min, o->max);
            break;
        case BENCH_SIZES:
            if (read_sizes(text, o->min, o->max, o->value)) return 0;
            snprintf(error, ERROR_SIZE,
                     "option %s: '%.64s' is not %s with %ld <= MIN <= MAX <= %ld bytes (suffixes k, M, G)", typed, text,
                     o->arg, o->min, o->max);
            break;
        case BENCH_TEXT: *(const char **)o->value = text; return 0;
        case BENCH_WORD:
            if (read_word(text, o->arg, o->value)) return 0;
            snprintf(error, ERROR_SIZE, "option %s: '%.64s' is not one of %s", typed, text, o->arg);
            break;
    }
    return -1;
}

/* The option that arg names; typed is its name as written, *text the value in the same word, or NULL. */
static const struct bench_option *find(const struct bench_option *const tables[], int n, const char *arg,
                                       char typed[TYPED_SIZE], const char **text) {
    size_t len = strcspn(arg, "=");
    for (int i = 0; i < n; i++)
        for (const struct bench_option *o = tables[i]; o && o->name; o++) {
            if (o->letter && arg[0] == '-' && arg[1] == o->letter) {
                *text = arg[2] ? arg + 2 : NULL;
                snprintf(typed, TYPED_SIZE, "-%c", o->letter);
                return o;
            }
            if (strncmp(arg, "--", 2) == 0 && len == strlen(o->name) + 2 && memcmp(arg + 2, o->name, len - 2) == 0) {
                *text = arg[len] ? arg + len + 1 : NULL;
                snprintf(typed, TYPED_SIZE, "--%s", o->name);
                return o;
            }
        }
    return NULL;
}

int bench_options_read(const struct bench_option *const tables[], int n, int argc, char **argv,
                       char error[ERROR_SIZE]) {
    for (int i = 1; i < argc; i++) {
        char typed[TYPED_SIZE];
        const char *text = NULL;
        const struct bench_option *o = find(tables, n, argv[i], typed, &text);
        if (!o) {
            snprintf(error, ERROR_SIZE, "unknown option '%.64s' (--help lists them)", argv[i]);
            return -1;
        }
        if (o->kind == BENCH_FLAG) {
            if (text) {
                snprintf(error, ERROR_SIZE, "option %s takes no value, but was given '%.64s'", typed, text);
                return -1;
            }
            *(bool *)o->value = true;
            continue;
        }
        if (o->kind == BENCH_OUTPUT) {
            if (text && !*text) {
                snprintf(error, ERROR_SIZE, "option %s: the name of the file is empty", typed);
                return -1;
            }
            *(struct bench_output_option *)o->value = (struct bench_output_option){true, text};
            continue;
        }
        if (!text && i + 1 < argc) text = argv[++i];
        if (!text) {
            snprintf(error, ERROR_SIZE, "option %s needs a value: %s", typed, o->arg);
            return -1;
        }
        if (read_value(o, typed, text, error) != 0) return -1;
    }
    return 0;
}

void bench_options_print(const struct bench_option *const tables[], int n) {
    for (int i = 0; i < n; i++)
        for (const struct bench_option *o = tables[i]; o && o->name; o++) {
            int column = printf("  %c%c%c --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                                o->letter ? ',' : ' ', o->name,
                                !o->arg                   ? ""
                                : o->kind == BENCH_OUTPUT ? "[="
                                                          : "=",
                                o->arg ? o->arg : "");
            if (o->kind == BENCH_OUTPUT) column += printf("]");
            if (column > HELP_COLUMN - 1) column = printf("\n") - 1;
            printf("%*s%s\n", HELP_COLUMN - column, "", o->help);
        }
}
