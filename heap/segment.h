/* SPDX-License-Identifier: BSD-3-Clause */
/* A segment: remotely accessible memory that grows by commit, with its allocator. A PE's space holds three segments,
 * and beside them a header, the program's global variables and the table of attached regions:
 *
 *     | header | statics | table, symmetric heap | table, local heap | table, guests' part | attached |
 *       3 MiB              1/4      1              1/4     1           1/8     1/2           144 MiB
 *                                                               (in units of the heaps' maxima)
 *
 * Guests are other PEs that allocate here. They have a pool of their own: with one pool a lock between guests and owner
 * would cost the owner more than the allocation itself.
 *
 * A segment grows in three steps, so that PEs that must grow alike can agree in between: rmai_segment_want says how
 * much is missing, rmai_segment_commit can fail and changes nothing that anyone sees, rmai_segment_extend cannot fail.
 */
#ifndef RMAI_SEGMENT_H
#define RMAI_SEGMENT_H

#include <stddef.h>

#include "base/attributes.h"
#include "heap/quick.h"
#include "heap/reserve.h"
#include "heap/returned.h"
#include "heap/tlsf.h"
#include "rma.h"

#define RMAI_MAILBOXES_AT (4 * RMAI_PAGE)  /* in the header's room: mailboxes of teams (runtime/node/mailbox) */
#define RMAI_HEADER_ROOM  (48 * RMAI_PAGE) /* only the used part is committed */
#define RMAI_PROBE_ROOM   ((size_t)4096)   /* before the symmetric heap: there the MPI window is tried out */

struct rmai_layout {
    size_t symmetric_table, symmetric, symmetric_max; /* offsets in a PE's space, and the heap's maximum */
    size_t local_table, local, local_max;
    size_t guest_table, guest, guest_max;
    size_t statics, statics_max; /* statics_max is 0 where the variables are not moved here */
    size_t attached;             /* rmai_attached_room() bytes */
    size_t stride;
};

/* rmai_layout computes where the parts of a space lie. statics is the bytes of global variables to make room for. */
void rmai_layout(struct rmai_layout *l, size_t symmetric_max, size_t local_max, size_t statics);

/* Before and behind a block of a large alignment memory is left out of the commit, until a block comes to lie there. */
#define RMAI_HOLES 16

struct rmai_holes {
    int n;
    struct {
        size_t from, to; /* multiples of RMAI_PAGE, offsets in the segment; all of it is in free blocks */
    } of[RMAI_HOLES];
};

struct rmai_segment {
    const char *name;    /* "symmetric heap": for texts */
    const char *setting; /* the setting that limits it */
    const struct rmai_reservation *reservation;
    char *base;
    size_t size; /* bytes that the segment has been extended to: all in the pool, and committed but for holes. Read it
                    by rmai_segment_size where the holder may extend the segment in the same moment */
    size_t max;  /* bytes at most; size <= committed <= max */
    size_t committed;         /* bytes safe to touch, but for the holes */
    struct rmai_holes *holes; /* or NULL: there are none. For a segment that no view is made of */
    size_t guard;             /* bytes of red zone behind each block: 0, or RMAI_RED_ZONE with RMA_HEAP_CHECK=full */
    int in_steps;             /* 1: it grows to ends of steps (rmai_step_end), as long as there is memory */
    int spares;               /* 1: it has no limit, and leaves memory to others (rmai_commit_sparing) */
    int shared;               /* 1: peers may give back blocks while the holder works */
    struct rmai_tlsf pool;
};

#define RMAI_RED_ZONE ((size_t)64)

/* A segment of which parts are attached to MPI's dynamic window is attached in steps. Where they end every PE knows by
 * the offset alone: each is an eighth of what lies before it, as a power of two, within 256 KiB..64 MiB.
 * rmai_step_size: how long the step is that has the byte at this offset in the segment. rmai_step_end: where it ends.
 */
#define RMAI_STEP_LEAST ((size_t)256 << 10)
#define RMAI_STEP_MOST  ((size_t)64 << 20)
static inline size_t rmai_step_size(size_t offset) {
    size_t step = RMAI_STEP_LEAST;
    if (offset / 8 > step) step = (size_t)1 << (63 - __builtin_clzll(offset / 8));
    return step < RMAI_STEP_MOST ? step : RMAI_STEP_MOST;
}
static inline size_t rmai_step_end(size_t offset) {
    const size_t step = rmai_step_size(offset);
    return (offset / step + 1) * step;
}

/* rmai_segment_create sets up an empty segment of this PE. Returns RMA_SUCCESS or RMA_ERR_NO_MEM. */
int rmai_segment_create(struct rmai_segment *s, const struct rmai_reservation *r, void *table, void *base, size_t max,
                        const char *name, const char *setting);

/* rmai_segment_view makes another process's view of a segment, or a later one of the same process, with the present
 * size. The view is valid as long as nobody else changes the segment. */
void rmai_segment_view(struct rmai_segment *s, const struct rmai_reservation *r, void *table, void *base, size_t max,
                       const char *name, const char *setting);

/* rmai_segment_want: by how many bytes the segment must grow for this allocation; 0 after recording RMA_ERR_NO_MEM if
 * that is more than the segment's maximum. */
size_t rmai_segment_want(const struct rmai_segment *s, size_t alignment, size_t size);

/* rmai_segment_commit prepares to extend by `want` bytes, or by more: an eighth of the present size within 256 KiB..64
 * MiB, so that growth is rare. *got is by how much the segment may be extended now. Returns RMA_SUCCESS, or
 * RMA_ERR_NO_MEM with *got 0. */
int rmai_segment_commit(struct rmai_segment *s, size_t want, size_t *got);

/* rmai_segment_commit_aligned does the same for a block of size bytes at a multiple of alignment, where `want` is what
 * rmai_segment_want has said of it. It leaves out the memory before and behind the block, where that is much. */
int rmai_segment_commit_aligned(struct rmai_segment *s, size_t alignment, size_t size, size_t want, size_t *got);

/* rmai_segment_uncommit gives back what rmai_segment_commit gave and rmai_segment_extend has not taken: for PEs that do
 * not go on to extend together. */
void rmai_segment_uncommit(struct rmai_segment *s);

/* rmai_segment_extend adds bytes, at most what rmai_segment_commit gave, to the pool. With red zones all free memory is
 * filled with poison, and so are the new bytes. */
void rmai_segment_extend(struct rmai_segment *s, size_t bytes);

/* rmai_segment_alloc allocates a block without growing the segment. It returns NULL if there is none: *full is then 1
 * if growing would help, or 0 if memory for the table, or for a hole, is exhausted (recorded). With red zones a note
 * that names `call` reports a write to the memory while it was free; the block is given all the same, since what was
 * written there is overwritten. */
void *rmai_segment_alloc(struct rmai_segment *s, const char *call, size_t alignment, size_t size, int *full);

/* rmai_segment_live: 1 if block is the base of a live block, with its size. Any PE may call it at any time. */
int rmai_segment_live(const struct rmai_segment *s, const void *block, size_t *size);

/* rmai_segment_free gives back the live block, or returns -1 if no live block is there. rmai_segment_give_back does the
 * same for a PE that does not hold the segment: the block goes on the list. */
int rmai_segment_free(struct rmai_segment *s, void *block);
int rmai_segment_give_back(struct rmai_segment *s, struct rmai_returned *list, void *block);

/* rmai_segment_resize: as rmai_tlsf_resize, -2 also if a hole could not be committed; it touches no byte of the block.
 * rmai_segment_remark follows it as soon as the block is sure to keep the new size: it puts the red zone behind the new
 * end, fills the block's new bytes, and puts poison where the block ended before. */
int rmai_segment_resize(struct rmai_segment *s, void *block, size_t size);
void rmai_segment_remark(struct rmai_segment *s, const char *call, void *block, size_t old);

/* rmai_segment_drain frees the blocks that other PEs have given back by the list, or parks them in `quick` if that is
 * not NULL. Returns the number of blocks. */
size_t rmai_segment_drain(struct rmai_segment *s, struct rmai_returned *list, struct rmai_quick *quick);

/* rmai_segment_intact checks the red zone behind the live block and, if the caller holds the segment, the red zone
 * before it. Returns RMA_SUCCESS, or records RMA_ERR_ADDRESS for `call`, with the byte that was overwritten. Without
 * red zones it always returns RMA_SUCCESS. */
int rmai_segment_intact(const struct rmai_segment *s, const char *call, const void *block, int held);

/* rmai_segment_report reports by notes the live blocks (`leaks` of them at most, and their sum; none if `leaks` is 0),
 * the damaged red zones, and the free blocks that somebody has written to. Each line begins with `who`. Returns the
 * number of live blocks. */
size_t rmai_segment_report(const struct rmai_segment *s, const char *who, size_t leaks);

/* rmai_segment_stats fills all members but n_returned. */
void rmai_segment_stats(const struct rmai_segment *s, struct rma_heap_stats *stats);

/* rmai_segment_bad_base records RMA_ERR_BASE for call(block): the text says what stands there instead of a block's
 * base. Returns the code. */
int rmai_segment_bad_base(const struct rmai_segment *s, const char *call, const void *block);

/* rmai_segment_describe writes which block of the segment contains addr, or is the nearest before it. */
void rmai_segment_describe(const struct rmai_segment *s, const void *addr, char *text, size_t room);

/* rmai_segment_size: bytes that the segment has been extended to. Any thread may call it, also while another one
 * extends the segment. */
static inline size_t rmai_segment_size(const struct rmai_segment *s) {
    return __atomic_load_n(&s->size, __ATOMIC_RELAXED);
}

/* rmai_segment_holds: 1 if addr lies in the segment's address space, committed or not. */
static inline int rmai_segment_holds(const struct rmai_segment *s, const void *addr) {
    return (size_t)((const char *)addr - s->base) < s->max;
}

#endif
