/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns: which elements of arrays one call moves or updates. A pattern has two sides, or three: the remote elements,
 * the local ones, and for a get_accumulate those that receive the old values. It is made of the arguments of a public
 * call, which are checked here, and then walked in runs of equal blocks. */
#ifndef RMAI_PATTERN_H
#define RMAI_PATTERN_H

#include <stddef.h>

#include "rma.h"

enum rmai_side { RMAI_REMOTE, RMAI_LOCAL, RMAI_BEFORE, RMAI_SIDES };

enum rmai_pattern_kind { RMAI_SECTION, RMAI_INDEXED, RMAI_BLOCKS };

/* Offsets are in bytes, from the address that the call names for the side. */
struct rmai_pattern {
    enum rmai_pattern_kind kind;
    int sides;       /* 2 or 3 */
    size_t bytes;    /* in all; 0: nothing to do */
    size_t elem;     /* bytes of a block of a section, or of an element with an index */
    ptrdiff_t least; /* the remote elements lie in [least, end) */
    ptrdiff_t end;
    int doubtful; /* SECTION: a bit for each side whose elements may overlap: rmai_pattern_compare finds out */
    /* SECTION: dimension 0 is the innermost; every remote stride is positive or 0 */
    int dims;
    size_t count[RMA_DIMS_MAX];
    ptrdiff_t first[RMAI_SIDES], stride[RMAI_SIDES][RMA_DIMS_MAX];
    /* INDEXED */
    const ptrdiff_t *index;
    size_t n;
    /* BLOCKS */
    const struct rma_block *list[RMAI_SIDES];
    size_t listed[RMAI_SIDES];
    struct rma_block whole[RMAI_SIDES]; /* in place of a null list */
};

/* What the arguments of a call are named in texts, and which side it writes. */
struct rmai_pattern_call {
    const char *call;
    enum rmai_side written; /* a put or an accumulate writes the remote side, a get the local one */
    int checks;             /* 1: the blocks that are written are compared, too: they must not overlap */
    const char *names[RMAI_SIDES];
};

/* Each makes *s of a call's arguments. strides[side] has dims entries. Blocks
 * are of whole elements, and their offsets multiples of grain bytes. Returns RMA_SUCCESS or records the error. */
int rmai_pattern_section(struct rmai_pattern *s, const struct rmai_pattern_call *c, int sides,
                         const ptrdiff_t *const strides[RMAI_SIDES], size_t elem, int dims, const size_t *count);
int rmai_pattern_indexed(struct rmai_pattern *s, const struct rmai_pattern_call *c, int sides, const ptrdiff_t *index,
                         size_t elem, size_t n);
int rmai_pattern_blocks(struct rmai_pattern *s, const struct rmai_pattern_call *c, int sides,
                        const struct rma_block *const list[RMAI_SIDES], const size_t listed[RMAI_SIDES], size_t elem,
                        size_t grain);

/* rmai_pattern_compare compares all elements of the sides that are in doubt, which takes memory and time: the caller
 * has found the remote memory before. Returns RMA_SUCCESS or records the error. */
int rmai_pattern_compare(const struct rmai_pattern *s, const struct rmai_pattern_call *c);

/* rmai_pattern_contiguous: n elements of elem bytes, contiguous on each side. */
int rmai_pattern_contiguous(struct rmai_pattern *s, const struct rmai_pattern_call *c, int sides, size_t elem,
                            size_t n);

/* n blocks of len bytes each. at: the first one, step: from one to the next, on each side. */
struct rmai_run {
    size_t len, n;
    ptrdiff_t at[RMAI_SIDES], step[RMAI_SIDES];
};

/* A walk through a pattern; start from {s}. rmai_pattern_next writes the next run, and returns 0 after the last one. */
struct rmai_walk {
    const struct rmai_pattern *s;
    int begun;
    size_t place[RMA_DIMS_MAX]; /* SECTION: the run begins there; INDEXED: place[0] is the next element */
    ptrdiff_t at[RMAI_SIDES];
    struct {
        size_t i, done; /* BLOCKS: the block of each side, and how much of it is walked */
    } of[RMAI_SIDES];
};
int rmai_pattern_next(struct rmai_walk *w, struct rmai_run *run);

/* rmai_move_strided copies n blocks of elem bytes within this process; the steps from one block to the next are in
 * bytes. Each aligned block of 1, 2, 4, 8 or 16 bytes is stored in whole words. */
void rmai_move_strided(char *to, const char *from, ptrdiff_t to_step, ptrdiff_t from_step, size_t elem, size_t n);

/* rmai_scatter and rmai_gather copy between n contiguous elements and those with the indices index[0..n) of an array:
 * to the array (scatter), or from it (gather). */
void rmai_scatter(char *array, const char *from, const ptrdiff_t *index, size_t elem, size_t n);
void rmai_gather(char *to, const char *array, const ptrdiff_t *index, size_t elem, size_t n);

#endif
