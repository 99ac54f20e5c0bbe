/* SPDX-License-Identifier: BSD-3-Clause */
/* Which accesses of a word may still race with one that comes: a cell for each 8 bytes.
 *
 * Two accesses race if they have a byte in common, one writes, neither happens before the other, and they are not both
 * atomic in the same way. A cell has the last write and the last read. That is enough while each access happens after
 * those that it replaces: whatever does not happen after the older access does not happen after the newer one either
 * (FastTrack). Where that does not hold (several readers, atomics, bytes written at different times, words by which
 * PEs synchronize), the cell names a list of accesses.
 *
 * Cells are read and written without a lock while they hold one write and one read that are ordered. Two accesses of
 * the same cell within some nanoseconds may hide each other; so does one of a million. */
#ifndef RACE_SHADOW_H
#define RACE_SHADOW_H

#include <stddef.h>

#include "race/clock.h"

/* race_mask: the bits of len bytes at an address, which lie in one cell. */
static inline race_epoch race_mask(uintptr_t addr, size_t len) { return (RACE_MASK >> (8 - len)) << (addr & 7); }

struct race_cell {
    race_epoch write;     /* 0: none; RACE_LONG | list << 32: see race_list */
    race_epoch read;      /* 0 if there is a list */
    uint32_t write_at[2]; /* the places of the write: of bytes 0 to 3, and 4 to 7 */
    uint32_t read_at[2];
};

/* race_replace puts an access where another one was found, without the lock. 0: there is another one meanwhile, or a
 * list. */
static inline int race_replace(race_epoch *word, race_epoch old, race_epoch new) {
    return __atomic_compare_exchange_n(word, &old, new, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* race_place_into: the place of an access of these bytes, into write_at or read_at. */
static inline void race_place_into(uint32_t at[2], race_epoch mask, uint32_t place) {
    if (mask & 0x0f) at[0] = place;
    if (mask & 0xf0) at[1] = place;
}

/* One access in a list. seen: threads that are known to have seen its value (wait_until, a fetching atomic), and the
 * counts they had: who happens after that happens after the access. When there is no room for another one, the access
 * counts as seen by all (seen[0].actor is RACE_MANY): a race may be missed, none is made up. */
#define RACE_SEEN 4
#define RACE_MANY UINT32_MAX
struct race_record {
    race_epoch epoch;
    uint32_t place;
    uint32_t write;
    struct {
        uint32_t actor, count;
    } seen[RACE_SEEN];
};

#define RACE_LIST_RECORDS 5
struct race_list {
    uint32_t n, next; /* next: 1 + number of the list that goes on, or 0 */
    uint32_t unused[2];
    struct race_record records[RACE_LIST_RECORDS];
};
_Static_assert(sizeof(struct race_list) == 256, "four cache lines");
#define RACE_LISTS_MOST (1u << 24)

/* Who accesses. epoch: without a mask. fenced: for operations, up to which puts and signalled data of the same context
 * to the same PE a fence has ordered before it. */
struct race_who {
    race_epoch epoch;
    const uint32_t *clock;
    struct {
        uint32_t actor, count;
    } fenced[2];
    int own; /* what the same process has put before, to a PE of its node, comes before: native calls (events.h) */
};

/* race_cells: the cell of len bytes at an address of this process, or NULL if their accesses are not looked at, or they
 * are not in one cell. *where: what race_access wants. race_cells_of: the cell of PE pe's byte at the symmetric
 * address, or NULL if it is none. race_cells_at: by the offset in the PE's space, or of attached memory. */
struct race_where {
    uintptr_t addr; /* here, or the symmetric address; of attached memory its offset */
    int pe;         /* whose memory, or -1: private memory of this process */
};
struct race_cell *race_cells(uintptr_t addr, size_t len, struct race_where *where);
struct race_cell *race_cells_of(uintptr_t addr, size_t len, int pe);
struct race_cell *race_cells_at(uint64_t offset, size_t len, int pe);

/* race_is_committed: 0 for a range so long that the library refuses it: it leaves the committed heap that it begins in.
 */
int race_is_committed(uintptr_t addr, size_t len);

/* race_access checks and records one access of bytes `mask` of a cell. */
void race_access(struct race_cell *cell, race_epoch mask, race_epoch kind, int write, uint32_t place,
                 const struct race_who *who, struct race_where where);

/* race_range does so for len bytes of memory of PE pe (cells: that of addr), race_local for memory of this process. */
void race_range(struct race_cell *cells, uintptr_t addr, size_t len, int pe, race_epoch kind, int write, uint32_t place,
                const struct race_who *who);
void race_local(const void *addr, size_t len, race_epoch kind, int write, uint32_t place, const struct race_who *who);

/* race_acquire makes the calling thread know what the writes of the word's bytes told (wait_until, fetching atomics).
 * native: plain puts tell nothing. */
void race_acquire(struct race_cell *cell, race_epoch mask, int native);

/* race_forget: the memory is new; what was done to it before does not count. */
void race_forget(struct race_cell *cells, size_t len);
void race_forget_private(uintptr_t addr, size_t len);

/* Private memory: not looked at; only as far as nonblocking operations use it; or wholly, while there are threads. */
enum race_private { RACE_PRIVATE_OFF, RACE_PRIVATE_PENDING, RACE_PRIVATE_ALL };
void race_private_mode(enum race_private mode);

/* race_look_at: what the hooks look at from now on: the heaps and global variables of race_job; 0: nothing. */
void race_look_at(int on);

/* race_attach: private memory that other PEs reach by global pointer, from this offset on (rma_attach): its cells are
 * shared. race_detach: no more; what was done to it does not count. Returns the offset, or 0. */
void race_attach(uintptr_t base, size_t size, uint64_t offset);
uint64_t race_detach(uintptr_t base);

/* What the hooks of loads and stores look at first (access.c). */
struct race_window {
    uintptr_t heap;
    size_t heap_len;
    struct race_cell *heap_cells;
    uintptr_t statics;
    size_t statics_len;
    struct race_cell *statics_cells;
    uintptr_t others; /* what else is looked at: the memory of the node's other PEs; or all, if private memory is */
    size_t others_len;
    int private_mode;
    struct race_cell **chunks; /* of private memory: one for each RACE_CHUNK bytes of the address space, or NULL */
};
#define RACE_CHUNK_SHIFT 16
#define RACE_CHUNK       ((uintptr_t)1 << RACE_CHUNK_SHIFT)
extern struct race_window race_window;

/* race_own: race_who.own of a thread's own accesses. */
int race_own(void);

#endif
