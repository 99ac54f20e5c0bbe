/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-level segregated fit: allocation and release in constant time, with immediate coalescing.
 *
 * The allocator manages the numbers [0, bytes) of a pool and never touches the pool itself. All its data are in a table
 * beside the pool, 16 bytes for each 64-byte unit. The paper and most mallocs put headers before the blocks instead.
 * The table beside the pool has these advantages:
 *   - a peer that writes past a block's end cannot corrupt the allocator;
 *   - "is this the base of a live block?" has an exact answer from one table entry, for any number;
 *   - blocks of 64 and of 4096 bytes are packed exactly, on lines and pages of their own;
 *   - freeing a block whose lines are dirty in a peer's cache does not fetch these lines.
 * A table entry is written only where a block starts, so a large block costs one page of table, not a quarter of its
 * size.
 *
 * No MPI, no globals, no libc allocator, and no pointer in the shared state: PEs may map it at different addresses. The
 * caller serializes all calls except rmai_tlsf_retire. After M. Masmano, I. Ripoll, A. Crespo, J. Real, "TLSF: a new
 * dynamic memory allocator for real-time systems", ECRTS 2004. */
#ifndef RMAI_TLSF_H
#define RMAI_TLSF_H

#include <stddef.h>
#include <stdint.h>

#define RMAI_TLSF_UNIT 64
#define RMAI_TLSF_MAX  ((size_t)0xfffffff0u * RMAI_TLSF_UNIT) /* largest pool in bytes: 256 GiB */

#define RMAI_TLSF_ROWS    28 /* first level: powers of two */
#define RMAI_TLSF_COLUMNS 32 /* second level: linear steps; waste of a rounded request is below 1/32 */

/* Results of rmai_tlsf_alloc that are not offsets. */
#define RMAI_TLSF_FULL   SIZE_MAX       /* no free block is large enough: grow by rmai_tlsf_need */
#define RMAI_TLSF_DENIED (SIZE_MAX - 1) /* a page of the table could not be committed; nothing changed */

/* rmai_tlsf_commit makes [start, start + len) safe to touch, and zero. Returns 0, or not 0 if it cannot. */
typedef int rmai_tlsf_commit(void *context, void *start, size_t len);

/* The state of a pool, which is in the segment. Pool and table are divided into units; NIL and USED are not unit
 * numbers. Invariants, which rmai_tlsf_check verifies:
 *   the blocks tile [0, n_units): start(next) = start + size, prev(next) = size, prev(first) = 0
 *   no two free blocks touch
 *   a block is in list class_of(size) iff it is free; bit (row, column) is set iff that list is not empty
 *   an entry that starts no block is zero */
struct rmai_tlsf_state {
    uint32_t n_units;   /* units of the pool */
    uint32_t max_units; /* most units of the pool */
    uint32_t last;      /* size of the last block: `prev` of a block that is appended */
    uint32_t rows;      /* bit r: columns[r] != 0 */
    uint32_t columns[RMAI_TLSF_ROWS];
    uint32_t head[RMAI_TLSF_ROWS * RMAI_TLSF_COLUMNS]; /* first block of class row * RMAI_TLSF_COLUMNS + column */
    size_t used_units;                                 /* in live and retired blocks */
    size_t peak_units;                                 /* the largest value that used_units has had */
    size_t n_used;                                     /* live and retired blocks */
    size_t n_free;                                     /* free blocks */
    size_t n_growths;                                  /* successful calls of rmai_tlsf_grow */
    size_t committed; /* kept for the caller: bytes of the pool's memory that are safe to touch */
};

#define RMAI_TLSF_STEP ((size_t)16384) /* the table is committed in pieces of this many bytes, at multiples of it */

struct rmai_tlsf_unit {
    uint32_t size; /* size of the block that starts here, in units; 0: no block starts here */
    uint32_t prev; /* size of the block before it; 0 for the first block */
    uint32_t next; /* free block: the next in its list, or NIL; else one of the three states below */
    uint32_t back; /* free block: the previous in its list, or NIL; live block: bytes of its last unit beyond the
                      request; else a link */
};

#define RMAI_TLSF_USED   0xfffffffeu /* live */
#define RMAI_TLSF_GONE   0xfffffffdu /* retired: freed by a peer, not yet by the holder */
#define RMAI_TLSF_PARKED 0xfffffffcu /* freed, but not merged: waits in a quick list (heap/quick.h) */

/* This process's view of a state: the addresses, and how to commit. */
struct rmai_tlsf {
    struct rmai_tlsf_state *state;
    struct rmai_tlsf_unit *unit; /* the table */
    uint64_t *ready;             /* one bit for each RMAI_TLSF_STEP bytes of the table: 1 if they are committed */
    rmai_tlsf_commit *commit;
    void *context;
};

/* rmai_tlsf_room: bytes of address space for the metadata of a pool of max_bytes, a multiple of 64 KiB. The
 * metadata starts at a page. */
size_t rmai_tlsf_room(size_t max_bytes);

/* rmai_tlsf_create sets up an empty pool of 0 bytes that may grow to max_bytes (<= RMAI_TLSF_MAX), with its metadata in
 * zeroed address space at `room`. It returns 0, or not 0 if commit failed. rmai_tlsf_attach makes another process's
 * view of the same pool. */
int rmai_tlsf_create(struct rmai_tlsf *t, void *room, size_t max_bytes, rmai_tlsf_commit *commit, void *context);
void rmai_tlsf_attach(struct rmai_tlsf *t, void *room, size_t max_bytes, rmai_tlsf_commit *commit, void *context);

/* rmai_tlsf_need: bytes by which the pool must grow so that this allocation succeeds; 0 if no pool can be that
 * large. */
size_t rmai_tlsf_need(const struct rmai_tlsf *t, size_t alignment, size_t size);

/* rmai_tlsf_tail: bytes of the free block at the pool's end, which a growth makes larger; 0 if there is none. */
size_t rmai_tlsf_tail(const struct rmai_tlsf *t);

/* rmai_tlsf_prepare commits the memory that a growth writes, so that the next rmai_tlsf_grow cannot fail.
 * rmai_tlsf_grow appends bytes (a multiple of the unit, within the maximum) to the pool. Both return 0, or not 0 if
 * commit failed; then nothing has changed. */
int rmai_tlsf_prepare(struct rmai_tlsf *t);
int rmai_tlsf_grow(struct rmai_tlsf *t, size_t bytes);

/* rmai_tlsf_alloc allocates a block of size > 0 bytes at a multiple of alignment, a power of two. Returns its offset,
 * RMAI_TLSF_FULL or RMAI_TLSF_DENIED. Two pools with the same history of calls give the same offsets, even if commit
 * failed in one of them and not in the other. O(1). */
size_t rmai_tlsf_alloc(struct rmai_tlsf *t, size_t alignment, size_t size);

enum rmai_tlsf_kind {
    RMAI_TLSF_LIVE,    /* the base of a live block */
    RMAI_TLSF_OUTSIDE, /* not in the pool */
    RMAI_TLSF_INSIDE,  /* in a live block, not its base */
    RMAI_TLSF_FREED,   /* in memory that is free */
    RMAI_TLSF_RETIRED  /* in a block that has been retired */
};

struct rmai_tlsf_block {
    size_t offset, size; /* size: the requested bytes if the block is live, else those of the whole free block */
    int live;
};

/* rmai_tlsf_live: 1 if offset is the base of a live block, with the requested bytes in *size (may be null). O(1). */
int rmai_tlsf_live(const struct rmai_tlsf *t, size_t offset, size_t *size);

/* rmai_tlsf_where returns what is at offset, and in *block the block that contains it, unless the result is OUTSIDE. It
 * walks the pool from its start, so it is for error texts only. */
enum rmai_tlsf_kind rmai_tlsf_where(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block);

/* rmai_tlsf_free frees the live block at offset. Returns 0, or -1 if no live block starts there; then nothing changes.
 * O(1). */
int rmai_tlsf_free(struct rmai_tlsf *t, size_t offset);

/* rmai_tlsf_retire: a PE that does not hold the pool gives up the live block at offset. The block counts as used until
 * the pool's holder frees it, but it is no longer live, so that a second free is noticed. Returns 0, or -1 if no live
 * block is there. Lock-free; any number of threads and processes may call it at once, also while the holder works.
 * rmai_tlsf_link: a word in the entry of a retired block, by unit number (offset / unit), which the retiring PE may use
 * until the holder frees the block. rmai_tlsf_free_retired: the holder frees a retired block. rmai_tlsf_free_parked:
 * the holder frees a block that heap/quick has parked. O(1). */
int rmai_tlsf_retire(struct rmai_tlsf *t, size_t offset);
uint32_t *rmai_tlsf_link(struct rmai_tlsf *t, uint32_t unit);
void rmai_tlsf_free_retired(struct rmai_tlsf *t, uint32_t unit);
void rmai_tlsf_free_parked(struct rmai_tlsf *t, uint32_t unit);

/* rmai_tlsf_ready: 1 if the entry of `unit` is committed. */
static inline int rmai_tlsf_ready(const struct rmai_tlsf *t, size_t unit) {
    size_t step = unit / (RMAI_TLSF_STEP / sizeof(struct rmai_tlsf_unit));
    return (int)(__atomic_load_n(&t->ready[step / 64], __ATOMIC_RELAXED) >> (step % 64) & 1);
}

/* rmai_tlsf_live_at: the unit number of offset if a live block starts there, else RMAI_TLSF_NONE. */
#define RMAI_TLSF_NONE 0xffffffffu
static inline uint32_t rmai_tlsf_live_at(const struct rmai_tlsf *t, size_t offset) {
    size_t b = offset / RMAI_TLSF_UNIT;
    if (offset % RMAI_TLSF_UNIT || b >= __atomic_load_n(&t->state->n_units, __ATOMIC_RELAXED)) return RMAI_TLSF_NONE;
    if (!rmai_tlsf_ready(t, b) || __atomic_load_n(&t->unit[b].next, __ATOMIC_RELAXED) != RMAI_TLSF_USED)
        return RMAI_TLSF_NONE;
    return (uint32_t)b;
}

/* rmai_tlsf_count adds `more` units to the used ones and subtracts `less`. */
static inline void rmai_tlsf_count(struct rmai_tlsf_state *s, size_t more, size_t less) {
    s->used_units += more - less;
    if (s->used_units > s->peak_units) s->peak_units = s->used_units;
}

/* rmai_tlsf_resize changes the size of the live block at offset without moving it. Returns 0; -1 if there is no room
 * after the block; -2 if a page of the table could not be committed. After an error nothing has changed. O(1). */
int rmai_tlsf_resize(struct rmai_tlsf *t, size_t offset, size_t size);

/* rmai_tlsf_next walks the blocks: it sets *block to the block that starts at offset and returns the offset of the next
 * one, or returns 0 at the pool's end, with *block untouched. Retired blocks count as not live. rmai_tlsf_before sets
 * *block to the block before the one that starts at offset; it returns 0 if that is the first one. */
size_t rmai_tlsf_next(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block);
int rmai_tlsf_before(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block);

/* rmai_tlsf_each_free calls `see` with the size of each free block. rmai_tlsf_table_bytes: bytes of metadata committed.
 */
void rmai_tlsf_each_free(const struct rmai_tlsf *t, void (*see)(void *context, size_t size), void *context);
size_t rmai_tlsf_table_bytes(const struct rmai_tlsf *t, size_t max_bytes);

/* rmai_tlsf_cut cuts the live block at offset into parked blocks of `units` units each, which are in no list; the
 * block's size must be a multiple of that. Returns 0, or -1 if a page of the table could not be committed: nothing has
 * changed then. */
int rmai_tlsf_cut(struct rmai_tlsf *t, size_t offset, uint32_t units);

/* rmai_tlsf_check verifies every invariant, in time linear in the pool. Returns NULL, or what is wrong. */
const char *rmai_tlsf_check(const struct rmai_tlsf *t);

#endif
