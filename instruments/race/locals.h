/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of local variables, for reports. */
#ifndef RACE_LOCALS_H
#define RACE_LOCALS_H

#include <stddef.h>
#include <stdint.h>

/* The frame of a function of the program that has an address of the calling thread's stack: it begins at `from`, and
 * ends where that of its caller begins, at `to`. pc: where the function executes. */
struct race_frame {
    uintptr_t pc, from, to;
};

/* race_frame_of finds the frame of an address. Returns 0 if it is in no frame of the program: on another stack, or
 * in a function that has returned. For reports only: it walks the whole stack. */
int race_frame_of(uintptr_t addr, struct race_frame *f);

/* race_local_variable finds the variable of the frame that has the address. Returns 0 if there is none, or more than
 * one, which share the place; else 1 with its name, the function that declares it, its size, and the offset in it. It
 * uses readelf (binutils), if installed, and debugging information. */
struct race_local {
    char name[64], function[64];
    size_t size, offset;
};
int race_local_variable(uintptr_t addr, const struct race_frame *f, struct race_local *v);

#endif
