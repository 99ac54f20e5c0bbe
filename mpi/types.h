/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes. Where the bytes of a type are is worked out once, when a window call first gets it, and kept with the type
 * as an attribute. Most types turn out to be one block, or a section: blocks of one length in rows at equal distances,
 * in up to RMAI_TYPE_DIMS dimensions. All others are lists of blocks. */
#ifndef RMAI_MPI_TYPES_H
#define RMAI_MPI_TYPES_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "rma.h"

#define RMAI_TYPE_DIMS (RMA_DIMS_MAX - 2) /* a call adds one for its count, an accumulate one for the block */

/* What the elements of a type are: enum rma_type, and these: */
enum {
    RMAI_ELEMENT_MIXED = -1, /* elements of several types, or one that librma does not know */
    RMAI_ELEMENT_PAIR = 100  /* a value and an index, for MPI_MINLOC and MPI_MAXLOC */
};

struct rmai_type {
    MPI_Datatype handle;
    int plain;                  /* 1: elements of the type follow each other without gaps, from offset 0 */
    size_t size;                /* bytes of data */
    ptrdiff_t extent;           /* from one element to the next */
    ptrdiff_t true_lb, true_ub; /* the first byte, and one past the last one */
    int element;                /* enum rma_type, or one of the above */
    MPI_Datatype basic;         /* the predefined type of all elements, or MPI_DATATYPE_NULL */
    size_t element_size;        /* bytes of data of one element */
    int logical;                /* the element is a truth value */
    int dims;                   /* of the section, or -1: it is a list */
    ptrdiff_t start;            /* where the section begins */
    size_t elem;                /* bytes of each block of the section */
    size_t count[RMAI_TYPE_DIMS];
    ptrdiff_t stride[RMAI_TYPE_DIMS];
    struct rma_block *blocks; /* the list */
    size_t n;
    struct rmai_type *next; /* in the list of unused ones */
};

#define RMAI_TYPE_CACHE 256
extern struct rmai_type *_Atomic rmai_type_cache[RMAI_TYPE_CACHE];

/* rmai_type_slow returns what is known of a type, or NULL if it is no type, or memory is exhausted. */
struct rmai_type *rmai_type_slow(MPI_Datatype handle);

static inline unsigned rmai_type_place(MPI_Datatype handle) {
#ifdef MPICH_VERSION
    const unsigned n = (unsigned)handle;
    return (n ^ n >> 8) % RMAI_TYPE_CACHE; /* a predefined type has its size in the second byte */
#else
    return (unsigned)((uintptr_t)handle >> 6) % RMAI_TYPE_CACHE;
#endif
}

/* rmai_type_of: the same, in a few nanoseconds for types that were used lately. A struct is never given back to the
 * system, so a thread may read the handle of one that another thread frees. */
static inline const struct rmai_type *rmai_type_of(MPI_Datatype handle) {
    const struct rmai_type *t = atomic_load_explicit(&rmai_type_cache[rmai_type_place(handle)], memory_order_acquire);
    return t && t->handle == handle ? t : rmai_type_slow(handle);
}

/* rmai_type_blocks makes the list of blocks of `count` elements: *n blocks at *blocks, which the caller frees.
 * Neighbours are merged. Returns 0 if memory is exhausted. */
int rmai_type_blocks(const struct rmai_type *t, size_t count, struct rma_block **blocks, size_t *n);

/* rmai_type_rebase makes the list begin at offset 0, and returns the buffer for it: the program's may be MPI_BOTTOM. */
static inline void *rmai_type_rebase(struct rma_block *blocks, size_t n, const void *buffer) {
    const ptrdiff_t first = n ? blocks[0].offset : 0;
    for (size_t i = 0; i < n; i++) blocks[i].offset -= first;
    return (void *)((uintptr_t)buffer + (uintptr_t)first);
}

/* rmai_type_section: `count` elements as one section. Returns 0 if they are none. */
struct rmai_section {
    ptrdiff_t start;
    size_t elem;
    int dims;
    size_t count[RMA_DIMS_MAX];
    ptrdiff_t stride[RMA_DIMS_MAX];
};
int rmai_type_section(const struct rmai_type *t, size_t count, struct rmai_section *s);

#endif
