/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's global and static variables, moved into shared memory at their own addresses.
 *
 * What is moved is the writable part of the main program's data segments, in whole pages: from the end of what the
 * dynamic linker has made read-only to the end of .bss. Libraries' variables stay where they are. The pages are copied
 * to shared memory that is mapped already, and that mapping is then laid over the originals, so that no address
 * changes. */
#ifndef RMAI_STATICS_H
#define RMAI_STATICS_H

#include <stddef.h>
#include <stdint.h>

struct rmai_statics {
    char *base;       /* first byte; page-aligned */
    size_t size;      /* a multiple of the page; 0: the program has none, or they were not found */
    char *moved;      /* where the variables are mapped a second time, in the PE's space; NULL: they were not moved */
    uint64_t program; /* the same number in each process of the same program, and hardly in any other */
};

/* rmai_statics_find finds the range. */
void rmai_statics_find(struct rmai_statics *s);

/* rmai_statics_constant: 1 if addr is in a part of the main program that nobody may write: a constant, or code. */
int rmai_statics_constant(const void *addr);

/* rmai_statics_move moves the variables to `room`: shared memory, committed, s->size bytes. No other thread may write
 * to the variables meanwhile. Returns 0, or -1 with errno where the system refuses: nothing has changed then. */
int rmai_statics_move(struct rmai_statics *s, char *room);

/* rmai_statics_return moves the variables back to private memory, with their present values. It must be called before
 * the room is unmapped. */
int rmai_statics_return(struct rmai_statics *s);

#endif
