/* SPDX-License-Identifier: BSD-3-Clause */
/* Attached regions: they map an offset in a global pointer to an address in the owner's process.
 *
 * Attached memory has its own range of offsets, divided into granules of 64 KiB; a region has as many consecutive
 * granules as it needs. Two tables are in the owner's space, where all PEs of the node read them:
 *
 *     number[granule]   1 + the number of the region that has the granule, 0: no region has it
 *     region[number]    address, size, first granule, and how many accesses are in the region
 *
 * So a lookup is two loads, whatever the number and sizes of the regions. The owner hands out granules in a circle, so
 * that an offset is reused as late as possible. Until then a pointer into a detached region finds no number, and is
 * recognized as stale.
 *
 * An access enters its region before it uses the address, and leaves it afterwards. Detaching closes the region to new
 * accesses, and waits until all accesses have left. So no PE ever touches memory that its owner has detached. */
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
    uint32_t granule; /* the region's first granule */
    uint32_t inside;  /* accesses in the region; RMAI_CLOSED is set while none may enter */
    uint32_t next;    /* in a free region: 1 + the next free region, or 0 */
};

#define RMAI_CLOSED 0x80000000u

/* The state before the tables, in shared memory. */
struct rmai_attached_state {
    uint32_t n_granules; /* granules whose numbers are committed; offsets beyond them were never used */
    uint32_t n_regions;  /* regions committed and used at least once */
    uint32_t cursor;     /* where the search for the next region's granules begins */
    uint32_t free;       /* 1 + the first free region, or 0 */
    uint32_t n_live;     /* regions attached */
};

/* One process's view. */
struct rmai_attached {
    struct rmai_attached_state *state;
    uint32_t *number;
    struct rmai_region *region;
};

/* rmai_attached_commit makes [start, start + len) safe to touch, and zero. Returns 0, or not 0 if it cannot. */
typedef int rmai_attached_commit(void *context, void *start, size_t len);

/* rmai_attached_room: bytes of address space for the tables. rmai_attached_view: a view of the tables at `room`, zeroed
 * address space. Before any other use of the view its first page must be committed, as rmai_attached_create does. */
size_t rmai_attached_room(void);
void rmai_attached_view(struct rmai_attached *a, void *room);
int rmai_attached_create(struct rmai_attached *a, void *room, rmai_attached_commit *commit, void *context);

/* rmai_attached_add enters a region of size > 0 bytes into the tables and returns its offset, counted from the first
 * granule, or SIZE_MAX if there are not enough consecutive free granules, or commit failed. The caller makes sure that
 * the region overlaps no other. Only the owner calls it, one thread at a time. */
size_t rmai_attached_add(struct rmai_attached *a, uint64_t address, uint64_t size, rmai_attached_commit *commit,
                         void *context);

/* rmai_attached_close closes the region whose first byte is at offset: no access may enter it any more.
 * rmai_attached_empty tells whether all accesses that were in it have left. Then rmai_attached_remove removes it from
 * the tables. Without `recycle` the region's entry is never used again: for a region in which a PE has died. Only the
 * owner calls these. */
void rmai_attached_close(struct rmai_attached *a, size_t offset);
int rmai_attached_empty(const struct rmai_attached *a, size_t offset);
void rmai_attached_remove(struct rmai_attached *a, size_t offset, int recycle);

/* 1 + the number of the region that has the granule of offset, or 0. */
static inline uint32_t rmai_attached_number(const struct rmai_attached *a, size_t offset) {
    size_t granule = offset / RMAI_GRANULE;
    /* Acquire: pairs with the releases of rmai_attached_add, which commits and describes before it publishes. */
    if (granule >= __atomic_load_n(&a->state->n_granules, __ATOMIC_ACQUIRE)) return 0;
    return __atomic_load_n(&a->number[granule], __ATOMIC_ACQUIRE);
}

/* The address of [offset, offset + len) in region r, or 0. */
static inline uint64_t rmai_attached_address(const struct rmai_region *r, size_t offset, size_t len) {
    uint64_t at = offset - (uint64_t)r->granule * RMAI_GRANULE;
    return at <= r->size && len <= r->size - at ? r->address + at : 0;
}

/* rmai_attached_find: the address of [offset, offset + len) if that lies in one region, else 0. It enters no region, so
 * only the owner may call it, and only while none of its threads detaches the region. */
static inline uint64_t rmai_attached_find(const struct rmai_attached *a, size_t offset, size_t len) {
    uint32_t number = rmai_attached_number(a, offset);
    return number ? rmai_attached_address(&a->region[number - 1], offset, len) : 0;
}

/* rmai_attached_enter: the same, for any process and thread. The access is in the region until rmai_attached_leave is
 * called with the *region that was returned. Lock-free. */
uint64_t rmai_attached_enter(struct rmai_attached *a, size_t offset, size_t len, struct rmai_region **region);
void rmai_attached_leave(struct rmai_region *region);

#endif
