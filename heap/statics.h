/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's global and static variables, moved into shared memory at their own addresses.
 *
 * The writable part of the main program's data segments moves, in whole pages: from the end of the part that the
 * dynamic linker has made read-only to the end of .bss. Libraries' variables stay where they are. The pages are copied
 * to shared memory that is already mapped; then that mapping replaces the original pages, so that no address
 * changes. */
#ifndef RMAI_STATICS_H
#define RMAI_STATICS_H

#include <stddef.h>
#include <stdint.h>

struct rmai_statics {
    char *base;       /* first byte; page-aligned */
    size_t size;      /* a multiple of the page size; 0: the program has no variables, or they were not found */
    char *moved;      /* the second mapping of the variables, in the PE's space; NULL: they were not moved */
    size_t file;      /* so many first bytes, whole pages, come from the program's file; the others are zero until they
                         are written */
    uint64_t program; /* equal in all processes of the same program, and almost certainly different in others */
};

/* rmai_statics_find finds the range. */
void rmai_statics_find(struct rmai_statics *s);

/* rmai_statics_constant: 1 if addr is in a read-only part of the main program: a constant, or code. */
int rmai_statics_constant(const void *addr);

/* rmai_statics_written calls visit for each range of whole pages that may have been written, ascending: `offset` and
 * `len` bytes, with offset 0 for s->base. It stops if visit does not return 0, and returns what visit has returned. The
 * variables have not been moved. */
typedef int rmai_statics_visit(void *context, size_t offset, size_t len);
int rmai_statics_written(const struct rmai_statics *s, rmai_statics_visit *visit, void *context);

/* rmai_statics_move moves the variables to `room`: shared memory, s->size bytes that are zero. Pages that may have
 * been written are committed there. No other thread may write to the variables meanwhile. Returns 0, or -1 with errno
 * if the system refuses; then nothing has changed. */
int rmai_statics_move(struct rmai_statics *s, char *room);

/* rmai_statics_return moves the variables back to private memory, with their present values. It must be called before
 * the room is unmapped. */
int rmai_statics_return(struct rmai_statics *s);

#endif
