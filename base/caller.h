/* SPDX-License-Identifier: BSD-3-Clause */
/* The place in the program from which the current call of the library was made; for the texts of errors. It is found
 * when an error is reported, by the compiler's tables for unwinding the stack, so calls that succeed do nothing for it.
 */
#ifndef RMAI_CALLER_H
#define RMAI_CALLER_H

#include <stddef.h>

/* rmai_caller_text writes where this thread has called the library, for example "rma_put was called at halo.c:71, in
 * exchange". It takes the name of the call from the beginning of `text`, "rma_put: PE 2 is ..."; with another text or
 * NULL it writes "the statement is at halo.c:71 ...". from: a return address within the library, before which frames do
 * not count (the error handler of the program may call the library itself), or NULL. Returns 0, and writes nothing, if
 * the library was not called by the program: its own threads, and what exit(3) calls. */
int rmai_caller_text(const void *from, const char *text, char *line, size_t room);

/* rmai_caller_place writes the place of this thread's call alone, "at halo.c:71, in exchange" or "in exchange", for
 * reports of long waits. Returns 0, and writes nothing, if it is not known. */
int rmai_caller_place(char *place, size_t room);

#endif
