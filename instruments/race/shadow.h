/* SPDX-License-Identifier: BSD-3-Clause */
/* The accesses of a word that may still race with a later access: a cell for each 8 bytes.
 *
 * Two accesses race if they overlap, at least one writes, neither happens before the other, and they are not both
 * atomic in the same way. A cell has the last write and the last read. This suffices while each access happens after
 * those that it replaces: an access that does not happen after the older one does not happen after the newer one either
 * (FastTrack). Where that does not hold (several readers, atomics, bytes written at different times, words by which PEs
 * synchronize), the cell names a list of accesses.
 *
 * Cells are read and written without a lock while they hold one write and one read that are ordered. Two accesses of
 * the same cell within some nanoseconds may hide each other; this happens about once in a million. */
#ifndef RACE_SHADOW_H
#define RACE_SHADOW_H

#include <stddef.h>

#include "instruments/race/clock.h"
#include "instruments/race/job.h"

/* race_mask: the bits of len bytes at an address, all in one cell. */
static inline race_epoch race_mask(uintptr_t addr, size_t len) { return (RACE_MASK >> (8 - len)) << (addr & 7); }

struct race_cell {
    race_epoch write;     /* 0: none; RACE_LONG | list << 32: see race_list; with RACE_SECOND: one of two reads */
    race_epoch read;      /* 0 if there is a list */
    uint32_t write_at[2]; /* the places of the write: of bytes 0 to 3, and 4 to 7 */
    uint32_t read_at[2];
};

/* race_replace replaces the access that was found, without the lock. Returns 0 if there is another access meanwhile, or
 * a list. */
static inline int race_replace(race_epoch *word, race_epoch old, race_epoch new) {
    return __atomic_compare_exchange_n(word, &old, new, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* race_place_into stores the place of an access of these bytes in write_at or read_at. */
static inline void race_place_into(uint32_t at[2], race_epoch mask, uint32_t place) {
    if (mask & 0x0f) at[0] = place;
    if (mask & 0xf0) at[1] = place;
}

/* What an access does. FREES, LEAVES: memory ends while an operation uses it. GIVES: a collective writes the memory of
 * a PE that is not ready. */
enum race_what { RACE_READS, RACE_WRITES, RACE_FREES, RACE_LEAVES, RACE_GIVES };

/* One access in a list. seen: threads known to have seen its value (wait_until, a fetching atomic), and their counts
 * then: whatever happens after that happens after the access. If there is no room for another thread, the access counts
 * as seen by all (seen[0].actor is RACE_MANY): this may hide a race, but invents none. */
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
    uint32_t n, next; /* next: 1 + the number of the continuation list, or 0 */
    uint32_t unused[2];
    struct race_record records[RACE_LIST_RECORDS];
};
_Static_assert(sizeof(struct race_list) == 256, "four cache lines");
#define RACE_LISTS_MOST (1u << 24)

/* The accessing actor. epoch: without a mask. fences: for operations that fences order after earlier ones, their
 * context; and the PE on which they act. */
struct race_who {
    race_epoch epoch;
    const uint32_t *clock;
    const void *fences;
    int fences_to;
    int own; /* 1: earlier puts of this process to a PE of its node are like stores of their threads: native calls */
};

/* race_cells: the cell of len bytes at an address of this process, or NULL if they are not checked or not in one cell.
 * *where: for race_access. race_cells_of: the cell of PE pe's byte at the symmetric address, or NULL if the address is
 * not symmetric. race_cells_at: by the offset in the PE's space, or of attached memory. */
struct race_where {
    uintptr_t addr; /* the address in this process, or the symmetric address; for attached memory the offset */
    int pe;         /* the owner of the memory, or -1: private memory of this process */
};
struct race_cell *race_cells(uintptr_t addr, size_t len, struct race_where *where);
struct race_cell *race_cells_of(uintptr_t addr, size_t len, int pe);
struct race_cell *race_cells_at(uint64_t offset, size_t len, int pe);

/* race_cell_is_used: the caller accesses a single word of another PE. */
void race_cell_is_used(const struct race_cell *cell);

/* race_is_committed: 0 for a range that leaves the committed heap in which it begins: the library refuses it.
 */
int race_is_committed(uintptr_t addr, size_t len);

/* race_access checks and records one access of bytes `mask` of a cell. kind: with the family of an atomic (clock.h). */
void race_access(struct race_cell *cell, race_epoch mask, race_epoch kind, int write, uint32_t place,
                 const struct race_who *who, struct race_where where);

/* Strips: what a process's first thread has accessed of whole blocks of RACE_STRIP bytes of its own heaps and global
 * variables is recorded once for each block, beside the cells (runs.h). For that thread to know when it must look at
 * the cells as well, the other actors leave the latest access of each RACE_PAGE bytes in `others`, before they look at
 * `write` and `read`. They need not look at these if they know the owner's latest record of a strip. */
struct race_strip {
    race_epoch write, read; /* of all bytes; 0: none */
    uint32_t write_at, read_at;
};
#define RACE_STRIP     ((size_t)256)
#define RACE_PAGE      ((size_t)4096)
#define RACE_UNORDERED (~(race_epoch)0) /* in `others`: accesses that no access comes after */

/* race_strips_record records the calling thread's accesses. Afterwards race_page_is_foreign tells whether the cells of
 * a page must be checked as well. */
void race_strips_record(const struct race_cell *cells, size_t len, int write, uint32_t place);
int race_page_is_foreign(const struct race_cell *cell);

/* race_range does the same for len bytes of PE pe's memory (cells: the cell of addr), race_local for memory of this
 * process. */
void race_range(struct race_cell *cells, uintptr_t addr, size_t len, int pe, race_epoch kind, int write, uint32_t place,
                const struct race_who *who);
void race_local(const void *addr, size_t len, race_epoch kind, int write, uint32_t place, const struct race_who *who);

/* race_memory_ends: the memory of these cells is being freed, or is in a frame that has ended: reports an operation
 * that may still use it (not a load or store, which the allocator's or the program's own order concerns). */
void race_memory_ends(struct race_cell *cells, struct race_where where, size_t len, enum race_what what,
                      uint32_t place);

/* race_before: whether the access happens before what a thread with this clock does. race_after: calls `found` for each
 * access of these bytes of this process's memory that does not. */
int race_before(const struct race_record *r, const uint32_t *clock);
void race_after(const void *addr, size_t len, const uint32_t *clock,
                void (*found)(void *arg, const struct race_record *r, race_epoch mask, struct race_where where),
                void *arg);

/* race_private_cells: the cell of an address of private memory; those up to the end of its chunk (RACE_CHUNK) follow.
 * NULL if nothing has been recorded there. */
struct race_cell *race_private_cells(uintptr_t addr);

/* race_saw: which operations tell something to the calling thread, which has seen the word's bytes; the cell notes that
 * it has. Returns their number. race_acquire makes the calling thread know what the writes of the word's bytes told
 * (wait_until, fetching atomics). native: plain puts tell nothing. */
struct race_seen {
    uint32_t actor, count;
};
#define RACE_SEEN_MOST 161
size_t race_saw(struct race_cell *cell, race_epoch mask, int native, struct race_seen *told);
void race_acquire(struct race_cell *cell, race_epoch mask, int native);

/* race_forget: the memory is new; earlier accesses do not count. */
void race_forget(struct race_cell *cells, size_t len);
void race_forget_private(uintptr_t addr, size_t len);

/* What is checked in private memory: nothing; only uses by nonblocking operations; or everything, while there are
 * threads. */
enum race_private { RACE_PRIVATE_OFF, RACE_PRIVATE_PENDING, RACE_PRIVATE_ALL };
void race_private_mode(enum race_private mode);

/* race_look_at: from now on the hooks check the heaps and global variables of race_job; on 0: nothing. */
void race_look_at(int on);

/* race_attach: other PEs reach this private memory by global pointer, from this offset on (rma_attach): its cells are
 * shared. race_detach ends that; earlier accesses do not count. Returns the offset, or 0. race_has_regions: whether
 * memory is attached. */
void race_attach(uintptr_t base, size_t size, uint64_t offset);
uint64_t race_detach(uintptr_t base);
extern size_t race_n_regions;
static inline int race_has_regions(void) { return __atomic_load_n(&race_n_regions, __ATOMIC_ACQUIRE) != 0; }

/* Exposed memory: other processes access it by windows of MPI, so that the cells of the whole chunks (RACE_CHUNK) that
 * it touches are shared, and stay so. race_expose returns 0 if there is no more room. race_cells_exposed: the cell of
 * an address of process pe, or NULL; those up to the end of the arena (job.h) follow. race_alias: what is mapped here
 * is process pe's exposed memory at `there`; race_unalias_of ends that. */
int race_expose(uintptr_t base, size_t len);
struct race_cell *race_cells_exposed(uintptr_t addr, int pe);
void race_alias(uintptr_t here, size_t len, int pe, uintptr_t there);
void race_unalias_of(int pe, uintptr_t there);
extern int race_has_aliases; /* 1: there was an alias */
static inline int race_is_exposed(const struct race_cell *cell) {
    return (uintptr_t)cell - (uintptr_t)race_job.exposed < race_job.exposed_len;
}

/* The ranges that the hooks of loads and stores test first (access.c). Programs have the offsets (inline.h). half_bits,
 * byte_bits, pair_bits: for each half, byte or pair of bytes of a cell, the bits of its epoch in which an access of
 * these bytes must be the same to be a repetition. */
#define race_window rma_race_window
struct race_window {
    uintptr_t heap;
    size_t heap_len;
    struct race_cell *heap_cells;
    uintptr_t statics;
    size_t statics_len;
    struct race_cell *statics_cells;
    uintptr_t others; /* what else is checked: the memory of the node's other PEs; or all, if private memory is */
    size_t others_len;
    race_epoch half_bits[2];
    race_epoch byte_bits[8];
    enum race_private private_mode;
    struct race_cell **chunks; /* cells of private memory, by RACE_CHUNK bytes of the address space; or NULL */
    race_epoch pair_bits[4];
};
_Static_assert(offsetof(struct race_window, heap) == 0 && offsetof(struct race_window, statics) == 24 &&
                   offsetof(struct race_window, others) == 48 && offsetof(struct race_window, half_bits) == 64 &&
                   offsetof(struct race_window, byte_bits) == 80 && offsetof(struct race_window, pair_bits) == 160,
               "as in inline.h");
#define RACE_CHUNK_SHIFT 16
#define RACE_CHUNK       ((uintptr_t)1 << RACE_CHUNK_SHIFT)
extern __attribute__((visibility("default"))) struct race_window race_window;

/* race_own: race_who.own for a thread's own accesses. */
int race_own(void);

#endif
