/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C library on texts. What a function reads of a text ends with the zero, or where it finds what
 * decides its result. */
#define _GNU_SOURCE
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

#include "instruments/race/libc.h"

HOOK size_t __wrap_strlen(const char *s) {
    size_t n = strlen(s);
    READS(s, n + 1);
    return n;
}

HOOK int __wrap_strcmp(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++; /* nothing after the first difference is read */
    READS(a, n + 1);
    READS(b, n + 1);
    return strcmp(a, b);
}

HOOK int __wrap_strncmp(const char *a, const char *b, size_t n) {
    size_t k = 0;
    while (k < n && a[k] && a[k] == b[k]) k++;
    if (k < n) k++;
    READS(a, k);
    READS(b, k);
    return strncmp(a, b, n);
}

HOOK char *__wrap_strcpy(char *dest, const char *source) {
    size_t n = strlen(source) + 1;
    READS(source, n);
    WRITES(dest, n);
    return memcpy(dest, source, n);
}

HOOK char *__wrap___strcpy_chk(char *dest, const char *source, size_t room) {
    size_t n = strlen(source) + 1;
    if (n > room) abort();
    READS(source, n);
    WRITES(dest, n);
    return memcpy(dest, source, n);
}

HOOK char *__wrap_strncpy(char *dest, const char *source, size_t n) {
    READS(source, strnlen(source, n));
    WRITES(dest, n);
    return strncpy(dest, source, n);
}

HOOK char *__wrap_strcat(char *dest, const char *source) {
    size_t at = strlen(dest), n = strlen(source) + 1;
    READS(source, n);
    READS(dest, at + 1);
    WRITES(dest + at, n);
    memcpy(dest + at, source, n);
    return dest;
}

HOOK char *__wrap___strncpy_chk(char *dest, const char *source, size_t n, size_t room) {
    if (n > room) abort();
    READS(source, strnlen(source, n));
    WRITES(dest, n);
    return strncpy(dest, source, n);
}

HOOK char *__wrap___strcat_chk(char *dest, const char *source, size_t room) {
    size_t at = strlen(dest), n = strlen(source) + 1;
    if (at + n > room) abort();
    READS(source, n);
    READS(dest, at + 1);
    WRITES(dest + at, n);
    memcpy(dest + at, source, n);
    return dest;
}

HOOK char *__wrap_strncat(char *dest, const char *source, size_t n) {
    const size_t at = strlen(dest), taken = strnlen(source, n);
    READS(source, taken < n ? taken + 1 : n);
    READS(dest, at + 1);
    WRITES(dest + at, taken + 1);
    return strncat(dest, source, n);
}

HOOK char *__wrap_stpcpy(char *dest, const char *source) {
    const size_t n = strlen(source);
    READS(source, n + 1);
    WRITES(dest, n + 1);
    memcpy(dest, source, n + 1);
    return dest + n;
}

HOOK size_t __wrap_strnlen(const char *s, size_t most) {
    const size_t n = strnlen(s, most);
    READS(s, n < most ? n + 1 : most);
    return n;
}

HOOK size_t __wrap_wcslen(const wchar_t *s) {
    const size_t n = wcslen(s);
    READS(s, (n + 1) * sizeof *s);
    return n;
}

HOOK int __wrap_strcasecmp(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] && !strncasecmp(a + n, b + n, 1)) n++;
    READS(a, n + 1);
    READS(b, n + 1);
    return strcasecmp(a, b);
}

HOOK int __wrap_strncasecmp(const char *a, const char *b, size_t n) {
    size_t k = 0;
    while (k < n && a[k] && !strncasecmp(a + k, b + k, 1)) k++;
    if (k < n) k++;
    READS(a, k);
    READS(b, k);
    return strncasecmp(a, b, n);
}

/* Looks for a letter, and reads up to it. */
#define FINDS(NAME, PARAMETERS, ...)                                                                                   \
    HOOK char *__wrap_##NAME PARAMETERS {                                                                              \
        const char *found = NAME(__VA_ARGS__);                                                                         \
        READS(s, found ? (size_t)(found - s) + 1 : strlen(s) + 1);                                                     \
        return (char *)(uintptr_t)found;                                                                               \
    }
FINDS(strchr, (const char *s, int c), s, c)
FINDS(strchrnul, (const char *s, int c), s, c)

/* Reads the whole text, and the whole set or part. */
#define READS_BOTH(RESULT, NAME)                                                                                       \
    HOOK RESULT __wrap_##NAME(const char *s, const char *other) {                                                      \
        READS_TEXT(s);                                                                                                 \
        READS_TEXT(other);                                                                                             \
        return (RESULT)NAME(s, other);                                                                                 \
    }
READS_BOTH(char *, strstr)
READS_BOTH(char *, strpbrk)
READS_BOTH(size_t, strspn)
READS_BOTH(size_t, strcspn)

HOOK char *__wrap_strrchr(const char *s, int c) {
    READS_TEXT(s);
    return (char *)(uintptr_t)strrchr(s, c);
}

HOOK char *__wrap_strdup(const char *s) {
    READS_TEXT(s);
    return strdup(s);
}

HOOK char *__wrap_strndup(const char *s, size_t most) {
    READS(s, strnlen(s, most));
    return strndup(s, most);
}

/* They end the part that they return by a zero. */
HOOK char *__wrap_strsep(char **rest, const char *separators) {
    char *part = strsep(rest, separators);
    if (!part) return NULL;
    READS_TEXT(part);
    READS_TEXT(separators);
    if (*rest) WRITES(*rest - 1, 1);
    return part;
}

HOOK char *__wrap_strtok_r(char *s, const char *separators, char **rest) {
    char *part = strtok_r(s, separators, rest);
    READS_TEXT(separators);
    if (!part) return NULL;
    READS_TEXT(part);
    if (*rest > part + strlen(part)) WRITES(part + strlen(part), 1);
    return part;
}

/* ---- numbers ---- */

/* Up to the first letter that is not part of the number. */
#define PARSES_INTEGER(TYPE, NAME)                                                                                     \
    HOOK TYPE __wrap_##NAME(const char *s, char **end, int base) {                                                     \
        char *last;                                                                                                    \
        const TYPE value = NAME(s, &last, base);                                                                       \
        READS(s, (size_t)(last - s) + 1);                                                                              \
        if (end) *end = last;                                                                                          \
        return value;                                                                                                  \
    }
PARSES_INTEGER(long, strtol)
PARSES_INTEGER(unsigned long, strtoul)
PARSES_INTEGER(long long, strtoll)
PARSES_INTEGER(unsigned long long, strtoull)
#define PARSES_REAL(TYPE, NAME)                                                                                        \
    HOOK TYPE __wrap_##NAME(const char *s, char **end) {                                                               \
        char *last;                                                                                                    \
        const TYPE value = NAME(s, &last);                                                                             \
        READS(s, (size_t)(last - s) + 1);                                                                              \
        if (end) *end = last;                                                                                          \
        return value;                                                                                                  \
    }
PARSES_REAL(double, strtod)
PARSES_REAL(float, strtof)
#define PARSES(TYPE, NAME, CALL)                                                                                       \
    HOOK TYPE __wrap_##NAME(const char *s) {                                                                           \
        char *last;                                                                                                    \
        const TYPE value = (TYPE)CALL;                                                                                 \
        READS(s, (size_t)(last - s) + 1);                                                                              \
        return value;                                                                                                  \
    }
PARSES(int, atoi, strtol(s, &last, 10))
PARSES(long, atol, strtol(s, &last, 10))
PARSES(long long, atoll, strtoll(s, &last, 10))
PARSES(double, atof, strtod(s, &last))
