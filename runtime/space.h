/* SPDX-License-Identifier: BSD-3-Clause */
/* The spaces of the PEs: which memory of a PE an offset names, and which offset an address of this PE has. A global
 * pointer is a PE and such an offset. Stands on the heaps and the attached regions; what is done
 * with the memory is the business of runtime/place and of those above. */
#ifndef RMAI_SPACE_H
#define RMAI_SPACE_H

#include <stddef.h>

#include "rma.h"

struct rmai_place;
struct rmai_region;
struct rmai_world;

/* The offset in a global pointer: what is left without the PE. */
#define RMAI_OFFSET_MASK (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1)

static inline rma_gptr_t rmai_gptr_make(int pe, size_t offset) {
    return (rma_gptr_t)(uint32_t)pe << RMA_GPTR_BITS_ | offset;
}

/* rmai_gptr_symmetric is the global pointer of what PE pe has at the place of [addr, addr + len), where that is in the
 * symmetric heap or in global variables; elsewhere RMA_GPTR_NULL. */
rma_gptr_t rmai_gptr_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe);

/* rmai_gptr_own is the global pointer of [addr, addr + len) in any accessible memory of this PE, or RMA_GPTR_NULL. */
rma_gptr_t rmai_gptr_own(struct rmai_world *w, const void *addr, size_t len);

/* One part of a PE's space: [start, end). Where `pool` is not -1 the part is that pool of the PE's local heap: it ends
 * where the PE's header or, between nodes, the PE itself says, and `end` is 0 until the caller has asked there. */
struct rmai_part {
    size_t start, end;
    int pool;
};

/* rmai_space_part is the part in which an offset below the attached ones lies; empty where no memory has that offset.
 * Bytes at the end of a symmetric part that this PE knows of are known to every PE. */
struct rmai_part rmai_space_part(const struct rmai_world *w, size_t offset);

/* 1 if [offset, offset + len) lies in the part. */
static inline int rmai_part_holds(const struct rmai_part *part, size_t offset, size_t len) {
    return offset >= part->start && offset <= part->end && len <= part->end - offset;
}

/* rmai_space_find writes to *p where [g, g + len) of PE number q of this node is. It gives what the inlined path gives,
 * also for PEs that this path does not cover, and global variables and attached memory besides; an attached region is
 * entered. Returns 0 if the PE has no memory there. */
int rmai_space_find(struct rmai_world *w, rma_gptr_t g, size_t len, int q, struct rmai_place *p);

/* rmai_space_absent records RMA_ERR_ADDRESS for `call`: [g, g + len) is in no memory of its PE. */
int rmai_space_absent(const struct rmai_world *w, const char *call, rma_gptr_t g, size_t len);

/* rmai_space_check_aligned: RMA_SUCCESS, or records RMA_ERR_ADDRESS for `call` and leaves the region that p has
 * entered. Attached memory is aligned as its address is, which only the owner's node knows. */
int rmai_space_check_aligned(const char *call, rma_gptr_t g, size_t align, struct rmai_place *p);

/* rmai_gptr_here finds [offset, offset + len) of this PE's own space for another PE: *there is its address, *region the
 * attached region that is entered, or NULL. Any thread. Returns RMA_SUCCESS or records RMA_ERR_ADDRESS for `call`. */
int rmai_gptr_here(struct rmai_world *w, const char *call, uint64_t offset, size_t len, size_t align, int writes,
                   void **there, struct rmai_region **region);

#endif
