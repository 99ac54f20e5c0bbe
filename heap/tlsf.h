/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-level segregated fit: allocation and release in constant time, with immediate coalescing.
 *
 * It manages the numbers [0, bytes) of some pool and never touches the pool: all it knows stands in a table
 * beside it, 16 bytes for each 64-byte unit of the pool. Why beside and not in headers before each block, as
 * in the paper and as in every malloc:
 *   - what peers write past a block's end cannot corrupt the allocator;
 *   - "is this the base of a live block?" has an exact answer in one look, for any number given;
 *   - blocks of 64 and of 4096 bytes are packed exactly, on lines and pages of their own;
 *   - freeing a block whose lines are dirty in a peer's cache does not fetch them.
 * A table entry is written only where a block starts, so large blocks cost one page of table, not a quarter.
 *
 * No MPI, no globals, no libc allocator, no pointer in the shared state: PEs may map it at different
 * addresses. The caller serializes, but for rmai_tlsf_retire. After M. Masmano, I. Ripoll, A. Crespo, J. Real, "TLSF: a
 * new dynamic memory allocator for real-time systems", ECRTS 2004. */
#ifndef RMAI_TLSF_H
#define RMAI_TLSF_H

#include <stddef.h>
#include <stdint.h>

#define RMAI_TLSF_UNIT 64
#define RMAI_TLSF_MAX  ((size_t)0xfffffff0u * RMAI_TLSF_UNIT) /* bytes of one pool at most: 256 GiB */

#define RMAI_TLSF_ROWS    28 /* first level: powers of two */
#define RMAI_TLSF_COLUMNS 32 /* second level: linear steps; waste of a rounded request is below 1/32 */

/* What rmai_tlsf_alloc returns beside offsets. */
#define RMAI_TLSF_FULL   SIZE_MAX       /* no free block is large enough: grow by rmai_tlsf_need */
#define RMAI_TLSF_DENIED (SIZE_MAX - 1) /* a page of the table could not be committed; nothing changed */

/* Makes [start, start + len) safe to touch, zeroed. Returns 0, or not 0 if it cannot. */
typedef int rmai_tlsf_commit(void *context, void *start, size_t len);

/* The state that stands in the segment. Pool and table are cut in units; NIL and USED are no unit numbers.
 * Invariants, which rmai_tlsf_check derives anew:
 *   the blocks tile [0, n_units): start(next) = start + size, prev(next) = size, prev(first) = 0
 *   no two free blocks touch
 *   a block is in list class_of(size) iff it is free; bit (row, column) is set iff that list is not empty
 *   an entry that starts no block is zero */
struct rmai_tlsf_state {
    uint32_t n_units;   /* units of the pool */
    uint32_t max_units; /* that many at most */
    uint32_t last;      /* size of the last block: prev of the block that the pool's end would be */
    uint32_t rows;      /* bit r: columns[r] != 0 */
    uint32_t columns[RMAI_TLSF_ROWS];
    uint32_t head[RMAI_TLSF_ROWS * RMAI_TLSF_COLUMNS]; /* of class row * RMAI_TLSF_COLUMNS + column */
    size_t used_units;                                 /* in live and retired blocks */
    size_t peak_units;                                 /* most that used_units ever was */
    size_t n_used;                                     /* live and retired blocks */
    size_t n_free;                                     /* free blocks */
    size_t n_growths;                                  /* successful calls of rmai_tlsf_grow */
    size_t committed; /* the caller's: bytes of the pool's memory that are safe to touch */
};

#define RMAI_TLSF_STEP ((size_t)16384) /* the table is committed in such pieces, at their multiples */

struct rmai_tlsf_unit {
    uint32_t size; /* of the block that starts here, in units; 0: none does */
    uint32_t prev; /* size of the block before it, 0 for the first */
    uint32_t next; /* free: next in its list or NIL; else one of the three below */
    uint32_t back; /* free: previous in its list or NIL; live: bytes of its last unit not asked for; else a link */
};

#define RMAI_TLSF_USED   0xfffffffeu /* live */
#define RMAI_TLSF_GONE   0xfffffffdu /* retired: given back, and not freed yet */
#define RMAI_TLSF_PARKED 0xfffffffcu /* freed, but not merged: see heap/quick.h */

/* This process's view of a state: addresses and how to commit. */
struct rmai_tlsf {
    struct rmai_tlsf_state *state;
    struct rmai_tlsf_unit *unit; /* the table */
    uint64_t *ready;             /* a bit per RMAI_TLSF_STEP bytes of the table: committed */
    rmai_tlsf_commit *commit;
    void *context;
};

/* rmai_tlsf_room: bytes of address space for the metadata of a pool of max_bytes, a multiple of 64 KiB. The
 * metadata starts at a page. */
size_t rmai_tlsf_room(size_t max_bytes);

/* rmai_tlsf_create sets up an empty pool of 0 bytes, that may grow to max_bytes (<= RMAI_TLSF_MAX), with its
 * metadata in zeroed address space at `room`. rmai_tlsf_attach gives another process's view of it.
 * Returns 0, or not 0 if commit failed. */
int rmai_tlsf_create(struct rmai_tlsf *t, void *room, size_t max_bytes, rmai_tlsf_commit *commit, void *context);
void rmai_tlsf_attach(struct rmai_tlsf *t, void *room, size_t max_bytes, rmai_tlsf_commit *commit, void *context);

/* rmai_tlsf_need: bytes by which the pool must grow so that this allocation succeeds; 0 if that would be past
 * any maximum. */
size_t rmai_tlsf_need(const struct rmai_tlsf *t, size_t alignment, size_t size);

/* rmai_tlsf_prepare commits what a growth writes, so that rmai_tlsf_grow after it cannot fail.
 * rmai_tlsf_grow appends bytes (a multiple of the unit, within the maximum) to the pool.
 * Both return 0, or not 0 if commit failed: nothing has changed then. */
int rmai_tlsf_prepare(struct rmai_tlsf *t);
int rmai_tlsf_grow(struct rmai_tlsf *t, size_t bytes);

/* rmai_tlsf_alloc: a block of size > 0 bytes at a multiple of alignment, a power of two.
 * Returns its offset, RMAI_TLSF_FULL or RMAI_TLSF_DENIED. Two pools with the same history of calls give
 * the same offsets, also if one of them denied. O(1). */
size_t rmai_tlsf_alloc(struct rmai_tlsf *t, size_t alignment, size_t size);

enum rmai_tlsf_kind {
    RMAI_TLSF_LIVE,    /* the base of a live block */
    RMAI_TLSF_OUTSIDE, /* not in the pool */
    RMAI_TLSF_INSIDE,  /* in a live block, not its base */
    RMAI_TLSF_FREED,   /* in memory that is free */
    RMAI_TLSF_RETIRED  /* in a block that has been retired */
};

struct rmai_tlsf_block {
    size_t offset, size; /* size as asked for if live, else the whole free block's */
    int live;
};

/* rmai_tlsf_live: 1 if offset is the base of a live block, with *size (may be null) the bytes asked for. O(1). */
int rmai_tlsf_live(const struct rmai_tlsf *t, size_t offset, size_t *size);

/* rmai_tlsf_where: what is at offset, and in *block the block that contains it, unless OUTSIDE. Walks the
 * pool from its start: for error texts. */
enum rmai_tlsf_kind rmai_tlsf_where(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block);

/* rmai_tlsf_free: give back the live block at offset. Returns 0, or -1 if it is none: nothing changes. O(1). */
int rmai_tlsf_free(struct rmai_tlsf *t, size_t offset);

/* rmai_tlsf_retire: the live block at offset is given back by somebody who does not hold the pool. It counts as used
 * until its holder frees it, but is not live any more, so that giving it back twice is found out. Returns 0, or -1 if
 * no live block is there. Lock-free; any number of threads and processes at once, also while the holder works.
 * rmai_tlsf_link: a word in its entry that is the retiring one's to use until then, by unit number (offset / unit).
 * rmai_tlsf_free_retired: the holder frees it; rmai_tlsf_free_parked: one that heap/quick has parked. O(1). */
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

/* rmai_tlsf_count notes that `more` units have become used and `less` free. */
static inline void rmai_tlsf_count(struct rmai_tlsf_state *s, size_t more, size_t less) {
    s->used_units += more - less;
    if (s->used_units > s->peak_units) s->peak_units = s->used_units;
}

/* rmai_tlsf_resize: change the size of the live block at offset without moving it. Returns 0; -1 if there is no
 * room behind it; RMAI_TLSF_DENIED's meaning is -2. Nothing changes then. O(1). */
int rmai_tlsf_resize(struct rmai_tlsf *t, size_t offset, size_t size);

/* rmai_tlsf_next walks the blocks: *block is the one that starts at offset, and the next one's offset is returned. 0
 * and an untouched *block at the pool's end. Retired blocks count as not live. rmai_tlsf_before: the block before the
 * one that starts at offset; 0 if that is the first. */
size_t rmai_tlsf_next(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block);
int rmai_tlsf_before(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block);

/* rmai_tlsf_each_free shows the size of each free block. rmai_tlsf_table_bytes: bytes of metadata committed. */
void rmai_tlsf_each_free(const struct rmai_tlsf *t, void (*see)(void *context, size_t size), void *context);
size_t rmai_tlsf_table_bytes(const struct rmai_tlsf *t, size_t max_bytes);

/* rmai_tlsf_cut makes parked blocks of `units` units, not linked, of the live block at offset, whose size is a multiple
 * of that. Returns 0, or -1 if a page of the table could not be committed: nothing has changed then. */
int rmai_tlsf_cut(struct rmai_tlsf *t, size_t offset, uint32_t units);

/* rmai_tlsf_check derives every invariant anew, in time linear in the pool. Returns NULL, or what is wrong. */
const char *rmai_tlsf_check(const struct rmai_tlsf *t);

#endif
