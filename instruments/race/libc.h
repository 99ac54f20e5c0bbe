/* SPDX-License-Identifier: BSD-3-Clause */
/* For the wrappers of functions of the C library. race.wraps lists their names: the linker redirects the program's
 * calls of NAME to __wrap_NAME (--wrap), and calls by libraries stay as they are. */
#ifndef RACE_LIBC_H
#define RACE_LIBC_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/race/access.h"

#define HOOK __attribute__((visibility("default")))
#define HERE ((uintptr_t)__builtin_return_address(0))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Wstringop-truncation"
#endif
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The program reads or writes LEN bytes at P by the function that it has called. */
#define READS(P, LEN)  race_load_store(P, LEN, 0, HERE)
#define WRITES(P, LEN) race_load_store(P, LEN, 1, HERE)
#define READS_TEXT(S)  READS(S, strlen(S) + 1)

#endif
