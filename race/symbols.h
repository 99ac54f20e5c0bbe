/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for places and variables. */
#ifndef RACE_SYMBOLS_H
#define RACE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* race_symbols_place words where a place is: "FILE:LINE" into place, the function into function; without debugging
 * information what is known: "PROGRAM+0xOFFSET". By addr2line (binutils), where it is installed. */
void race_symbols_place(uint32_t number, char *place, size_t room, char *function, size_t function_room);

/* race_symbols_variable finds the global variable at an address of this process. Returns 0 if there is none, else 1
 * with its name, size, and the offset in it. */
int race_symbols_variable(uintptr_t addr, char *name, size_t room, size_t *size, size_t *offset);

/* race_symbols_uninstrumented looks which source files of the main program were compiled without --race. Returns -1 if
 * all were, 0 if none was or the program has no names of files (it is stripped), else how many, with the first ones'
 * names in `names`. */
int race_symbols_uninstrumented(char *names, size_t room);

#endif
