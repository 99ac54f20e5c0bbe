/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations of symmetric memory that failed, for the texts of later errors. A program that does not look at the
 * result passes a null pointer to another call later, whose error should say where it came from. */
#ifndef RMAI_DENIED_H
#define RMAI_DENIED_H

#include <stddef.h>

/* rmai_denied: there was no memory for size bytes in `call` (a constant). */
void rmai_denied(const char *call, size_t size);

/* rmai_null_pointer records that `argument` of `call`, which should be symmetric, is a null pointer, and names the last
 * allocation that failed, if there is one. Returns code. */
int rmai_null_pointer(int code, const char *call, const char *argument);

#endif
