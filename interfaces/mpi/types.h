/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: where the bytes of a type are, worked out once and kept with the type. That happens when a window call
 * first gets the type; the result is an attribute of the type. Most types turn out to be one block, or a section:
 * blocks of one length in rows at equal distances, in up to RMAI_DATATYPE_DIMS dimensions. All others are lists of
 * blocks. */
#ifndef RMAI_MPI_TYPES_H
#define RMAI_MPI_TYPES_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interfaces/mpi/elements.h"
#include "rma.h"

#define RMAI_DATATYPE_DIMS (RMA_DIMS_MAX - 2) /* a call adds one for its count, an accumulate one for the block */

struct rmai_datatype {
    MPI_Datatype handle;
    int plain;                          /* 1: elements of the type follow each other without gaps, from offset 0 */
    int predefined;                     /* 1: the type is its own element */
    int single;                         /* 1: plain, and each element of the type is one predefined element */
    int mixed;                          /* 1: there are elements of several predefined types, or of an unknown one */
    const struct rmai_element *element; /* the predefined type of all data; NULL: mixed, or there are no data */
    size_t size;                        /* bytes of data */
    ptrdiff_t extent;                   /* from one element to the next */
    ptrdiff_t true_lb, true_ub;         /* the first byte, and one past the last one */
    size_t places;                      /* the offsets of all its blocks, joined by OR: for rmai_datatype_aligned */
    int dims;                           /* of the section, or -1: it is a list */
    ptrdiff_t start;                    /* where the section begins */
    size_t elem;                        /* bytes of each block of the section */
    size_t count[RMAI_DATATYPE_DIMS];
    ptrdiff_t stride[RMAI_DATATYPE_DIMS];
    struct rma_block *blocks; /* the list */
    size_t n;
    struct rmai_datatype *next; /* in the list of unused ones */
};

#define RMAI_DATATYPE_CACHE 256
extern struct rmai_datatype *_Atomic rmai_datatype_cache[RMAI_DATATYPE_CACHE];

/* rmai_datatype_slow returns what is known of a type, or NULL if it is no type, or memory is exhausted. */
struct rmai_datatype *rmai_datatype_slow(MPI_Datatype handle);

static inline unsigned rmai_datatype_place(MPI_Datatype handle) {
#ifdef MPICH_VERSION
    const unsigned n = (unsigned)handle;
    return (n ^ n >> 8) % RMAI_DATATYPE_CACHE; /* a predefined type has its size in the second byte */
#else
    return (unsigned)((uintptr_t)handle >> 6) % RMAI_DATATYPE_CACHE;
#endif
}

/* rmai_datatype_of: the same, in a few nanoseconds for types that were used lately. A struct is never given back to the
 * system, so a thread may read the handle of one that another thread frees. A struct that is used again gets its handle
 * last. */
static inline const struct rmai_datatype *rmai_datatype_of(MPI_Datatype handle) {
    const struct rmai_datatype *t =
        atomic_load_explicit(&rmai_datatype_cache[rmai_datatype_place(handle)], memory_order_acquire);
    return RMA_LIKELY_(t && __atomic_load_n(&t->handle, __ATOMIC_ACQUIRE) == handle) ? t : rmai_datatype_slow(handle);
}

/* rmai_datatype_aligned: 1 if each block of `count` elements at `address` begins at a multiple of align, a power of 2.
 */
static inline int rmai_datatype_aligned(const struct rmai_datatype *t, size_t count, uint64_t address, size_t align) {
    const size_t steps = t->places | (count > 1 ? (size_t)t->extent : 0);
    return ((steps | address) & (align - 1)) == 0;
}

/* rmai_datatype_blocks makes the list of blocks of `count` elements: *n blocks at *blocks, which the caller frees.
 * Neighbours are merged. Returns 0 if memory is exhausted. */
int rmai_datatype_blocks(const struct rmai_datatype *t, size_t count, struct rma_block **blocks, size_t *n);

/* rmai_blocks_rebase makes a list begin at offset 0. Returns how much further its buffer begins: an address in the
 * list's type may be far from a buffer that is MPI_BOTTOM, and the sum of both is what exists. */
static inline ptrdiff_t rmai_blocks_rebase(struct rma_block *blocks, size_t n) {
    const ptrdiff_t first = n ? blocks[0].offset : 0;
    for (size_t i = 0; i < n; i++) blocks[i].offset -= first;
    return first;
}

/* rmai_datatype_section: `count` elements as one section. Returns 0 if they are none. */
struct rmai_section {
    ptrdiff_t start;
    size_t elem;
    int dims;
    size_t count[RMA_DIMS_MAX];
    ptrdiff_t stride[RMA_DIMS_MAX];
};
int rmai_datatype_section(const struct rmai_datatype *t, size_t count, struct rmai_section *s);

#endif
