/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for places and variables. */
#ifndef RACE_SYMBOLS_H
#define RACE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* race_symbols_place describes a place: "FILE:LINE" in place, the function in function; without debugging information
 * "PROGRAM+0xOFFSET" (base/lines.h). */
void race_symbols_place(uint32_t number, char *place, size_t room, char *function, size_t function_room);

/* race_symbols_variable finds the global variable at an address of this process. Returns 0 if there is none, else 1
 * with its name, size, and the offset in it. */
int race_symbols_variable(uintptr_t addr, char *name, size_t room, size_t *size, size_t *offset);

/* race_symbols_variable_of finds the global variable that begins with this word: Fortran's coarrays. */
int race_symbols_variable_of(const void *word, char *name, size_t room);

/* race_symbols_uninstrumented finds the source files of the main program that were compiled without --race, and those
 * of loaded libraries that call the interface (the library's name, if all of its files were). Returns -1 if all of the
 * program were, 0 if none was or there are no file names (it is stripped), else their number, with the first names in
 * `names`. */
int race_symbols_uninstrumented(char *names, size_t room);

/* race_symbols_opened: the same for a library that the program has opened, by its handle. key: a number for the
 * library, for race_pair_is_new. It returns 0 if the handle is that of its last call. */
int race_symbols_opened(void *handle, char *names, size_t room, uint64_t *key);

#endif
