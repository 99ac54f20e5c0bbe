/* SPDX-License-Identifier: BSD-3-Clause */
/* Attached regions: from an offset in a global pointer to an address in its owner's process.
 *
 * The offsets of attached memory are a range of their own, cut in granules of 64 KiB; a region has as many
 * consecutive ones as it needs. Two tables in the owner's space, which all PEs of the node read:
 *
 *     number[granule]   1 + the number of the region that has it, 0: none has
 *     region[number]    address, size, first granule, and who is in it
 *
 * so a lookup is two loads, whatever the number and sizes of the regions. The owner hands out granules in a circle: an
 * offset is used again as late as possible, and until then a pointer into a region that is gone finds no
 * number and is told from a good one.
 *
 * An access enters its region before it uses the address and leaves it after; detaching closes the region to
 * those who come, and waits for those who are in. Memory that its owner took back is therefore never touched. */
#ifndef RMAI_ATTACHED_H
#define RMAI_ATTACHED_H

#include <stddef.h>
#include <stdint.h>

#define RMAI_GRANULE  ((size_t)65536)
#define RMAI_GRANULES ((uint32_t)1 << 22) /* 256 GiB of offsets */
#define RMAI_REGIONS  RMAI_GRANULES

struct rmai_region {
    uint64_t address;
    uint64_t size;
    uint32_t granule; /* the first one */
    uint32_t inside;  /* accesses that are in it; RMAI_CLOSED is set while nobody may enter */
    uint32_t next;    /* free: 1 + the next free region, or 0 */
    uint32_t spare;
};

#define RMAI_CLOSED 0x80000000u

/* What precedes the tables, in shared memory. */
struct rmai_attached_state {
    uint32_t n_granules; /* granules whose numbers are committed: offsets beyond were never given out */
    uint32_t n_regions;  /* regions committed and used at least once */
    uint32_t cursor;     /* where the next region's granules are looked for */
    uint32_t free;       /* 1 + the first free region, or 0 */
    uint32_t n_live;     /* regions attached */
};

/* One process's view. */
struct rmai_attached {
    struct rmai_attached_state *state;
    uint32_t *number;
    struct rmai_region *region;
};

/* Makes [start, start + len) safe to touch, zeroed. Returns 0, or not 0 if it cannot. */
typedef int rmai_attached_commit(void *context, void *start, size_t len);

/* rmai_attached_room: bytes of address space for the tables. rmai_attached_view: a view of tables at `room`, zeroed
 * address space of which the first page must be committed before anything else is done (rmai_attached_create does). */
size_t rmai_attached_room(void);
void rmai_attached_view(struct rmai_attached *a, void *room);
int rmai_attached_create(struct rmai_attached *a, void *room, rmai_attached_commit *commit, void *context);

/* rmai_attached_add enters a region of size > 0 bytes, which overlaps none (the caller looks), and returns its offset,
 * counted from the first granule; SIZE_MAX if there are no such many free granules, or commit failed. By the owner, one
 * at a time. */
size_t rmai_attached_add(struct rmai_attached *a, uint64_t address, uint64_t size, rmai_attached_commit *commit,
                         void *context);

/* rmai_attached_close lets nobody enter the region at offset, its first byte, any more, and rmai_attached_empty tells
 * if all who were in have left; then rmai_attached_remove takes it out of the tables. Without `recycle` the region's
 * entry is never used for another: for one in which somebody has died. By the owner. */
void rmai_attached_close(struct rmai_attached *a, size_t offset);
int rmai_attached_empty(const struct rmai_attached *a, size_t offset);
void rmai_attached_remove(struct rmai_attached *a, size_t offset, int recycle);

/* 1 + the number of the region that has the granule of offset, or 0. */
static inline uint32_t rmai_attached_number(const struct rmai_attached *a, size_t offset) {
    size_t granule = offset / RMAI_GRANULE;
    /* Acquire: pairs with the releases of add, which commits and describes first. */
    if (granule >= __atomic_load_n(&a->state->n_granules, __ATOMIC_ACQUIRE)) return 0;
    return __atomic_load_n(&a->number[granule], __ATOMIC_ACQUIRE);
}

/* The address of [offset, offset + len) in region r, or 0. */
static inline uint64_t rmai_attached_address(const struct rmai_region *r, size_t offset, size_t len) {
    uint64_t at = offset - (uint64_t)r->granule * RMAI_GRANULE;
    return at <= r->size && len <= r->size - at ? r->address + at : 0;
}

/* rmai_attached_find: the address of [offset, offset + len) if that lies in one region, else 0. By the owner, who
 * knows what it does with its own memory. */
static inline uint64_t rmai_attached_find(const struct rmai_attached *a, size_t offset, size_t len) {
    uint32_t number = rmai_attached_number(a, offset);
    return number ? rmai_attached_address(&a->region[number - 1], offset, len) : 0;
}

/* rmai_attached_enter: the same by any process, which then is in the region until rmai_attached_leave with the *region
 * that was returned. Lock-free. */
uint64_t rmai_attached_enter(struct rmai_attached *a, size_t offset, size_t len, struct rmai_region **region);
void rmai_attached_leave(struct rmai_region *region);

#endif
