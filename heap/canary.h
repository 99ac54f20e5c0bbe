/* SPDX-License-Identifier: BSD-3-Clause */
/* Canaries: pieces of a heap's free memory that hold a pattern, so that a write to them is noticed without
 * RMA_HEAP_CHECK. A canary is the beginning of a block that was freed, or the line behind a block that fills its lines.
 *
 * Canaries are few and short, so that they cost an allocation and a release some tens of nanoseconds, and no memory of
 * the heap: free memory is reused as soon as without them. A canary is checked when its memory is allocated, when
 * another canary replaces it, and at the end; the newest one also when a block is freed. A write that comes before the
 * pattern is not noticed: another PE may return from rma_free, and put, a little earlier than the owner of the memory
 * writes the pattern.
 *
 * Invariant: canaries do not overlap, and are in free memory of the heap. */
#ifndef RMAI_CANARY_H
#define RMAI_CANARY_H

#include <stddef.h>

#define RMAI_FREED       0xdf /* each byte of a canary, and of all free memory with RMA_HEAP_CHECK=full */
#define RMAI_CANARIES    16
#define RMAI_CANARY_MOST ((size_t)128) /* bytes of a canary */

struct rmai_canary {
    const unsigned char *from;
    size_t len;
    const unsigned char *block; /* the block that was freed there, or that ends there, */
    size_t size;                /* and the bytes that the program had asked for */
};

struct rmai_canaries {
    const char *heap; /* for notes: "symmetric heap" */
    int n;
    struct rmai_canary of[RMAI_CANARIES]; /* from the oldest to the newest */
};

/* All print a note for the public call `call` for each canary that they find overwritten, once.
 *
 * rmai_canary_freed: the block was freed, and nobody has allocated its memory since. rmai_canary_end: free memory
 * follows the block, whose size is a whole number of lines. rmai_canary_taken: [from, to) was allocated.
 * rmai_canary_all checks all canaries. */
void rmai_canary_freed(struct rmai_canaries *c, const char *call, void *block, size_t size);
void rmai_canary_end(struct rmai_canaries *c, const char *call, void *block, size_t size);
void rmai_canary_taken(struct rmai_canaries *c, const char *call, const void *from, const void *to);
void rmai_canary_all(struct rmai_canaries *c, const char *call);

#endif
