/* SPDX-License-Identifier: BSD-3-Clause */
/* osh.h: the common part of the tests of OpenSHMEM: starting, checks that end the job, other places for data. They are
 * ordinary user programs: they see only <shmem.h> of the library. */
#ifndef OSH_H
#define OSH_H

#include <shmem.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me = -1, n;
static const char *volatile doing = "starting";

static inline void fail(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn, cold));

static inline void fail(const char *file, int line, const char *what, const char *format, ...) {
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "PE %d: %s:%d: not so: %s: %s (%s)\n", me, file, line, what, text, doing);
    shmem_global_exit(1);
    abort();
}

/* CHECK: the condition holds, or the job ends with the text. */
#define CHECK(condition, ...) ((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition, __VA_ARGS__))

/* DOING: what this PE is at, for the texts of failures. */
#define DOING(text) ((void)(doing = (text)))

static inline void look(void) {
    me = shmem_my_pe();
    n = shmem_n_pes();
}

static inline void start(void) {
    shmem_init();
    look();
}

static inline int end(void) {
    DOING("ending");
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* Neighbours. */
static inline int next(void) { return (me + 1) % n; }
static inline int previous(void) { return (me + n - 1) % n; }

#endif
