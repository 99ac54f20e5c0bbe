/* SPDX-License-Identifier: BSD-3-Clause */
/* The spaces of the PEs: which memory of a PE an offset names, and which offset an address of this PE has. A global
 * pointer is a PE and such an offset. Uses the heaps and the attached regions; runtime/place and the layers above it
 * access the memory. */
#ifndef RMAI_SPACE_H
#define RMAI_SPACE_H

#include <stddef.h>

#include "rma.h"

struct rmai_place;
struct rmai_region;
struct rmai_world;

/* The bits of a global pointer that are the offset; the others are the PE. */
#define RMAI_OFFSET_MASK (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1)

static inline rma_gptr_t rmai_gptr_make(int pe, size_t offset) {
    return (rma_gptr_t)(uint32_t)pe << RMA_GPTR_BITS_ | offset;
}

/* rmai_gptr_symmetric returns the global pointer of PE pe's copy of [addr, addr + len), if that is in the symmetric
 * heap or in global variables; else RMA_GPTR_NULL. */
rma_gptr_t rmai_gptr_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe);

/* rmai_gptr_own is the global pointer of [addr, addr + len) in any accessible memory of this PE, or RMA_GPTR_NULL. */
rma_gptr_t rmai_gptr_own(struct rmai_world *w, const void *addr, size_t len);

/* One part of a PE's space: [start, end). If `pool` is not -1 the part is that pool of the PE's local heap. Its end is
 * in the PE's header; on another node the PE itself has to be asked. `end` is 0 until the caller has done so. */
struct rmai_part {
    size_t start, end;
    int pool;
};

/* rmai_space_part returns the part that has an offset below the attached ones; an empty part if no memory has that
 * offset. Every PE knows the same end of a symmetric part. */
struct rmai_part rmai_space_part(const struct rmai_world *w, size_t offset);

/* 1 if [offset, offset + len) lies in the part. */
static inline int rmai_part_holds(const struct rmai_part *part, size_t offset, size_t len) {
    return offset >= part->start && offset <= part->end && len <= part->end - offset;
}

/* rmai_space_find writes to *p where [g, g + len) of PE number q of this node is. It finds what the inlined path finds,
 * also for PEs that this path does not cover, and in addition global variables and attached memory; it enters an
 * attached region. Returns 0 if the PE has no memory there. */
int rmai_space_find(struct rmai_world *w, rma_gptr_t g, size_t len, int q, struct rmai_place *p);

/* rmai_space_absent records RMA_ERR_ADDRESS for `call`: [g, g + len) is in no memory of its PE. */
int rmai_space_absent(const struct rmai_world *w, const char *call, rma_gptr_t g, size_t len);

/* rmai_space_check_aligned: RMA_SUCCESS, or records RMA_ERR_ADDRESS for `call` and leaves the region that p has
 * entered. The alignment of attached memory is that of its address, which only the owner's node knows. */
int rmai_space_check_aligned(const char *call, rma_gptr_t g, size_t align, struct rmai_place *p);

/* rmai_gptr_here finds [offset, offset + len) of this PE's own space for another PE: *there is its address, *region the
 * attached region that it has entered, or NULL. writes: as in struct rmai_net_handlers. Any thread may call it. Returns
 * RMA_SUCCESS or records RMA_ERR_ADDRESS for `call`. */
int rmai_gptr_here(struct rmai_world *w, const char *call, uint64_t offset, size_t len, size_t align, int writes,
                   void **there, struct rmai_region **region);

#endif
