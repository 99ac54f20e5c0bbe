/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C library that move memory, and that allocate it. */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "instruments/race/blocks.h"
#include "instruments/race/events.h"
#include "instruments/race/job.h"
#include "instruments/race/libc.h"
#include "instruments/race/options.h"
#include "instruments/race/remote.h"
#include "instruments/race/report.h"
#include "instruments/race/shadow.h"
#include "instruments/race/symbols.h"

#define COPY(NAME, CALL)                                                                                               \
    HOOK void *NAME(void *dest, const void *source, size_t n) {                                                        \
        READS(source, n);                                                                                              \
        WRITES(dest, n);                                                                                               \
        return CALL(dest, source, n);                                                                                  \
    }
#define COPY_CHK(NAME, CALL)                                                                                           \
    HOOK void *NAME(void *dest, const void *source, size_t n, size_t room) {                                           \
        if (n > room) abort();                                                                                         \
        READS(source, n);                                                                                              \
        WRITES(dest, n);                                                                                               \
        return CALL(dest, source, n);                                                                                  \
    }
COPY(__wrap_memcpy, memcpy)
COPY(__wrap_memmove, memmove)
COPY(__wrap_mempcpy, mempcpy)
COPY(__tsan_memcpy, memcpy)
COPY(__tsan_memmove, memmove)
COPY_CHK(__wrap___memcpy_chk, memcpy)
COPY_CHK(__wrap___memmove_chk, memmove)

#define SET(NAME)                                                                                                      \
    HOOK void *NAME(void *dest, int c, size_t n) {                                                                     \
        WRITES(dest, n);                                                                                               \
        return memset(dest, c, n);                                                                                     \
    }
SET(__wrap_memset)
SET(__tsan_memset)
HOOK void *__wrap___memset_chk(void *dest, int c, size_t n, size_t room) {
    if (n > room) abort();
    WRITES(dest, n);
    return memset(dest, c, n);
}

HOOK wchar_t *__wrap_wmemcpy(wchar_t *dest, const wchar_t *source, size_t n) {
    READS(source, n * sizeof *source);
    WRITES(dest, n * sizeof *dest);
    return wmemcpy(dest, source, n);
}

HOOK void __wrap_bcopy(const void *source, void *dest, size_t n) {
    READS(source, n);
    WRITES(dest, n);
    memmove(dest, source, n);
}

HOOK void *__wrap_memccpy(void *dest, const void *source, int c, size_t n) {
    void *end = memccpy(dest, source, c, n);
    const size_t moved = end ? (size_t)((char *)end - (char *)dest) : n;
    READS(source, moved);
    WRITES(dest, moved);
    return end;
}

HOOK void __wrap_bzero(void *dest, size_t n) {
    WRITES(dest, n);
    memset(dest, 0, n);
}

#define COMPARE(NAME)                                                                                                  \
    HOOK int NAME(const void *a, const void *b, size_t n) {                                                            \
        READS(a, n);                                                                                                   \
        READS(b, n);                                                                                                   \
        return memcmp(a, b, n);                                                                                        \
    }
COMPARE(__wrap_memcmp)
COMPARE(__wrap_bcmp)

HOOK void *__wrap_memrchr(const void *p, int c, size_t n) {
    const char *found = memrchr(p, c, n);
    const size_t before = found ? (size_t)(found - (const char *)p) : 0;
    READS((const char *)p + before, n - before);
    return (void *)(uintptr_t)found;
}

HOOK void *__wrap_memmem(const void *p, size_t n, const void *part, size_t part_n) {
    const char *found = memmem(p, n, part, part_n);
    READS(p, found ? (size_t)(found - (const char *)p) + part_n : n);
    READS(part, part_n);
    return (void *)(uintptr_t)found;
}

HOOK void *__wrap_memchr(const void *p, int c, size_t n) {
    const char *found = memchr(p, c, n);
    READS(p, found ? (size_t)(found - (const char *)p) + 1 : n);
    return (void *)(uintptr_t)found;
}

/* ---- libraries that the program opens ---- */

/* A program opens a library, and finds its functions by dlsym, before it calls them. (dlopen searches the folders that
 * its caller's file names, so it must be called by the program itself.) */
static void library_used(void *handle) {
    char names[400];
    uint64_t key;
    if (!race_watches() || !race_symbols_opened(handle, names, sizeof names, &key)) return;
    if (!race_pair_is_new(key) || !race_remote_pair_is_new(key)) return;
    race_say("compiled without --race, and opened by dlopen: %s; its loads and stores are not seen", names);
}

/* dlsym sees the program as its caller (RTLD_NEXT) if the compiler makes the call a jump. */
HOOK void *__wrap_dlsym(void *handle, const char *name) {
    if (handle != RTLD_DEFAULT && handle != RTLD_NEXT) library_used(handle);
    return dlsym(handle, name);
}

/* ---- allocation ---- */

#define CALL(NAME) struct race_call c = {.name = (NAME), .pc = HERE}

/* Freed memory may become another thread's. */
static void gone(void *p, const struct race_call *c) {
    if (p && race_window.private_mode != RACE_PRIVATE_OFF) race_private_freed(p, malloc_usable_size(p), c);
}

/* And new memory may have been another thread's, freed by a library. */
static void *had(void *p, size_t n, const struct race_call *c) {
    if (p && race_window.private_mode == RACE_PRIVATE_ALL) race_forget_private((uintptr_t)p, n);
    race_private_allocated(p, n, c);
    return p;
}

HOOK void __wrap_free(void *p) {
    CALL("free");
    gone(p, &c);
    free(p);
}

HOOK void *__wrap_malloc(size_t n) {
    CALL("malloc");
    return had(malloc(n), n, &c);
}

HOOK void *__wrap_calloc(size_t count, size_t n) {
    CALL("calloc");
    return had(calloc(count, n), count * n, &c);
}

HOOK void *__wrap_realloc(void *p, size_t n) {
    CALL("realloc");
    gone(p, &c);
    return had(realloc(p, n), n, &c);
}

HOOK void *__wrap_aligned_alloc(size_t alignment, size_t n) {
    CALL("aligned_alloc");
    return had(aligned_alloc(alignment, n), n, &c);
}

HOOK int __wrap_posix_memalign(void **p, size_t alignment, size_t n) {
    CALL("posix_memalign");
    int code = posix_memalign(p, alignment, n);
    if (!code) had(*p, n, &c);
    return code;
}

/* C++'s operators new and delete. The wrappers may be all that the program needs of C++'s library; then the linker
 * leaves that library out (--as-needed), and there are no exceptions. */
extern void *_Znwm(size_t) __attribute__((weak));
extern void *_Znam(size_t) __attribute__((weak));
extern void _ZdlPv(void *) __attribute__((weak));
extern void _ZdaPv(void *) __attribute__((weak));
extern void _ZdlPvm(void *, size_t) __attribute__((weak));
extern void _ZdaPvm(void *, size_t) __attribute__((weak));
static void *new_without_library(size_t n) {
    void *p = malloc(n ? n : 1);
    if (!p) abort();
    return p;
}

#define NEW(NAME)                                                                                                      \
    HOOK void *__wrap_##NAME(size_t n) {                                                                               \
        CALL("new");                                                                                                   \
        return had(NAME ? NAME(n) : new_without_library(n), n, &c);                                                    \
    }
NEW(_Znwm)
NEW(_Znam)
#define DELETE(NAME)                                                                                                   \
    HOOK void __wrap_##NAME(void *p) {                                                                                 \
        CALL("delete");                                                                                                \
        gone(p, &c);                                                                                                   \
        NAME ? NAME(p) : free(p);                                                                                      \
    }                                                                                                                  \
    HOOK void __wrap_##NAME##m(void *p, size_t n) {                                                                    \
        CALL("delete");                                                                                                \
        gone(p, &c);                                                                                                   \
        NAME##m ? NAME##m(p, n) : free(p);                                                                             \
    }
DELETE(_ZdlPv)
DELETE(_ZdaPv)
