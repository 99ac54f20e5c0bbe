/* SPDX-License-Identifier: BSD-3-Clause */
/* The orders of a model's accesses, read in the source. */
#include "litmus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies text with each run of blanks, of ends of lines and of backslashes before them as one blank. */
static void squeeze(char *to, const char *from, size_t len) {
    int blank = 1;
    for (size_t i = 0; i < len; i++) {
        int is = isspace((unsigned char)from[i]) || (from[i] == '\\' && from[i + 1] == '\n');
        if (!is) *to++ = from[i];
        if (is && !blank) *to++ = ' ';
        blank = is;
    }
    if (blank && to[-1] == ' ') to--;
    *to = 0;
}

static char *read_whole(const char *source, const char *file) {
    char path[400];
    char *text;
    long size;
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", source, file);
    if (!(f = fopen(path, "r"))) return NULL;
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = calloc(1, (size_t)size + 2);
    if (!text || fread(text, 1, (size_t)size, f) != (size_t)size) {
        perror(path);
        exit(2);
    }
    fclose(f);
    return text;
}

static int is_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The text of a function: from its name to the brace in column 0, or to the end of the line if it is a short one; of a
 * macro, to the first line that does not go on. Returns its length, 0 if the function is not there. */
static size_t find_function(const char *text, const char *name, const char **begin) {
    const size_t len = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        const char *end, *at, *brace;
        line += *line == '\n';
        end = line + strcspn(line, "\n");
        if (!*line) break;
        if (isspace((unsigned char)*line) || *line == '/' || *line == '*') continue;
        for (at = line; (at = strstr(at, name)) && at < end; at++)
            if ((at[len] == '(' || (*line == '#' && at[len] == ' ')) && (at == line || !is_of_name(at[-1]))) break;
        if (!at || at >= end) continue;
        *begin = at;
        if (strncmp(line, "#define", 7) == 0) {
            while (end[0] && end[-1] == '\\') end += 1 + strcspn(end + 1, "\n");
            return (size_t)(end - at);
        }
        brace = at + strcspn(at, "{;");
        if (*brace != '{') continue;
        end = brace + strcspn(brace, "\n");
        if (end[-1] == '}') return (size_t)(end - at);
        end = strstr(brace, "\n}");
        return end ? (size_t)(end - at) : 0;
    }
    return 0;
}

/* Reads the orders between here and the parenthesis that closes the call. Returns where that is. */
static const char *read_orders(const char *at, int order[2], int *n) {
    static const struct {
        const char *text;
        int order;
    } names[] = {{"relaxed", 0},       {"consume", ACQUIRE},           {"acquire", ACQUIRE},
                 {"release", RELEASE}, {"acq_rel", ACQUIRE | RELEASE}, {"seq_cst", ACQUIRE | RELEASE | SEQ_CST}};
    int depth = 0;
    *n = 0;
    for (; *at; at++) {
        char word[16] = "";
        if (*at == '(') depth++;
        if (*at == ')' && --depth == 0) return at + 1;
        if (strncmp(at, "memory_order_", 13) != 0 && strncmp(at, "__ATOMIC_", 9) != 0) continue;
        at += *at == 'm' ? 13 : 9;
        for (size_t i = 0; i < sizeof word - 1 && (isalpha((unsigned char)at[i]) || at[i] == '_'); i++)
            word[i] = (char)tolower((unsigned char)at[i]);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strcmp(word, names[i].text) == 0 && *n < 2) order[(*n)++] = names[i].order;
    }
    return at;
}

/* The name of the atomic function at or after `at`, and its opening parenthesis; NULL if there is none. */
static const char *find_call(const char *at, const char *end, char call[2 * NAME], int *is_explicit) {
    const char *name = strstr(at, "atomic_");
    size_t n;
    if (!name || name >= end) return NULL;
    *is_explicit = name - at >= 2 && name[-1] == '_' && name[-2] == '_';
    name += 7;
    n = strcspn(name, "(");
    if (n >= 2 * NAME) return NULL;
    memcpy(call, name, n);
    call[n] = 0;
    if (strstr(call, "_explicit") || strcmp(call, "thread_fence") == 0) *is_explicit = 1;
    return name + n;
}

int litmus_says_places;

/* The calls of atomic functions in a file that are more than relaxed, as litmus_says_places prints those of models. */
void litmus_list_orders(const char *source, const char *file) {
    char *whole = read_whole(source, file), *body;
    if (!whole || !(body = malloc(strlen(whole) + 1))) {
        fprintf(stderr, "%s: cannot be read\n", file);
        exit(2);
    }
    squeeze(body, whole, strlen(whole));
    for (char *at = body; (at = strstr(at, "atomic_")) != NULL; at += 7) {
        char call[2 * NAME];
        const int builtin = at - body > 2 && strncmp(at - 2, "__", 2) == 0 && !is_of_name(at[-3]);
        int is_explicit = 0, order[2] = {0, 0}, n = 0;
        const char *open = find_call(at, at + 1, call, &is_explicit), *end;
        if (!open || *open != '(' || (at > body && is_of_name(at[-1]) && !builtin)) continue;
        end = read_orders(open, order, &n);
        if (n == 0 && !is_explicit && !builtin &&
            (!strncmp(call, "compare_ex", 10) || !strncmp(call, "fetch_", 6) || !strcmp(call, "load") ||
             !strcmp(call, "store") || !strcmp(call, "exchange")))
            order[0] = SEQ_CST;
        if (order[0] | order[1]) printf("%s: %.*s\n", file, (int)(end - (at + 7)), at + 7);
    }
    free(body);
    free(whole);
}

const char *litmus_find(struct access *a, const char *source, const char *file, const char *function,
                        const char *text) {
    const char *begin, *answer = NULL;
    char *whole = read_whole(source, file), *body, *wanted = malloc(strlen(text) + 1);
    size_t len;
    int found = 0;
    if (!whole) return "no such file";
    len = strlen(whole);
    begin = whole;
    if (strcmp(function, "-") != 0) len = find_function(whole, function, &begin);
    if (!len) return "no such function";
    body = malloc(len + 1);
    if (!body || !wanted) return "no memory";
    squeeze(body, begin, len);
    squeeze(wanted, text, strlen(text));
    for (const char *at = body; !answer && (at = strstr(at, wanted)) != NULL; at++) {
        struct access here = *a;
        int order[2] = {0, 0}, n = 0, is_explicit = 0;
        const char *open = find_call(at, at + strlen(wanted), here.call, &is_explicit);
        here.found = 1;
        here.plain = !open;
        if (open) {
            const char *end = read_orders(open, order, &n), *name = open - strlen(here.call);
            if (litmus_says_places) printf("%s: %.*s\n", file, (int)(end - name), name);
        }
        if (open && n == 0) {
            if (is_explicit) answer = "no order is understood";
            order[n++] = ACQUIRE | RELEASE | SEQ_CST;
        }
        here.order = order[0];
        here.fails = n == 2 ? order[1] : order[0] & ACQUIRE;
        if (found++ && (here.order != a->order || here.fails != a->fails)) answer = "the orders of these calls differ";
        *a = here;
    }
    if (!found) answer = "not there any more";
    free(whole);
    free(body);
    free(wanted);
    return answer;
}
