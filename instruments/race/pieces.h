/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of one side of a section, a list of elements or a list of blocks, as a sequence of contiguous pieces. What
 * lies between the pieces is not accessed. */
#ifndef RACE_PIECES_H
#define RACE_PIECES_H

#include <stddef.h>

#include "rma.h"

enum race_shape { RACE_SECTION, RACE_INDEXED, RACE_BLOCKS };

struct race_pieces {
    enum race_shape shape;
    size_t elem;             /* of a section, of elements by index: bytes of an element */
    const ptrdiff_t *stride; /* of a section */
    const size_t *count;
    int dims;
    const ptrdiff_t *index;       /* of elements by index, or NULL: n contiguous elements */
    const struct rma_block *list; /* of blocks */
    size_t n;                     /* elements by index, or blocks */
    struct rma_block whole;       /* of blocks: the one block for which a null list stands */
};

/* race_size_of: bytes of an element of an accumulate; 0: there is no such type. */
size_t race_size_of(int type);

struct race_pieces race_section(const ptrdiff_t *stride, const size_t *count, int dims, size_t elem);
struct race_pieces race_indexed(const ptrdiff_t *index, size_t elem, size_t n);

/* race_blocks: other: the call's other list, which tells the length if this one is null. */
struct race_pieces race_blocks(const struct rma_block *list, size_t n, const struct rma_block *other, size_t n_other);

/* race_pieces_exist: 0 if a pointer is null or a number impossible: the library refuses such a call. */
int race_pieces_exist(const struct race_pieces *p);

/* A walk through the pieces begins zeroed. race_next_piece writes the next piece, in bytes from the side's address, and
 * returns 1, or 0 at the end. Neighbouring elements become one piece. */
struct race_walk {
    size_t at[RMA_DIMS_MAX]; /* of the next element, of a section */
    size_t next;             /* number of the next element or block */
    int ended;
};
int race_next_piece(const struct race_pieces *p, struct race_walk *w, struct rma_block *piece);

#endif
