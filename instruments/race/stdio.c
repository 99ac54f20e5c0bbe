/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C library that read and write files, compose texts, and sort. */
#define _GNU_SOURCE
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "instruments/race/libc.h"

/* ---- formats ---- */

/* One conversion of a format. */
struct conversion {
    int stars;     /* numbers that width and precision take from the arguments */
    int precision; /* the last one, or -1; -2: it is taken from the arguments */
    char length;   /* q: long long; l, z, j, t: long; L; w: wide; or 0 */
    char kind;     /* 0: the format ends */
};

/* Reads a conversion, after its %. */
static const char *read_conversion(const char *f, struct conversion *c) {
    *c = (struct conversion){.precision = -1};
    f += strspn(f, "-+ #0'I");
    for (int part = 0; part < 2; part++) {
        if (part == 1 && *f != '.') break;
        f += part;
        if (part == 1) c->precision = atoi(f);
        if (*f == '*') {
            c->stars++;
            if (part == 1) c->precision = -2;
            f++;
        }
        f += strspn(f, "0123456789");
    }
    while (*f && strchr("hlqjztL", *f)) {
        c->length = (char)(c->length == 'l' && *f == 'l' ? 'q' : *f);
        f++;
    }
    c->kind = *f;
    return *f ? f + 1 : f;
}

/* Records what the conversions read and write, besides the arguments' values: %s and %n. Gives up at a conversion with
 * a number (%1$s), since the arguments' types are then not known in their order. */
static void read_arguments(const char *f, va_list args, uintptr_t pc) {
    struct conversion c;
    race_load_store(f, strlen(f) + 1, 0, pc);
    while ((f = strchr(f, '%'))) {
        int number = -1;
        if (f[1 + strspn(f + 1, "0123456789")] == '$') return;
        f = read_conversion(f + 1, &c);
        while (c.stars-- > 0) number = va_arg(args, int);
        if (c.precision == -2) c.precision = number;
        if (!c.kind) return;
        if (strchr("diouxXc", c.kind)) {
            if (c.length == 'q')
                (void)va_arg(args, long long);
            else if (c.length && c.length != 'h')
                (void)va_arg(args, long);
            else
                (void)va_arg(args, int);
        } else if (strchr("eEfFgGaA", c.kind)) {
            if (c.length == 'L')
                (void)va_arg(args, long double);
            else
                (void)va_arg(args, double);
        } else if (c.kind == 's' || c.kind == 'S' || c.kind == 'n' || c.kind == 'p') {
            const char *s = va_arg(args, const char *);
            if (!s || c.kind == 'p') continue;
            if (c.kind == 'n')
                race_load_store(s, sizeof(int), 1, pc);
            else if (c.kind == 'S' || c.length == 'l')
                race_load_store(s, (wcslen((const void *)s) + 1) * sizeof(wchar_t), 0, pc);
            else if (c.precision >= 0)
                race_load_store(s, strnlen(s, (size_t)c.precision), 0, pc);
            else
                race_load_store(s, strlen(s) + 1, 0, pc);
        }
    }
}

/* AFTER may use the arguments and `n`, the number of letters. */
#define FORMATS(NAME, PARAMETERS, LAST, CALL, AFTER)                                                                   \
    HOOK int __wrap_##NAME PARAMETERS {                                                                                \
        va_list args, copy;                                                                                            \
        int n;                                                                                                         \
        va_start(args, LAST);                                                                                          \
        va_copy(copy, args);                                                                                           \
        read_arguments(format, copy, HERE);                                                                            \
        va_end(copy);                                                                                                  \
        n = CALL;                                                                                                      \
        va_end(args);                                                                                                  \
        AFTER;                                                                                                         \
        return n;                                                                                                      \
    }
#define FORMATS_LIST(NAME, PARAMETERS, CALL, AFTER)                                                                    \
    HOOK int __wrap_##NAME PARAMETERS {                                                                                \
        va_list copy;                                                                                                  \
        int n;                                                                                                         \
        va_copy(copy, args);                                                                                           \
        read_arguments(format, copy, HERE);                                                                            \
        va_end(copy);                                                                                                  \
        n = CALL;                                                                                                      \
        AFTER;                                                                                                         \
        return n;                                                                                                      \
    }
#define WRITES_TEXT                                                                                                    \
    if (n >= 0) WRITES(dest, (size_t)n + 1)
#define WRITES_PART                                                                                                    \
    if (n >= 0) WRITES(dest, (size_t)n < room ? (size_t)n + 1 : room)

FORMATS(printf, (const char *format, ...), format, vprintf(format, args), )
FORMATS(fprintf, (FILE * file, const char *format, ...), format, vfprintf(file, format, args), )
FORMATS(dprintf, (int file, const char *format, ...), format, vdprintf(file, format, args), )
FORMATS(sprintf, (char *dest, const char *format, ...), format, vsprintf(dest, format, args), WRITES_TEXT)
FORMATS(snprintf, (char *dest, size_t room, const char *format, ...), format, vsnprintf(dest, room, format, args),
        WRITES_PART)
FORMATS_LIST(vprintf, (const char *format, va_list args), vprintf(format, args), )
FORMATS_LIST(vfprintf, (FILE * file, const char *format, va_list args), vfprintf(file, format, args), )
FORMATS_LIST(vsprintf, (char *dest, const char *format, va_list args), vsprintf(dest, format, args), WRITES_TEXT)
FORMATS_LIST(vsnprintf, (char *dest, size_t room, const char *format, va_list args),
             vsnprintf(dest, room, format, args), WRITES_PART)

/* With _FORTIFY_SOURCE. */
FORMATS(__printf_chk, (int flag, const char *format, ...), format, ((void)flag, vprintf(format, args)), )
FORMATS(__fprintf_chk, (FILE * file, int flag, const char *format, ...), format,
        ((void)flag, vfprintf(file, format, args)), )
FORMATS(__sprintf_chk, (char *dest, int flag, size_t size, const char *format, ...), format,
        ((void)flag, vsnprintf(dest, size, format, args)), if (n >= 0 && (size_t)n >= size) abort();
        WRITES_TEXT)
FORMATS(__snprintf_chk, (char *dest, size_t room, int flag, size_t size, const char *format, ...), format,
        ((void)flag, room > size ? (abort(), 0) : vsnprintf(dest, room, format, args)), WRITES_PART)

/* ---- files ---- */

HOOK int __wrap_puts(const char *s) {
    READS_TEXT(s);
    return puts(s);
}

HOOK int __wrap_fputs(const char *s, FILE *file) {
    READS_TEXT(s);
    return fputs(s, file);
}

HOOK char *__wrap_fgets(char *s, int room, FILE *file) {
    char *got = fgets(s, room, file);
    if (got) WRITES(s, strlen(s) + 1);
    return got;
}

HOOK size_t __wrap_fread(void *p, size_t size, size_t count, FILE *file) {
    const size_t n = fread(p, size, count, file);
    WRITES(p, n * size);
    return n;
}

HOOK size_t __wrap_fwrite(const void *p, size_t size, size_t count, FILE *file) {
    READS(p, size * count);
    return fwrite(p, size, count, file);
}

HOOK ssize_t __wrap_read(int file, void *p, size_t len) {
    const ssize_t n = read(file, p, len);
    if (n > 0) WRITES(p, (size_t)n);
    return n;
}

HOOK ssize_t __wrap_write(int file, const void *p, size_t len) {
    READS(p, len);
    return write(file, p, len);
}

HOOK ssize_t __wrap_pread(int file, void *p, size_t len, off_t at) {
    const ssize_t n = pread(file, p, len, at);
    if (n > 0) WRITES(p, (size_t)n);
    return n;
}

HOOK ssize_t __wrap_pwrite(int file, const void *p, size_t len, off_t at) {
    READS(p, len);
    return pwrite(file, p, len, at);
}

/* ---- sorting ---- */

HOOK void __wrap_qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    READS(base, count * size);
    WRITES(base, count * size);
    qsort(base, count, size, compare);
}
