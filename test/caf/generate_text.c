/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of the program: templates, and lines that are not too long for Fortran. */
#define _GNU_SOURCE /* vasprintf */
#include "generate.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *make(size_t size) {
    void *p = calloc(1, size);
    if (!p) abort();
    return p;
}

static char *vwords(const char *format, va_list args) {
    char *text;
    if (vasprintf(&text, format, args) < 0) abort();
    return text;
}

char *words(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = vwords(format, args);
    va_end(args);
    return text;
}

/* The cosubscripts of an image of the current team. */
static void print_cosubscripts(FILE *to, const struct variable *v, const char *image) {
    if (v->corank == 2) {
        fprintf(to, "[%d+mod(%s-1,%d),%d+(%s-1)/%d]", v->colower[0], image, v->coextent, v->colower[1], image,
                v->coextent);
    } else if (v->colower[0] != 1) {
        fprintf(to, "[%s%+d]", image, v->colower[0] - 1);
    } else {
        fprintf(to, "[%s]", image);
    }
}

/* Prints text, with `image` for @. */
static void print_numbered(FILE *to, const char *text, size_t len, const char *image) {
    for (size_t i = 0; i < len; i++)
        if (text[i] == '@')
            fputs(image, to);
        else
            fputc(text[i], to);
}

/* expand: what the template says in the program (image null), or in the model for an image. */
char *expand(const struct generator *g, const char *template, const char *image) {
    char *text, code[16];
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) abort();
    for (const char *at = template; *at;) {
        if (*at != '{') {
            print_numbered(to, at++, 1, image ? image : "me");
            continue;
        }
        const struct variable *v = &g->variables[strtol(at + 1, NULL, 10)];
        const char *subs = strchr(at, '|') + 1, *end = strchr(subs, '|');
        at = strchr(end, '}');
        snprintf(code, sizeof code, "%.*s", (int)(at - end - 1), end + 1);
        at++;
        fprintf(to, "%s%s", image ? "m_" : "", v->name);
        if (image || end > subs) fputc('(', to);
        print_numbered(to, subs, (size_t)(end - subs), image ? image : "me");
        if (!image) {
            if (end > subs) fputc(')', to);
            if (code[0] == 't')
                print_cosubscripts(to, v, words("(1+mod(%s,num_images()))", code + 1));
            else if (code[0] != 'o')
                print_cosubscripts(to, v, words("q(%s)", code));
        } else {
            if (end > subs) fputc(',', to);
            if (code[0] == 'o')
                fprintf(to, "%s)", image);
            else if (code[0] == 't')
                fprintf(to, "tg(1+mod(%s,ts(%s)),%s))", code + 1, image, image);
            else
                fprintf(to, "g(%s,%s))", image, code);
        }
    }
    fclose(to);
    return text;
}

/* line: breaks a line after a comma or before a blank outside of text. */
void line(FILE *to, const char *text) {
    while (strlen(text) > 115) {
        size_t cut = 0;
        char quote = 0;
        for (size_t i = 0; i < 113; i++) {
            if (quote)
                quote = text[i] == quote ? 0 : quote;
            else if (text[i] == '\'' || text[i] == '"')
                quote = text[i];
            else if (text[i] == ',')
                cut = i + 1;
            else if (text[i] == ' ' && i > 20)
                cut = i;
        }
        if (!cut) break;
        fprintf(to, "%.*s &\n", (int)cut, text);
        text += cut;
    }
    fprintf(to, "%s\n", text);
}

void linef(FILE *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = vwords(format, args);
    va_end(args);
    line(to, text);
}

static void real_line(struct generator *g, const char *template) { line(g->statements, expand(g, template, NULL)); }

static void model_line(struct generator *g, const char *template) {
    line(g->model, expand(g, template, "p"));
    g->modelled = 1;
}

void only_real(struct generator *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    real_line(g, vwords(format, args));
    va_end(args);
}

void only_model(struct generator *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    model_line(g, vwords(format, args));
    va_end(args);
}

void both(struct generator *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = vwords(format, args);
    va_end(args);
    real_line(g, text);
    model_line(g, text);
}

static char *model_text;
static size_t model_size;

void run_model(struct generator *g) {
    if (g->model) {
        fclose(g->model);
        if (g->modelled) fprintf(g->statements, "do p = 1, n\n%send do\n", model_text);
    }
    g->model = open_memstream(&model_text, &model_size);
    if (!g->model) abort();
    g->modelled = 0;
}

char *type_words(enum kind kind, int len, const struct type *type) {
    if (type) return words("type(%s)", type->name);
    if (kind == TEXT) return words("character(len=%d)", len);
    if (kind == WIDE) return words("character(len=%d,kind=4)", len);
    return words("%s", kinds[kind].words);
}
