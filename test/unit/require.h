/* SPDX-License-Identifier: BSD-3-Clause */
/* REQUIRE(condition, format, ...): for unit tests of millions of operations. Check's own assertions also report each
 * success, which is too slow here. */
#ifndef REQUIRE_H
#define REQUIRE_H

#include "base/attributes.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) give_up(__LINE__, #condition, __VA_ARGS__);                                                  \
    } while (0)

static void give_up(int line, const char *condition, const char *format, ...) RMAI_PRINTF(3, 4);
static void give_up(int line, const char *condition, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ck_abort_msg("line %d: not %s: %s", line, condition, text);
}

#endif
